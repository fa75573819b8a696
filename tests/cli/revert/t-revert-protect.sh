#!/bin/sh
# SPDX-License-Identifier: MIT
# What the earlier checkpoint left out was not created by the step, even if the later one has it: it stays.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/revert.sh"

# stays <file> <why>: after revert, in conflict, and as it was; `a` was taken back
stays() {
	git checkpoint diff --name-status @~1 @ >"$T/step"
	expect_grep "$1" "$T/step"
	expect_exit 3 git checkpoint revert --dry-run @ >"$T/dry" 2>&1
	expect_exit 3 git checkpoint revert --yes @ >"$T/out" 2>&1
	expect_grep "conflict: $1 (protected: $2" "$T/out"
	expect_eq precious "$(cat "$1")"
	expect_eq 1 "$(cat a)"
	git checkpoint undo -q --yes
	expect_eq precious "$(cat "$1")"
	expect_eq 2 "$(cat a)"
}

test_an_ignored_file_that_only_the_later_one_has_stays() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >a
	mkdir d
	echo precious >d/x.log
	save
	echo 2 >a
	git checkpoint save -q --include-ignored
	stays d/x.log 'ignored'
}

test_a_file_stays_that_the_step_stopped_ignoring() {
	git init -q
	printf 'deps/\n' >.gitignore
	echo 1 >a
	mkdir deps
	echo precious >deps/x
	save
	echo 2 >a
	: >.gitignore
	save
	stays deps/x 'ignored'
}

test_a_secret_stays_that_only_the_later_one_has() {
	echo 1 >a
	echo precious >.env
	save
	echo 2 >a
	git checkpoint save -q --include-sensitive
	stays .env 'left out of the checkpoint as sensitive'
}

test_a_file_stays_that_was_too_large_before() {
	git init -q
	git config checkpoint.maxFileSize 5
	echo 1 >a
	echo precious >big
	expect_exit 3 git checkpoint save -q
	git config --unset checkpoint.maxFileSize
	echo 2 >a
	save
	stays big 'left out of the checkpoint as oversize'
}

test_what_was_left_out_is_not_taken_for_a_renamed_file() {
	git init -q
	echo '*.log' >.gitignore
	echo 1 >a
	seq 50 >old
	cp old x.log
	save
	rm old
	echo 2 >a
	git checkpoint save -q --include-ignored
	expect_exit 3 git checkpoint revert -q --yes @
	expect_eq "$(seq 50)" "$(cat old)"
	expect_eq "$(seq 50)" "$(cat x.log)"
}

# ignoring_step: x.log went, and is ignored since
ignoring_step() {
	git init -q
	: >.gitignore
	echo 1 >x.log
	save
	rm x.log
	echo '*.log' >.gitignore
	save
	fingerprint . >"$T/before"
}

# forth_and_back: undo and redo of what brought x.log back
forth_and_back() {
	test -f x.log
	fingerprint . >"$T/after"
	git checkpoint undo -q --yes
	fingerprint . >"$T/undone"
	expect_same "$T/before" "$T/undone"
	git checkpoint redo -q --yes
	fingerprint . >"$T/redone"
	expect_same "$T/after" "$T/redone"
	git checkpoint undo -q --yes
	fingerprint . >"$T/undone"
	expect_same "$T/before" "$T/undone"
}

test_undo_takes_back_a_file_that_was_ignored_before_the_revert() {
	ignoring_step
	git checkpoint revert -q --yes @
	forth_and_back
}

test_undo_takes_back_a_file_that_was_ignored_before_it_was_chosen() {
	ignoring_step
	printf 'a\na\n' | git checkpoint restore -q -p --yes @~1 2>/dev/null
	forth_and_back
}

run_tests
