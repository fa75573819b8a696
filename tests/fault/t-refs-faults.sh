#!/bin/sh
# SPDX-License-Identifier: MIT
# Where there are many checkpoints their refs are packed into one file: at no instant is one without
# a ref, and none that was let go comes back.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/saves.sh"

# So many that the next save packs them.
many() {
	many_saves 127 1000
	test ! -e "$store/packed-refs" || fail 'packed too early'
	expect_eq 127 "$(ls "$store/refs/checkpoints" | wc -l)"
	cp -a "$store" "$T/before"
}

# expect_all <n>: so many are there, sound, for us and for git
expect_all() {
	expect_eq "$1" "$(git-checkpoint list --json | jq '.checkpoints | length')" 'listed'
	expect_eq "$1" "$(git --git-dir="$store" for-each-ref refs/checkpoints | wc -l)" 'of git'
}

test_interrupted_while_refs_are_packed() {
	many
	with_faults $calls 0 kill git-checkpoint save -q --allow-empty
	count=$(cat "$T/faults")
	expect_exists "$store/packed-refs"
	expect_eq '' "$(ls "$store/refs/checkpoints")" 'loose refs'
	expect_all 128
	git-checkpoint verify --all -q
	# from the ref of the new one on; all of the 128 removals are alike
	at=1
	while test $at -le "$count"; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		expect_exit 137 with_faults $calls $at kill git-checkpoint save -q --allow-empty
		n=$(git-checkpoint list --json | jq '.checkpoints | length')
		test "$n" = 127 || test "$n" = 128 || fail "$n checkpoints after a kill at $at"
		expect_eq "$n" "$(git --git-dir="$store" for-each-ref refs/checkpoints | wc -l)" 'of git'
		git-checkpoint save -q --allow-empty
		expect_all $((n + 1))
		expect_missing "$store/packed-refs.lock"
		# what is let go stays away, whether it was loose, packed or both
		git-checkpoint drop -q @ @~1 @~100
		expect_all $((n - 2))
		if test $at -lt 30 || test $at -gt $((count - 12)); then
			at=$((at + 4))
		else
			at=$((at + 61))
		fi
	done

	# a full disk
	for at in 1 2 4; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		FAULT_STICKY=1 FAULT_PATH=packed-refs with_faults $calls $at ENOSPC \
			git-checkpoint save -q --allow-empty
		expect_all 128
	done
	# git holds the lock: not now, then
	rm -f "$store/packed-refs"
	rm -rf "$store"
	cp -a "$T/before" "$store"
	: >"$store/packed-refs.lock"
	git-checkpoint save -q --allow-empty
	expect_all 128
	expect_missing "$store/packed-refs"
	rm "$store/packed-refs.lock"
	git-checkpoint save -q --allow-empty
	expect_exists "$store/packed-refs"
	expect_all 129
}

run_tests
