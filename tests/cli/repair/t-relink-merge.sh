#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder that was moved and has checkpoints of its own merges both, also after an interruption.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/relink.sh"
. "$LIB_DIR/keep.sh"

STEP=${STEP:-12}

# described: ids, commits, state hashes and pins of what is listed, oldest first
described() {
	git-checkpoint list --json | jq -r '.checkpoints | reverse[] |
		"\(.id) \(.commit) \(.hash) \(.pinned)"'
}

# both [git]: the folder b, moved from a with two checkpoints, has two of its own, one of them
# pinned, and a restore; what should come of that is in $T/all
both() {
	new_folder a "${1:-}"
	(cd a && described) >"$T/described"
	mv a b
	cd b
	# ids of the same second are in no order
	sleep 1
	echo four >file
	git-checkpoint save -q -m four 2>/dev/null
	git-checkpoint pin -q @
	echo five >file
	git-checkpoint restore -q -y @
	described | cat "$T/described" - | sort >"$T/all"
	expect_eq 4 "$(grep -c . "$T/all")"
	jq -R -s 'split("\n") | map(select(. != "") | split(" ")[0]) | reverse' "$T/all" >"$T/ids"
}

# merged: all of both is here, as it was
merged() {
	adopted
	described >"$T/now"
	expect_same "$T/all" "$T/now"
	# nothing that is set aside is waiting
	expect_eq '' "$(find "$(checkpoint_home)" -name '*.replaced-*')"
}

# merged_works: undo goes back through the restores of this folder, and a restore to those of both
merged_works() {
	git-checkpoint undo -q -y
	expect_eq five "$(cat file)"
	git-checkpoint restore -q -y "$(sed -n '2s/ .*//p' "$T/all")"
	fingerprint . >"$T/now"
	expect_same "$T/two" "$T/now"
	git-checkpoint undo -q -y
	expect_eq five "$(cat file)"
}

test_merged() {
	both git
	own=$(store_dir)
	fingerprint "$own/refs" >"$T/own"
	before=$(fingerprint_raw .)
	git-checkpoint relink --force --json ../a >"$T/out"
	expect_eq '2 2 0' "$(json '"\(.checkpoints) \(.merged) \(.warnings | length)"' "$T/out")"
	expect_eq "$before" "$(fingerprint_raw .)"
	merged
	expect_eq "$(tail -n 1 "$T/all" | cut -d' ' -f2)" \
		"$(git --git-dir="$(store_dir)" rev-parse refs/heads/latest)"
	# the other store is still there
	fingerprint "$own".merged-*/refs >"$T/now"
	expect_same "$T/own" "$T/now"
	merged_works
	git-checkpoint save -q -m six
	git-checkpoint gc -q
	git-checkpoint verify -q --all
	expect_exit 5 git-checkpoint relink --force ../a 2>"$T/err"
}

# merge_described: with what is described in $T/all already, and these
merge_described() {
	described >>"$T/all"
	jq -R -s 'split("\n") | map(select(. != "") | split(" ")[0]) | reverse' "$T/all" >"$T/ids"
	git-checkpoint relink -q --force ../a
	merged
}

test_merged_from_a_copy() {
	new_folder a
	cp -a a b
	sleep 1
	(cd b && echo other >file && git-checkpoint save -q -m other)
	(cd a && described) >"$T/all"
	cd b
	merge_described
}

test_settings_are_merged() {
	both
	echo 'maxCount = 7' >"$(store_dir)/checkpoint/config"
	git-checkpoint relink -q --force ../a
	expect_eq 'maxCount = 7' "$(cat "$(store_dir)/checkpoint/config")"
}

