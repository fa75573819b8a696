#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder that was moved adopts its checkpoints although that is killed, or the disk is full.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/relink.sh"
. "$LIB_DIR/keep.sh"

STEP=${STEP:-12}

# What is done now, once: with <old>, in the current folder.
killed_everywhere() {
	keep_stores
	with_faults $CHANGES 0 kill git-checkpoint relink -q "$1"
	total=$(cat "$T/faults")
	test "$total" -ge 10 || fail "only $total calls"
	half=0
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		stores_again
		expect_exit 137 with_faults $CHANGES "$at" kill git-checkpoint relink -q "$1"
		# nothing is lost, whatever is asked meanwhile
		git-checkpoint stores --json >"$T/out"
		expect_eq 2 "$(jq '[.stores[].checkpoints] | max' "$T/out")" "killed at $at: checkpoints"
		if ! git-checkpoint list >"$T/out" 2>"$T/err"; then
			half=$((half + 1))
			expect_grep "'git checkpoint relink [0-9a-f]\{16\}' adopts it$" "$T/err"
			# no other process starts over
			expect_exit 128 git-checkpoint save -q 2>"$T/err"
		fi
		status=0
		git-checkpoint relink -q "$1" 2>"$T/err" || status=$?
		test $status = 0 || test $status = 5 || fail "killed at $at: then $status: $(cat "$T/err")"
		# it was done; whoever locks the store next would remove what is left
		test $status = 0 || git-checkpoint doctor -q --fix
		adopted || fail "killed at $at"
		at=$((at + STEP))
	done
	# strides may pass over the few places where it is
	test $STEP -gt 1 || test $half -ge 1 || fail "never half done"
	works
}

test_killed_anywhere() {
	new_folder a git
	mv a b
	cd b
	killed_everywhere "${PWD%/b}/a"
}

test_killed_anywhere_with_an_empty_store_in_the_way() {
	new_folder a
	mv a b
	git-checkpoint -C b save -q
	rm "$(store_dir b)"/refs/checkpoints/*
	rm -r "$(store_dir b)"/objects/pack/*
	cd b
	killed_everywhere ../a
}

# A path that is the beginning of the other looks like a torn one.
test_killed_anywhere_when_moved_below_itself() {
	new_folder a
	mv a tmp
	mkdir a
	mv tmp a/b
	cd a/b
	killed_everywhere "${PWD%/b}"
}

# Killed, and then moved on: the path that it says it belongs to is the one to name, or the key.
test_killed_and_moved_on() {
	new_folder a
	mv a b
	cd b
	with_faults rename 2 kill git-checkpoint relink ../a && fail 'not killed'
	expect_exit 128 git-checkpoint list 2>"$T/err"
	cd ..
	mv b c
	cd c
	git-checkpoint relink ../a
	adopted
	works
}

test_a_full_disk() {
	new_folder a git
	mv a b
	cd b
	keep_stores
	FAULT_PATH=$XDG_STATE_HOME
	with_faults write,openat-create,rename 0 ENOSPC git-checkpoint relink -q ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		stores_again
		status=0
		FAULT_STICKY=1 with_faults write,openat-create,rename "$at" ENOSPC \
			git-checkpoint relink -q ../a 2>"$T/err" || status=$?
		test $status = 0 || test $status = 128 || fail "at $at: $status: $(cat "$T/err")"
		status=0
		git-checkpoint relink -q ../a 2>"$T/err" || status=$?
		test $status = 0 || test $status = 5 || fail "at $at: then $status: $(cat "$T/err")"
		adopted || fail "at $at"
		at=$((at + STEP))
	done
	works
}

run_tests
