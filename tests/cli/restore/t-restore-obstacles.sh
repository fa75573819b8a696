#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in the way of a restore, and what it brings back although rules leave it out now.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# ---- in the way ----

# in_the_way <wanted> <obstacle>: refused before anything is touched, naming both
in_the_way() {
	untouched restoring 5 restore -y "$id"
	refused "$1" "$2"
	# --force does not allow deleting
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
	there_and_back
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
