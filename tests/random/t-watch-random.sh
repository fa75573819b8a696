#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Half a minute of what `make watch-soak` does for an hour (WATCH_SECONDS), and first: that it notices
# what a save may miss.

. "$(dirname "$0")/../lib/harness.sh"

# notices <harm> <what it finds>: what the test does itself after a save
notices() {
	require perl
	WATCH_ROUNDS=1 WATCH_MANY=0 WATCH_TAMPER=$1 expect_exit 1 "$ROOT_DIR/tests/random/watch.pl" 1 3 >out 2>&1
	expect_grep "^FAILED.*$2" out
}

test_other_bytes_are_noticed() { notices bytes 'not what there is'; }
test_another_mode_is_noticed() { notices mode 'not what there is'; }
test_another_mode_of_a_directory_is_noticed() { notices dirmode 'not what there is'; }
test_what_is_new_is_noticed() { notices extra 'not what there is'; }
test_what_is_missing_is_noticed() { notices missing 'not what there is'; }
test_a_watcher_that_nobody_asks_is_noticed() { notices deaf 'no save was hinted'; }

# The same episodes each time, as far as processes meet in the same way.
test_a_hinted_save_is_what_a_full_one_is() {
	require perl
	WATCH_MANY=${WATCH_MANY:-0} TEST_SEED=${WATCH_FROM:-7} "$ROOT_DIR/tests/random/watch.pl" "${WATCH_SECONDS:-20}"
}

run_tests
