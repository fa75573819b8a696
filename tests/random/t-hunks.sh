#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Some seconds of what `make hunks` does for minutes (HUNKS_SECONDS), and first: that it notices
# another answer.

. "$(dirname "$0")/../lib/harness.sh"

test_another_answer_is_noticed() {
	require perl
	HUNKS_TAMPER=n "$ROOT_DIR/tests/random/hunks.pl" 1 1 >out 2>&1 && fail 'another answer is not noticed'
	expect_grep '^FAILED with seed 1: ' out
}

# The same episodes each time; `make hunks` looks for new ones.
test_the_same_answers_do_what_git_does() {
	require perl
	TEST_SEED=${HUNKS_FROM:-1} "$ROOT_DIR/tests/random/hunks.pl" "${HUNKS_SECONDS:-8}"
}

run_tests
