#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every fuzz target takes its seeds, and some mutations of each, without a complaint. What a
# fuzzer has found is a seed from then on.

. "$(dirname "$0")/../lib/harness.sh"

MUTATIONS=200
CORPUS=$ROOT_DIR/tests/fuzz/corpus

test_every_target_has_seeds_and_every_seed_a_target() {
	for source in "$ROOT_DIR"/tests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		expect_exists "$BUILD_DIR/tests/fuzz/$name"
		test -n "$(ls "$CORPUS/${name#fuzz_}" 2>/dev/null)" || fail "$name has no seeds"
	done
	for dir in "$CORPUS"/*/; do
		name=$(basename "$dir")
		expect_exists "$ROOT_DIR/tests/fuzz/fuzz_$name.c"
	done
}

test_the_seeds_and_their_mutations_do_no_harm() {
	for program in "$BUILD_DIR"/tests/fuzz/fuzz_*; do
		name=$(basename "$program")
		case $name in *.d | *.o) continue ;; esac
		test -e "$ROOT_DIR/tests/fuzz/$name.c" || continue
		echo "$name"
		export FUZZ_SCRATCH="$TMPDIR"
		"$program" "$CORPUS/${name#fuzz_}" "$MUTATIONS" ||
			fail "$name: exit status $?; again with: $program tests/fuzz/corpus/${name#fuzz_} $MUTATIONS"
	done
}

run_tests
