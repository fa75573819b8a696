#!/bin/sh
# SPDX-License-Identifier: MIT
# Memory runs out, in the program or in a library, once or from there on: the command ends with a
# sentence and a status of its own, not by a signal (libgit2 apart), and nothing is lost.
#
# CKPT_TEST_MEMORY_POINTS=<n>   so many places for each command, 5 if not set; "all" for each of them

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/keep.sh"

points=${CKPT_TEST_MEMORY_POINTS:-5}

# without <at> <sticky> <command>...: memory runs out at that allocation; 0 only counts
without() {
	memory_at=$1 memory_sticky=$2
	shift 2
	env LD_PRELOAD="$BUILD_DIR/faultmem.so" FAULT_MALLOC_AT="$memory_at" \
		FAULT_MALLOC_STICKY="$memory_sticky" FAULT_COUNT_FILE="$T/count" "$@"
}

prepare() {
	if nm -D "$BUILD_DIR/git-checkpoint" | grep -q '__[at]san_init'; then
		skip 'the sanitizer has an allocator of its own'
	fi
	git init -q
	mkdir d
	for i in 1 2 3 4 5 6 7 8; do
		echo "$i" >"d/f$i"
	done
	git-checkpoint save -q
	echo x >d/f1
	git-checkpoint save -q -m second
	rm d/f2
	echo y >d/f3
	store=$(store_dir)
	keep
}

# Whatever happened, both are there and sound, a restore can be finished, nothing is left lying about.
sound_after() {
	if test -e "$store/checkpoint/journal"; then
		status=0
		git-checkpoint restore -q --continue >"$T/out" 2>&1 || status=$?
		test $status = 0 || test $status = 3 || fail "$1: the restore cannot be continued: $(cat "$T/out")"
	fi
	git-checkpoint doctor --fix -q >"$T/out" 2>&1 || fail "$1: $(cat "$T/out")"
	git-checkpoint verify --all -q >"$T/out" 2>&1 || fail "$1: $(cat "$T/out")"
	test "$(git-checkpoint list --json | jq '.checkpoints | length')" -ge "${2:-2}" ||
		fail "$1: a checkpoint is gone"
	expect_eq '' "$(find . "$store" -name 'tmp_ckpt_*' -o -name '.git-checkpoint-*')" "$1: litter"
}

# exhaust <least number of checkpoints> <command>...
exhaust() {
	least=$1
	shift
	again
	without 0 0 "$@" >/dev/null 2>&1
	count=$(cat "$T/count")
	test "$count" -gt 100 || fail "only $count allocations: $*"
	stride=$((points == 0 ? 1 : count / points + 1))
	at=$((1 + TEST_SEED % stride))
	while test $at -le "$count"; do
		sticky=$((at % 2))
		again
		status=0
		without $at $sticky "$@" >"$T/out" 2>"$T/err" || status=$?
		what="$* (allocation $at of $count, sticky $sticky): exit $status: $(cat "$T/err")"
		case $status in
		0 | 3) ;;
		# libgit2, which makes patches, does not bear it; nothing is written then
		134 | 139) case " $* " in *' --patch '* | *' diff ') ;; *) fail "$what" ;; esac ;;
		1 | 4 | 5 | 75 | 128) test -s "$T/err" || grep -q '"error":' "$T/out" || fail "no word: $what" ;;
		*) fail "$what" ;;
		esac
		case " $* " in
		*' --json '*) jq -e -s 'length == 1' <"$T/out" >/dev/null || fail "no JSON: $what" ;;
		esac
		expect_no_grep 'damaged\|corrupt' "$T/err"
		expect_no_grep 'damaged\|corrupt' "$T/out"
		sound_after "$what" "$least"
		at=$((at + stride))
	done
}

test "$points" != all || points=0

test_saves() {
	prepare
	exhaust 2 git-checkpoint save -q
	exhaust 2 git-checkpoint save -q --json --state k=v --step 3 -- d/f3
}

test_readers() {
	prepare
	exhaust 2 git-checkpoint list
	exhaust 2 git-checkpoint show --patch @
	exhaust 2 git-checkpoint diff
	exhaust 2 git-checkpoint status --json
	exhaust 2 git-checkpoint verify --all
}

test_restores() {
	prepare
	exhaust 2 git-checkpoint restore -q --yes @~1
	git-checkpoint restore -q --yes @~1
	keep
	exhaust 3 git-checkpoint undo -q --yes
}

test_retention() {
	prepare
	git-checkpoint save -q
	keep
	exhaust 2 git-checkpoint drop -q @~2
	exhaust 2 git-checkpoint prune -q --max-count 2
	exhaust 3 git-checkpoint gc -q
	exhaust 3 git-checkpoint doctor --fix
	exhaust 3 git-checkpoint pin -q @
}

# From the first allocation on, before any word of the line is read.
test_the_answer_is_json_from_the_beginning() {
	prepare
	for command in 'save -q --state k=v --json' 'hooks status --json' 'pin @ --json'; do
		for at in $(seq 40); do
			# shellcheck disable=SC2086 # words
			without "$at" 1 git-checkpoint $command >"$T/out" 2>"$T/err" && fail "$command: not at $at"
			jq -e -s 'length == 1 and .[0].error.code == 128' <"$T/out" >/dev/null || fail "no JSON: $command: $at: $(cat "$T/err")"
		done
	done
}

run_tests
