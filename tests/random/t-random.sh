#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Half a minute of what `make random` does for hours (RANDOM_SECONDS), and first: that it
# notices harm of every kind that it looks for.

. "$(dirname "$0")/../lib/harness.sh"

# notices <harm>: what the test does itself to a tree that came back well
notices() {
	require perl
	# Not every seed has a file of the kind that is harmed.
	for seed in 1 2 3 5 6 7 9 10; do
		RANDOM_TAMPER=$1 "$ROOT_DIR/tests/random/random.pl" 1 $seed >out 2>&1 && continue
		expect_grep "^FAILED with seed $seed: .*$2" out
		return
	done
	cat out
	fail "harm is not noticed: $1"
}

test_other_bytes_are_noticed() { notices bytes 'did not bring back'; }
test_another_mode_is_noticed() { notices mode 'did not bring back'; }
test_what_should_be_gone_is_noticed() { notices extra 'did not bring back'; }
test_what_is_missing_is_noticed() { notices missing 'did not bring back'; }
test_a_file_written_needlessly_is_noticed() { notices time 'did not bring back'; }
test_a_protected_file_that_was_touched_is_noticed() { notices protected 'did not bring back'; }
test_a_change_in_the_git_directory_is_noticed() { notices git "changed the project's .git"; }
test_a_change_outside_is_noticed() { notices outside 'outside of the worktree'; }

# The same episodes each time; `make random` looks for new ones.
test_what_comes_back_is_what_there_was() {
	require perl
	TEST_SEED=${RANDOM_FROM:-2} "$ROOT_DIR/tests/random/random.pl" "${RANDOM_SECONDS:-25}"
}

run_tests
