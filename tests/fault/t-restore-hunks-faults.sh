#!/bin/sh
# SPDX-License-Identifier: MIT
# A restore of which every hunk was chosen is that restore, and so it is if it is killed.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/restore-faults.sh"

test_a_restore_that_was_chosen_can_be_killed_at_any_change_of_the_worktree() {
	damaged_tree
	yes a | head -n 100 >"$T/all"
	# shellcheck disable=SC2034 # for restore-faults.sh
	ANSWERS=$T/all
	# shellcheck disable=SC2034
	CHANGES=rename,unlink
	FAULT_PATH=$T/work
	killed_everywhere 4
}

run_tests
