#!/bin/sh
# SPDX-License-Identifier: MIT
# What no checkpoint holds is never deleted or overwritten by a restore.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# The state before is in the safety checkpoint, so undo and redo must be exact, too.
there_and_back() {
	note restored
	restoring "${1:-0}" undo -y
	expect_noted before
	restoring "${1:-0}" redo -y
	expect_noted restored
	no_litter
}

# ---- ignored ----

test_ignored_files_stay() {
	git init -q
	printf '*.log\ncache/\n' >.gitignore
	mkdir d cache
	echo 1 >a
	echo 1 >d/x.log
	echo 1 >cache/x
	save
	echo 2 >a
	echo 2 >d/x.log
	echo 2 >d/y.log
	echo 2 >cache/x
	echo 2 >cache/y
	note before
	restore "$id"
	expect_reverted modify a
	expect_eq '1 2 2 2 2' "$(contents a d/x.log d/y.log cache/x cache/y)"
	expect_eq true "$(told .verification.match)"
	there_and_back
}

# cline#14367: the .gitignore that protects a file was not there at the checkpoint.
test_a_gitignore_that_goes_does_not_take_what_it_protected() {
	git init -q
	echo 1 >a
	save
	echo '*.key-store' >.gitignore
	mkdir d
	echo precious >x.key-store
	echo precious >d/x.key-store
	note before
	restore "$id"
	expect_missing .gitignore
	expect_eq 'precious precious' "$(contents x.key-store d/x.key-store)"
	expect_eq true "$(told .verification.match)"
	expect_warned_like '^Kept: d.* (.*)$'
	there_and_back
}

# The other direction: what the checkpoint's rules left out was never captured by it.
test_a_gitignore_that_comes_back_protects_what_it_will_ignore() {
	git init -q
	mkdir d
	printf '*.data\nout/\n' >.gitignore
	echo deep >d/.gitignore
	echo 1 >a
	echo 1 >x.data
	save
	rm .gitignore d/.gitignore
	mkdir out d/out
	echo 2 >x.data
	echo 2 >y.data
	echo 2 >out/z
	echo 2 >d/out/z
	echo 2 >d/deep
	echo 2 >new
	note before
	restore "$id"
	expect_reverted delete .gitignore delete d/.gitignore create new
	expect_eq '2 2 2 2 2' "$(contents x.data y.data out/z d/out/z d/deep)"
	for path in x.data y.data out d/out d/deep; do
		expect_warned "Kept: $path (ignored when the checkpoint was taken)"
	done
	expect_eq true "$(told .verification.match)"
	there_and_back
}

test_a_gitignore_that_changes_both_ways_at_once() {
	git init -q
	echo '*.old' >.gitignore
	echo 1 >a
	save
	echo '*.new' >.gitignore
	echo 2 >x.old
	echo 2 >x.new
	note before
	restore "$id"
	expect_eq '*.old 2 2' "$(cat .gitignore) $(contents x.old x.new)"
	expect_warned 'Kept: x.old (ignored when the checkpoint was taken)'
	there_and_back
}

test_default_patterns_protect() {
	git init -q
	echo 1 >a
	save
	mkdir node_modules build
	echo 2 >node_modules/x
	echo 2 >build/x
	echo 2 >x.pyc
	echo 2 >a
	note before
	restore "$id"
	expect_reverted modify a
	expect_exists node_modules/x build/x x.pyc
	there_and_back
	# brought in by the project since, but not at the time of the checkpoint
	echo '!build/' >.gitignore
	restore "$id"
	expect_eq 2 "$(cat build/x)"
	expect_warned_like '^Kept: build (.*)$'
}

