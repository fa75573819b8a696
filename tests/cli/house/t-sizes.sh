#!/bin/sh
# SPDX-License-Identifier: MIT
# The files of the program and of the tests are short enough to be read.

. "$(dirname "$0")/../../lib/harness.sh"

check_sizes() {
	"$LIB_DIR/check-sizes.sh" "$@"
}

test_no_file_is_too_long() {
	check_sizes "$ROOT_DIR"
}

test_a_file_that_is_too_long_is_named() {
	mkdir -p tests/unit tests/fuzz/corpus lib/base
	seq 500 >tests/fine.sh
	seq 9000 >tests/fuzz/corpus/seed
	check_sizes . >out
	expect_eq '' "$(cat out)"
	seq 501 >'tests/unit/too long.c'
	seq 502 >tests/random.pm
	expect_exit 1 check_sizes . >out
	printf '%s\n' 'tests/random.pm: 502 lines, more than 500' \
		'tests/unit/too long.c: 501 lines, more than 500' >expected
	expect_same expected out
}

test_files_of_lib_may_be_longer() {
	mkdir -p tests lib/base
	seq 700 >lib/base/long.c
	check_sizes . >out
	expect_eq '' "$(cat out)"
	seq 701 >lib/base/long.c
	expect_exit 1 check_sizes . >out
	expect_eq 'lib/base/long.c: 701 lines, more than 700' "$(cat out)"
}

run_tests