test_not_merged_with_an_interrupted_restore() {
	both
	cd ..
	for dir in b a; do
		echo '{"version"' >"$(checkpoint_home)/$(printf %s "$PWD/$dir" | sha256sum |
			cut -c1-16)/checkpoint/journal"
		before=$(fingerprint "$(checkpoint_home)")
		expect_exit 5 git-checkpoint -C b relink --force "$PWD/a" 2>"$T/err"
		expect_eq "$before" "$(fingerprint "$(checkpoint_home)")"
		expect_grep "^error: a restore of '$PWD/$dir' was interrupted; finish it first" "$T/err"
		rm "$(checkpoint_home)"/*/checkpoint/journal
	done
	cd b
	git-checkpoint relink -q --force ../a
	merged
}

# One of this folder's is damaged: said, and the others are merged.
test_merged_without_a_damaged_one() {
	both
	gone=$(sed -n '3s/ .*//p' "$T/all")
	echo 0123456789012345678901234567890123456789 >"$(store_dir)/refs/checkpoints/$gone"
	rm "$(store_dir)/refs/keep/pin/$gone"
	for pack in "$(store_dir)"/objects/pack/*.idx; do
		if git show-index <"$pack" | grep -q "$(sed -n '3s/^[^ ]* \([^ ]*\).*/\1/p' "$T/all")"; then
			rm -f "$pack" "${pack%.idx}.pack"
		fi
	done
	expect_exit 3 git-checkpoint relink --force ../a >"$T/out" 2>"$T/err"
	expect_grep "^warning: checkpoint '$gone' of .* cannot be recovered" "$T/err"
	sed -n 1,2p "$T/all" >"$T/two.all"
	described | head -n 2 >"$T/now"
	expect_same "$T/two.all" "$T/now"
	git-checkpoint verify -q --all
}

# all_kept: each checkpoint is in one of the stores, set aside or not
all_kept() {
	cut -d' ' -f1 "$T/all" >"$T/wanted"
	find "$(checkpoint_home)" -path '*/refs/checkpoints/chk_*' | sed 's,.*/,,' | sort -u >"$T/found"
	expect_same "$T/wanted" "$T/found"
}

# merge_again <what>: the same command goes on, and doctor fixes what is left if it was done
merge_again() {
	status=0
	git-checkpoint relink -q --force ../a 2>"$T/err" || status=$?
	test $status = 0 || test $status = 5 || fail "$1: then $status: $(cat "$T/err")"
	test $status = 0 || git-checkpoint doctor -q --fix
	(merged) || fail "$1"
}

test_killed_while_merging() {
	both
	keep_stores
	with_faults $CHANGES 0 kill git-checkpoint relink -q --force ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		stores_again
		expect_exit 137 with_faults $CHANGES "$at" kill git-checkpoint relink -q --force ../a
		all_kept
		merge_again "killed at $at of $total"
		at=$((at + STEP))
	done
	merged_works
}

# Killed between the two renames, the folder has no store: whatever is done then, nothing is lost.
test_killed_while_merging_and_gone_on() {
	both
	with_faults rename 2 kill git-checkpoint relink -q --force ../a && fail 'not killed'
	expect_missing "$(store_dir)"/HEAD
	keep_stores
	# as doctor says
	expect_exit 1 git-checkpoint doctor >"$T/out" 2>"$T/err"
	expect_grep '^problem: 2 checkpoints of .* can be recovered' "$T/out"
	git-checkpoint doctor -q --fix 2>"$T/err"
	expect_eq 2 "$(described | grep -c .)"
	git-checkpoint relink -q --force ../a
	merged
	# without --force there is nothing in the way
	stores_again
	git-checkpoint relink -q ../a
	merged
	# with a save in between
	stores_again
	sleep 1
	echo six >file
	git-checkpoint save -q -m six 2>"$T/err"
	merge_described
}

test_a_full_disk_while_merging() {
	both
	calls=write,openat-create,rename
	keep_stores
	FAULT_PATH=$XDG_STATE_HOME
	with_faults $calls 0 ENOSPC git-checkpoint relink -q --force ../a
	total=$(cat "$T/faults")
	at=$(begin_at "$STEP")
	while test "$at" -le "$total"; do
		stores_again
		status=0
		FAULT_STICKY=1 with_faults $calls "$at" ENOSPC \
			git-checkpoint relink --force ../a >"$T/out" 2>"$T/err" || status=$?
		case $status in
		0 | 128) ;;
		3) expect_grep '^warning: .* could not all be merged' "$T/err" ;;
		*) fail "at $at: $status: $(cat "$T/err")" ;;
		esac
		all_kept
		merge_again "at $at of $total"
		at=$((at + STEP))
	done
}

run_tests