# Something is in no checkpoint, but the directory around it is new.
test_new_directories_stay_for_the_sake_of_what_is_in_them() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >a
	save
	mkdir -p new/deep other only
	echo 2 >new/deep/x.log
	echo 2 >new/deep/b
	echo 2 >other/b
	echo 2 >only/x.log
	note before
	restore "$id"
	expect_exists new/deep/x.log only/x.log
	expect_missing new/deep/b other
	expect_reverted create new/deep/b create other/b
	expect_eq true "$(told .verification.match)"
	# nothing is said to be removed that was not
	expect_not_warned 'only.*(removed)'
	expect_warned_like '^Kept: new/deep (.*)$'
	expect_warned_like '^Kept: only (.*)$'
	there_and_back
}

# ---- sensitive ----

test_sensitive_files_stay() {
	git init -q
	echo 1 >a
	echo SECRET=1 >.env
	save
	echo SECRET=2 >.env
	mkdir d
	echo SECRET=2 >d/.env
	echo 2 >server.key
	echo 2 >a
	note before
	restore "$id"
	expect_reverted modify a
	expect_eq 'SECRET=2 SECRET=2 2' "$(cat .env) $(cat d/.env) $(cat server.key)"
	there_and_back
	git --git-dir="$(store_dir)" rev-list --objects --all >"$T/objects"
	expect_no_grep 'env\|key' "$T/objects"
}

# Not sensitive any more by the configuration of today, but it was then.
test_what_was_sensitive_then_stays() {
	git init -q
	echo 1 >a
	git config checkpoint.sensitive '*.secret'
	echo 1 >x.secret
	save
	git config --unset checkpoint.sensitive
	echo 2 >x.secret
	echo 2 >a
	note before
	restore "$id"
	expect_eq 2 "$(cat x.secret)"
	there_and_back
}

# ---- what a save cannot take ----

test_oversize_files_stay() {
	echo 1 >a
	head -c 3000 /dev/zero >big
	GIT_CHECKPOINT_MAX_FILE_SIZE=1000
	export GIT_CHECKPOINT_MAX_FILE_SIZE
	git-checkpoint save -q || :
	echo 2 >a
	head -c 5000 /dev/zero >big
	head -c 5000 /dev/zero >bigger
	note before
	restoring 3 restore -y @
	expect_reverted modify a
	expect_eq '5000 5000' "$(wc -c <big) $(wc -c <bigger)"
	expect_warned_like '^Kept: big (.*)$'
	expect_warned_like '^Kept: bigger (.*)$'
	expect_eq true "$(told .verification.match)"
	there_and_back 3
}

# The limit of today is gone, but the checkpoint does not have the file.
test_what_was_skipped_then_stays() {
	echo 1 >a
	head -c 3000 /dev/zero >big
	mkdir d
	head -c 3000 /dev/zero >d/big
	GIT_CHECKPOINT_MAX_FILE_SIZE=1000 git-checkpoint save -q || :
	echo 2 >a
	echo small >d/big
	note before
	restoring 0 restore -y @
	expect_reverted modify a
	expect_eq 3000 "$(wc -c <big)"
	expect_eq small "$(cat d/big)"
	expect_warned 'Kept: big (left out of the checkpoint as oversize)'
	expect_warned 'Kept: d/big (left out of the checkpoint as oversize)'
	there_and_back
}

# An oversize file that would have to be overwritten.
test_what_cannot_be_saved_before_is_not_overwritten() {
	echo 1 >a
	echo 1 >b
	save
	echo 2 >a
	head -c 5000 /dev/zero >b
	echo 2 >new
	GIT_CHECKPOINT_MAX_FILE_SIZE=1000
	export GIT_CHECKPOINT_MAX_FILE_SIZE
	untouched restoring 5 restore -y "$id"
	refused "'b'" -- --force
	no_litter
	restoring 3 restore -y --force "$id"
	expect_reverted modify a create new
	expect_eq '1 5000' "$(cat a) $(wc -c <b)"
	expect_missing new
	expect_warned_like '^Kept: b (.*)$'
	expect_eq true "$(told .verification.match)"
	restoring 3 undo -y
	expect_eq '2 5000' "$(cat a) $(wc -c <b)"
}

