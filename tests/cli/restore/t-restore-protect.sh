#!/bin/sh
# SPDX-License-Identifier: MIT
# What no checkpoint holds is never deleted or overwritten by a restore.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

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

# Nothing at its place tells git now what it ignored.
test_a_gitignore_that_became_a_directory_protects_what_it_will_ignore() {
	git init -q
	mkdir d
	echo '*.data' | tee .gitignore >d/.gitignore
	save
	rm .gitignore d/.gitignore
	mkdir .gitignore d/.gitignore
	echo 2 | tee x.data d/x.data new .gitignore/a >d/.gitignore/a
	note before
	restore "$id"
	expect_eq '*.data *.data 2 2' "$(contents .gitignore d/.gitignore x.data d/x.data)"
	expect_missing new
	for path in x.data d/x.data; do
		expect_warned "Kept: $path (ignored when the checkpoint was taken)"
	done
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

# What is sensitive is a matter of files: a link of such a name is captured, so it goes and comes.
test_links_with_the_names_of_sensitive_files_are_no_exception() {
	echo 1 >a
	ln -s a .env
	save
	rm .env
	ln -s elsewhere .npmrc
	mkdir d
	ln -s a d/server.key
	note before
	restore "$id"
	expect_reverted delete .env create .npmrc create d/server.key
	expect_missing .npmrc d
	expect_eq a "$(readlink .env)"
	expect_eq true "$(told .verification.match)"
	there_and_back
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
	as_nobody git-checkpoint restore --json -y @ >"$T/restore.json" 2>"$T/restore.err"
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
		expect_grep "^error: '$path' or its directory belongs to another user" "$T/err"
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

# Not even root can change these (chattr(1)), until somebody allows it again.
test_what_is_immutable() {
	: >probe
	chattr +i probe 2>"$T/err" || skip "chattr: $(cat "$T/err")"
	chattr -i probe
	rm probe
	trap 'chattr -R -f -ia . || :' EXIT
	for f in a file log mode out; do
		echo 1 >$f
	done
	mkdir dir
	for f in dir/change dir/gone; do
		echo 1 >$f
	done
	save
	for f in a file log dir/change; do
		echo 2 >$f
	done
	rm dir/gone out
	chmod 600 mode
	echo 2 >new
	mkdir -p out/deep
	echo 2 >out/deep/f
	chattr +i file mode new dir out/deep/f
	chattr +a log
	note before
	for path in dir/change dir/gone file log mode new out; do
		restoring 5 restore -y "$id" -- $path
		refused "'$path' or its directory belongs to another user or is immutable"
		expect_noted before
	done
	restoring 5 restore -y "$id"
	expect_noted before
	no_litter
	restoring 3 restore -y --force "$id"
	expect_reverted modify a
	for path in dir/change dir/gone file log mode new out; do
		expect_warned "Kept: $path (no permission to change it)"
	done
	there_and_back
	chattr -R -f -ia .
	note before
	restore "$id"
	there_and_back
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
	expect_grep "^error: 'z' or its directory belongs to another user" "$T/err"
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

run_tests
