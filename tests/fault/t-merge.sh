#!/bin/sh
# SPDX-License-Identifier: MIT
# Saves merge their packs now and then, and trees become deltas then: nothing is lost, whatever is
# removed, damaged or killed.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"
. "$LIB_DIR/gc.sh"

GIT_CHECKPOINT_MAX_COUNT=1000
export GIT_CHECKPOINT_MAX_COUNT

# grow <n>: so many more checkpoints of a tree in which a few files change
grow() {
	for _ in $(seq "$1"); do
		n=$((${n:-0} + 1))
		awk -v seed=$((TEST_SEED + n)) 'BEGIN { srand(seed)
			for (i = 0; i < 3; i++) print "d" int(rand() * 3) "/e/f" int(rand() * 60) }' |
			while read -r file; do
				mkdir -p "${file%/*}"
				echo "$n" >>"$file"
			done
		test $((n % 9)) != 0 || rm -rf d$((n % 3))
		git-checkpoint save -q -m "number $n"
	done
}

# new_store <n>: that many checkpoints
new_store() {
	for i in $(seq 0 59); do
		mkdir -p d0/e d1/e d2/e
		echo "$i" | tee d0/e/f"$i" d1/e/f"$i" >d2/e/f"$i"
	done
	grow "$1"
	store=$(store_dir)
}

# deltas: how many objects are deltas
deltas() {
	for index in "$store"/objects/pack/*.idx; do
		git verify-pack -v "$index"
	done | awk 'NF > 5 && $2 == "tree" { n++ } END { print n + 0 }'
}

# contents: what git reads, all of it
contents() {
	git --git-dir="$store" for-each-ref --format='%(refname)' refs/checkpoints |
		while read -r ref; do
			git --git-dir="$store" ls-tree -r "$ref"
		done | sha256sum
}

test_merged_packs_have_deltas_of_trees() {
	new_store 49
	expect_eq 0 "$(deltas)" 'deltas before the merge'
	trees=$(du -sb "$store/objects/pack" | cut -f1)
	grow 3
	sound 52
	test "$(packs)" -lt 30 || fail "$(packs) packs"
	test "$(deltas)" -ge 20 || fail "only $(deltas) deltas"
	test "$(du -sb "$store/objects/pack" | cut -f1)" -lt "$trees" || fail 'no smaller'
	# again and again: deltas of deltas
	grow 120
	sound 172
	test "$(deltas)" -ge 100 || fail "only $(deltas) deltas"
	gc_quietly
	sound 172
}

test_what_is_dropped_takes_no_other_along() {
	new_store 90
	git-checkpoint list --json | jq -r '.checkpoints[].id' |
		awk -v seed="$TEST_SEED" 'BEGIN { srand(seed) } rand() < 0.5' >"$T/goes"
	# the newest, of which the others are deltas, among them
	git-checkpoint show --json @ | jq -r .id >>"$T/goes"
	sort -u -o "$T/goes" "$T/goes"
	# shellcheck disable=SC2046 # ids have no blanks
	git-checkpoint drop -q -y $(cat "$T/goes")
	sound $((90 - $(wc -l <"$T/goes")))
	GIT_CHECKPOINT_MAX_COUNT=10
	grow 40
	sound 10
}

test_a_pack_without_its_index_comes_back() {
	new_store 60
	test "$(deltas)" -ge 20 || fail "only $(deltas) deltas"
	contents >"$T/before"
	rm -f "$store"/objects/pack/*.idx
	git-checkpoint doctor --fix >"$T/out" 2>&1 || :
	expect_no_grep 'cannot be read' "$T/out"
	contents >"$T/after"
	expect_same "$T/before" "$T/after"
	sound 60
}

# merging: the next save merges
merging() {
	new_store 50
	git-checkpoint list --json | jq -r '.checkpoints[].id' | sort >"$T/ids"
	echo more >d0/e/f1
	keep_stores
}

# all_there <what>: what there was verifies, and the next save works
all_there() {
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "$1: $(cat "$T/fsck")"
	git-checkpoint verify --all -q >"$T/verify" 2>&1 || fail "$1: verify: $(cat "$T/verify")"
	git-checkpoint list --json | jq -r '.checkpoints[].id' | sort >"$T/listed"
	expect_eq '' "$(comm -23 "$T/ids" "$T/listed")" "$1: lost checkpoints"
	git-checkpoint save -q --allow-empty 2>"$T/err" || fail "$1: the next save: $(cat "$T/err")"
	git-checkpoint verify --all -q >"$T/verify" 2>&1 || fail "$1: verify: $(cat "$T/verify")"
}

test_a_save_that_merges_can_be_killed_anywhere() {
	merging
	with_faults $CHANGES 0 kill git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$(deltas)" -ge 20 || fail 'it merged nothing'
	at=$(begin_at 17)
	while test "$at" -le "$total"; do
		stores_again
		if killed "$at" "$total" git-checkpoint save -q; then
			all_there "killed at $at of $total"
		fi
		at=$((at + ${STEP:-17}))
	done
}

test_a_full_disk_while_packs_are_merged() {
	merging
	FAULT_PATH=$XDG_STATE_HOME
	FAULT_STICKY=1
	with_faults write,pwrite,openat-create,rename 0 ENOSPC git-checkpoint save -q
	total=$(cat "$T/faults")
	at=$(begin_at 5)
	while test "$at" -le "$total"; do
		stores_again
		with_faults write,pwrite,openat-create,rename "$at" ENOSPC git-checkpoint save -q >"$T/out" 2>&1 || :
		all_there "full at $at of $total"
		at=$((at + ${STEP:-5}))
	done
}

run_tests