test_unreadable_files_stay() {
	echo 1 >a
	echo 1 >closed
	mkdir locked
	echo 1 >locked/a
	chmod 0 closed locked
	give_to_nobody .
	expect_exit 3 as_nobody git-checkpoint save -q
	echo 2 >a
	echo 2 >other
	give_to_nobody .
	chmod 0 other
	expect_exit 3 as_nobody git-checkpoint restore --json -y @ >"$T/restore.json" 2>"$T/restore.err"
	expect_reverted modify a
	expect_eq '1 1 2' "$(cat a closed other | tr '\n' ' ' | sed 's/ $//')"
	expect_eq 1 "$(cat locked/a)"
	for path in closed locked other; do
		expect_warned_like "^Kept: $path (.*)\$"
	done
	expect_eq true "$(told .verification.match)"
	# readable since, but not in the checkpoint
	chmod 644 closed other
	chmod 755 locked
	as_nobody git-checkpoint restore --json -y @~1 >"$T/restore.json" 2>"$T/restore.err"
	expect_exists closed locked/a
	expect_warned 'Kept: closed (left out of the checkpoint as unreadable)'
	expect_missing other
}

test_an_unreadable_file_that_would_be_overwritten() {
	echo 1 >a
	echo 1 >b
	give_to_nobody .
	as_nobody git-checkpoint save -q
	echo 2 >a
	echo 2 >b
	chmod 0 b
	expect_exit 5 as_nobody git-checkpoint restore --json -y @ >"$T/restore.json" 2>"$T/restore.err"
	cat "$T/restore.err"
	refused "'b'"
	expect_eq '2 2' "$(cat a) $(cat b)"
	expect_exit 3 as_nobody git-checkpoint restore --json -y --force @ >"$T/restore.json" 2>"$T/restore.err"
	expect_eq '1 2' "$(cat a) $(cat b)"
}

# Found out before anything is touched, not half-way. Names sort so that others would come first.
test_what_belongs_to_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root, to make files of two users'
	mkdir mine theirs sticky
	for f in a mine/a theirs/f theirs/g sticky/f; do
		echo 1 >$f
	done
	give_to_nobody .
	as_nobody git-checkpoint save -q
	for f in a mine/a theirs/f sticky/f; do
		echo 2 >$f
	done
	rm theirs/g
	chown -R 0 theirs sticky
	chmod 1777 sticky
	# one's own directory, whatever is in it; what is added to a sticky one
	echo 2 >mine/theirs
	echo 2 >sticky/new
	chown "$(id -u nobody)" sticky/new
	as_nobody git-checkpoint save -q -m before
	note before
	for path in theirs/f theirs/g sticky/f; do
		expect_exit 5 as_nobody git-checkpoint restore -y @~1 -- $path >"$T/out" 2>"$T/err"
		expect_grep "^error: '$path' belongs to somebody else" "$T/err"
		expect_noted before
	done
	expect_exit 5 as_nobody git-checkpoint restore -y @~1 2>"$T/err"
	expect_noted before
	expect_exit 3 as_nobody git-checkpoint restore -y --force --json @~1 >"$T/restore.json" 2>"$T/err"
	expect_reverted modify a modify mine/a create mine/theirs create sticky/new
	for path in theirs/f theirs/g sticky/f; do
		expect_warned "Kept: $path (no permission to change it)"
	done
	expect_eq '1 1 2 2' "$(contents a mine/a theirs/f sticky/f)"
	no_litter
}

