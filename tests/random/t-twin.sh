#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Some seconds of what `make twin` does for hours (TWIN_SECONDS), and first: that it notices harm of
# every kind that it looks for.

. "$(dirname "$0")/../lib/harness.sh"

# notices <harm> <what it finds>: what the test does itself to a state that came back well
notices() {
	require perl
	# Not every seed has something of the kind that is harmed.
	for seed in 1 2 3 4 5 6 7 8; do
		TWIN_TAMPER=$1 "$ROOT_DIR/tests/random/twin.pl" 1 $seed >out 2>&1 && continue
		expect_grep "^FAILED with seed $seed .*: restored: $2" out
		return
	done
	cat out
	fail "harm is not noticed: $1"
}

test_another_index_is_noticed() { notices index '\(cached\|index\|status\)'; }
test_another_flag_is_noticed() { notices flag 'index'; }
test_another_head_is_noticed() { notices head '\(cached\|head\|log\|status\)'; }
test_another_branch_is_noticed() { notices branch '\(cached\|head\|log\|status\)'; }
test_another_operation_is_noticed() { notices operation 'operation'; }
test_another_file_is_noticed() { notices file '\(files\|status\)'; }

# The same episodes each time; `make twin` looks for new ones.
test_what_git_says_is_what_it_said() {
	require perl
	TEST_SEED=${TWIN_FROM:-1} "$ROOT_DIR/tests/random/twin.pl" "${TWIN_SECONDS:-15}"
}

run_tests
