#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --git on a terminal: what it does to the repository is shown with the question, and what
# changed there while somebody thought is asked again.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/screen.sh"
. "$LIB_DIR/whole.sh"

id= # of the checkpoint that was saved last

test_the_plan_is_shown_and_agreed_to() {
	require_terminal
	project
	git checkout -q feature
	staged
	saved_there
	git reset -q --hard
	! git rebase -q main 2>"$T/err" || fail 'no conflict'
	mark before
	expect_exit 5 on_terminal "git-checkpoint restore --git $id" n
	expect_grep '^  HEAD: [0-9a-f]\{7\} without a branch → branch feature' "$T/screen"
	expect_grep '^  index: 3 staged files, 1 intended file come back' "$T/screen"
	expect_grep '^  rebase in progress: will be abandoned' "$T/screen"
	expect_grep 'to remove, and the state of git?' "$T/screen"
	expect_at before
	on_terminal "git-checkpoint restore --git $id" y
	expect_at "then"
	on_terminal 'git-checkpoint undo' y
	expect_grep '^  rebase.*: will be in progress again' "$T/screen"
	expect_at before
}

# Nothing but the index differs.
test_the_index_alone_is_asked_for() {
	require_terminal
	project
	staged
	saved_there
	git reset -q
	on_terminal "git-checkpoint restore --index $id" y
	expect_grep '0 to bring back, 0 to change, 0 to remove, and the index?' "$T/screen"
	expect_at "then"
}

test_a_plan_that_has_grown() {
	project
	saved_there
	git commit -q --allow-empty -m one
	on_screen 100 40 "git-checkpoint restore --git $id"
	see '(1 commit leaves it'
	see 'y/N'
	git commit -q --allow-empty -m two
	keys y Enter
	see 'New in the plan:'
	see '(2 commits leave it'
	keys n Enter
	ended 5
	expect_eq two "$(git log -1 --format=%s)"
}

run_tests