# It could be moved out of the way with the directory that it is in, but never be removed then.
test_what_belongs_to_somebody_else_deep_in_what_has_to_go() {
	test "$(id -u)" = 0 || skip 'needs root, to make files of two users'
	echo 1 >a
	echo 1 >z
	give_to_nobody .
	as_nobody git-checkpoint save --json >"$T/save.json"
	first=$(json .checkpoint.id "$T/save.json")
	echo 2 >a
	rm z
	mkdir -p z/r
	echo 2 >z/g
	echo 2 >z/r/f
	give_to_nobody .
	chown -R 0 z/r
	note before
	expect_exit 5 as_nobody git-checkpoint restore -y @ 2>"$T/err"
	expect_grep "^error: 'z' belongs to somebody else" "$T/err"
	expect_noted before
	expect_exit 3 as_nobody git-checkpoint restore -y --force --json @ >"$T/restore.json" 2>"$T/err"
	expect_reverted modify a
	expect_warned 'Kept: z (no permission to change it)'
	no_litter
	as_nobody git-checkpoint undo -q -y
	expect_noted before
	# an empty one can go
	rm z/r/f
	as_nobody git-checkpoint restore -q -y "$first"
	expect_eq 1 "$(cat z)"
}

# A directory that a restore made on the way goes again if it can; if not, nothing is missing.
test_a_directory_that_was_made_and_belongs_to_somebody_else_by_now() {
	test "$(id -u)" = 0 || skip 'needs root, to make files of two users'
	mkdir -p p/q
	echo 1 >p/q/f
	give_to_nobody .
	as_nobody git-checkpoint save -q
	rm -r p
	as_nobody git-checkpoint restore -q -y @ -- p/q/f
	chown 0 p
	as_nobody git-checkpoint undo -q -y
	expect_missing p/q/f
}

test_special_files_stay() {
	echo 1 >a
	save
	mkfifo fifo
	mkdir d
	mkfifo d/fifo
	echo 2 >a
	restore "$id"
	expect_reverted modify a
	test -p fifo && test -p d/fifo || fail 'the FIFOs are gone'
	expect_eq 1 "$(cat a)"
}

# ---- every .git ----

test_nested_repositories_keep_their_git() {
	git init -q
	echo 1 >a
	git init -q old
	echo 1 >old/f
	git -C old add f
	git -C old commit -q -m one
	save
	echo 2 >old/f
	git -C old commit -q -a -m two
	git init -q new/repo
	echo 2 >new/repo/f
	git -C new/repo add f
	git -C new/repo commit -q -m new
	mkdir linked
	echo 'gitdir: ../elsewhere' >linked/.git
	for dir in .git old/.git new/repo/.git linked; do
		fingerprint_raw $dir
	done >"$T/git.before"
	restore "$id"
	for dir in .git old/.git new/repo/.git linked; do
		fingerprint_raw $dir
	done >"$T/git.after"
	expect_same "$T/git.before" "$T/git.after"
	expect_eq 1 "$(cat old/f)"
	expect_missing new/repo/f
	expect_reverted create new/repo/f modify old/f
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_eq '2 2' "$(cat old/f) $(cat new/repo/f)"
}

# ---- in the way ----

# in_the_way <wanted> <obstacle>: refused before anything is touched, naming both
in_the_way() {
	untouched restoring 5 restore -y "$id"
	refused "$1" "$2"
	# --force is no licence to delete
	untouched restoring 5 restore -y --force "$id"
	untouched restoring 5 restore -n "$id"
	no_litter
}

test_an_ignored_directory_where_a_file_was() {
	git init -q
	echo 1 >out
	echo 1 >a
	save
	rm out
	mkdir out
	echo 2 >out/x
	echo out/ >.gitignore
	echo 2 >a
	in_the_way "'out'" "'out'"
	mv out moved
	restore "$id"
	expect_eq '1 1' "$(cat out) $(cat a)"
}

test_an_ignored_file_in_a_directory_that_must_become_a_file() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >x
	save
	rm x
	mkdir -p x/y
	echo 2 >x/y/b.log
	echo 2 >x/a
	in_the_way "'x'" "'x/y/b.log'"
}

