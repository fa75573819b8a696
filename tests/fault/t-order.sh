#!/bin/sh
# SPDX-License-Identifier: MIT
# The order of saving after the clock went back, if saves are killed.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/saves.sh"

# reasons: of all, newest first
reasons() {
	git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")'
}

# Enough of them after the jump that a save writes the file that knows their places.
test_killed_at_any_call_of_a_save_after_a_jump() {
	require faketime
	export GIT_CHECKPOINT_MAX_COUNT=none
	git-checkpoint save -q --allow-empty -m 1
	fake -f +365d git-checkpoint save -q --allow-empty -m 2
	expected='2 1'
	for i in $(seq 3 20); do
		git-checkpoint save -q --allow-empty -m "$i"
		expected="$i $expected"
	done
	store=$(store_dir)
	rm -f "$store/checkpoint/briefs"
	cp -a "$store" "$T/before"
	with_faults $calls 0 kill git-checkpoint save -q --allow-empty -m last
	total=$(cat "$T/faults")
	expect_exists "$store/checkpoint/briefs"
	at=$((1 + TEST_SEED % 2))
	while test $at -le "$total"; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		expect_exit 137 with_faults $calls $at kill git-checkpoint save -q --allow-empty -m last
		now=$(reasons)
		test "$now" = "$expected" || test "$now" = "last $expected" ||
			fail "$now after a kill at $at"
		expect_eq "${now%% *}" "$(git-checkpoint show --json @ | jq -r .reason)" "@ after a kill at $at"
		git-checkpoint save -q --allow-empty -m next
		expect_eq "next $now" "$(reasons)" "after a kill at $at"
		git-checkpoint verify -q --all
		at=$((at + 2))
	done
	test "$total" -gt 20 || fail "only $total calls"
}

run_tests
