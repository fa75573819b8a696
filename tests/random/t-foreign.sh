#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Some seconds of what `make foreign` does for hours (FOREIGN_SECONDS), and first: that it notices harm
# of every kind that it looks for.

. "$(dirname "$0")/../lib/harness.sh"

# notices <harm> <what it finds>: what the test does itself to a repository into which something came
notices() {
	require perl
	expect_exit 1 env FOREIGN_TAMPER="$1" "$ROOT_DIR/tests/random/foreign.pl" 1 1 >out 2>&1
	expect_grep "^FAILED with seed 1 .*: $2" out
}

test_harm_is_noticed() {
	notices config 'changed in .git, and not in the plan'
	notices hook 'changed in .git, and not in the plan'
	notices ref 'changed in .git, and not in the plan'
	notices operation 'changed in .git, and not in the plan'
	notices outside 'changed outside of the working directory'
	notices run 'a command of the forger ran'
}

# The same episodes each time; `make foreign` looks for new ones.
test_what_is_forged_does_no_harm() {
	require perl
	TEST_SEED=${FOREIGN_FROM:-1} "$ROOT_DIR/tests/random/foreign.pl" "${FOREIGN_SECONDS:-15}" >out || {
		cat out
		fail 'something forged came in'
	}
	cat out
}

run_tests