test_an_ignored_file_where_a_directory_was() {
	git init -q
	mkdir d
	echo 1 >d/a
	save
	rm -r d
	echo 2 >d
	echo '/d' >.gitignore
	in_the_way "'d'" "'d'"
	rm d
	ln -s / d
	in_the_way "'d'" "'d'"
}

# The rules of the checkpoint leave it out, those of today do not: the safety checkpoint has it, but
# no restore may take what the target never captured.
test_what_the_target_ignored_in_a_directory_that_must_become_a_file() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >x
	save
	rm x .gitignore
	mkdir x
	echo 2 >x/b.log
	in_the_way "'x'" "'x/b.log'"
}

test_special_files_in_the_way() {
	echo 1 >a
	mkdir d
	echo 1 >d/a
	save
	rm a
	mkfifo a
	in_the_way "'a'" "'a'"
	rm a
	rm -r d
	mkfifo d
	in_the_way "'d'" "'d'"
	rm d
	restore "$id"
	rm a
	mkdir a
	mkfifo a/pipe
	in_the_way "'a'" "'a/pipe'"
}

test_a_nested_git_in_the_way() {
	git init -q
	echo 1 >sub
	save
	rm sub
	git init -q sub
	echo 2 >sub/f
	in_the_way "'sub'" "'sub/.git'"
}

# ---- left out now, but in the checkpoint ----

test_a_file_of_the_checkpoint_that_is_ignored_now_is_restored() {
	git init -q
	mkdir d
	echo 1 >x.log
	echo 1 >d/x.log
	echo 1 >gone.log
	save
	echo '*.log' >.gitignore
	echo 2 >x.log
	echo 2 >d/x.log
	note before
	restore "$id"
	there_and_back
	restoring 0 undo -y
	rm gone.log
	restore "$id"
	expect_eq '1 1 1' "$(contents x.log d/x.log gone.log)"
	expect_eq '2 2' "$(held_by "$(safety)" x.log) $(held_by "$(safety)" d/x.log)"
	expect_eq true "$(told .verification.match)"
	expect_reverted create .gitignore modify d/x.log delete gone.log modify x.log
}

# It was not there before the restore, so undo takes it away again, although the .gitignore that comes
# back leaves it out: the checkpoint that was restored has it.
test_undo_takes_back_a_file_that_is_ignored_again() {
	git init -q
	echo 1 >a
	echo 1 >gone.log
	save
	echo '*.log' >.gitignore
	rm gone.log
	note before
	restore "$id"
	expect_eq 1 "$(cat gone.log)"
	restoring 0 undo -y
	expect_noted before
}

test_a_sensitive_file_of_the_checkpoint_that_is_sensitive_now() {
	git init -q
	echo SECRET=1 >.env
	save --include-sensitive
	echo SECRET=2 >.env
	note before
	restore "$id"
	expect_eq SECRET=1 "$(cat .env)"
	expect_eq SECRET=2 "$(held_by "$(safety)" .env)"
	there_and_back
}

test_a_directory_of_the_checkpoint_that_is_ignored_now() {
	git init -q
	mkdir -p out/deep
	echo 1 >out/a
	echo 1 >out/deep/b
	save
	echo out/ >.gitignore
	echo 2 >out/a
	rm out/deep/b
	echo 2 >out/new
	note before
	restore "$id"
	expect_eq '1 1 2' "$(contents out/a out/deep/b out/new)"
	expect_eq 2 "$(held_by "$(safety)" out/a)"
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_eq '2 2' "$(contents out/a out/new)"
}

# An empty directory is there or not, whatever rule leaves it out by now.
test_an_empty_directory_of_the_checkpoint_that_is_ignored_now() {
	git init -q
	echo 1 >x
	mkdir logs
	save
	note target
	echo logs/ >.git/info/exclude
	restoring 0 restore -n "$id"
	expect_reverted
	restore "$id"
	expect_reverted
	expect_eq true "$(told .verification.match)"
	echo 1 >logs/today
	echo 2 >x
	restore "$id"
	expect_reverted modify x
	expect_eq true "$(told .verification.match)"
	expect_eq 1 "$(cat logs/today)"
	restoring 0 undo -y
	expect_eq 2 "$(cat x)"
	# its mode is restored like any other
	rm logs/today
	chmod 700 logs
	note before
	restore "$id"
	expect_reverted modify logs modify x
	expect_noted target
	restoring 0 undo -y
	expect_noted before
	# and one that is gone comes back, and goes with undo
	rmdir logs
	note before
	restore "$id"
	expect_noted target
	restoring 0 undo -y
	expect_noted before
	restoring 0 redo -y
	expect_noted target
}

test_an_empty_directory_that_a_new_gitignore_leaves_out() {
	git init -q
	echo 1 >x
	mkdir -p logs out/deep
	save
	printf 'logs/\nout/\n' >.gitignore
	note before
	restore --no-delete "$id"
	expect_reverted
	expect_noted before
	restore "$id"
	expect_reverted create .gitignore
	restoring 0 undo -y
	expect_noted before
}

# The directory around what comes back was there, so undo leaves it.
test_an_ignored_directory_that_was_there_stays_with_undo() {
	git init -q
	mkdir out
	echo 1 >out/a
	save
	rm out/a
	echo out/ >.git/info/exclude
	note before
	restore "$id"
	expect_eq 1 "$(cat out/a)"
	restoring 0 undo -y
	expect_noted before
}

test_an_unreadable_empty_directory_of_the_checkpoint() {
	echo 1 >x
	mkdir logs
	give_to_nobody .
	as_nobody git-checkpoint save -q
	echo 2 >x
	chmod 0 logs
	expect_exit 3 as_nobody git-checkpoint restore --json -y @ >"$T/restore.json" 2>"$T/restore.err"
	expect_reverted modify x
	expect_warned 'Kept: logs (unreadable)'
	expect_eq true "$(told .verification.match)"
	expect_eq 1 "$(cat x)"
	expect_eq 0 "$(stat -c %a logs)"
}

# Whether it can be entered or not: what is in it could not be looked at afterwards.
test_an_unreadable_directory_that_something_was_in() {
	echo 1 >x
	mkdir d
	echo 1 >d/a
	echo 1 >d/b
	give_to_nobody .
	as_nobody git-checkpoint save --json >"$T/save.json"
	id=$(json .checkpoint.id "$T/save.json")
	echo 2 >x
	rm d/a
	for mode in 300 0 600; do
		chmod $mode d
		note before
		expect_exit 5 as_nobody git-checkpoint restore --json -y "$id" >"$T/restore.json" 2>"$T/restore.err"
		refused "'d" '--force'
		expect_noted before
		expect_exit 3 as_nobody git-checkpoint restore --json -y --force "$id" >"$T/restore.json" 2>"$T/restore.err"
		expect_warned_like '^Kept: d'
		expect_eq true "$(told .verification.match)"
		expect_eq '1 d/b' "$(cat x) $(find d -type f)"
		as_nobody git-checkpoint undo -q -y || test $? = 3
		expect_noted before
	done
}

test_a_tracked_file_although_ignored() {
	git init -q
	echo 1 >x.log
	git add x.log
	git commit -q -m one
	echo '*.log' >.gitignore
	save
	echo 2 >x.log
	echo 2 >y.log
	restore "$id"
	expect_eq '1 2' "$(cat x.log) $(cat y.log)"
}

# With --include-ignored everything is captured, so everything goes.
test_include_ignored_makes_it_exact() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >x.log
	save --include-ignored --include-sensitive
	note target
	echo 2 >x.log
	echo 2 >y.log
	mkdir build
	echo 2 >build/x
	echo 2 >.env
	note before
	restore "$id"
	expect_noted target
	there_and_back
}

run_tests
