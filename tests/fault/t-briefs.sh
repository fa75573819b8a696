#!/bin/sh
# SPDX-License-Identifier: MIT
# What a store keeps of its checkpoints in brief may be missing, old, torn or wrong at any time: what
# goes and what stays is what the checkpoints themselves say.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/saves.sh"

# at_limit: 20 checkpoints, as many as may be, and a file about them
at_limit() {
	many_saves 21 20
	expect_exists "$store/checkpoint/cache"
	expect_eq 20 "$(count)" 'at the limit'
}

count() {
	git-checkpoint list --json | jq '.checkpoints | length'
}

ids() {
	git-checkpoint list --json | jq -r '.checkpoints[].id'
}

# lose_commit <id>: the pack that has it and nothing else of interest
lose_commit() {
	lost=$(git --git-dir="$store" rev-parse "refs/checkpoints/$1")
	for idx in "$store"/objects/pack/*.idx; do
		if git show-index <"$idx" | grep -q "$lost"; then
			rm -f "$idx" "${idx%.idx}.pack"
			return
		fi
	done
	fail "no pack has $lost"
}

test_killed_at_any_call_of_a_save_that_evicts() {
	at_limit
	rm "$store/checkpoint/cache"
	oldest=$(ids | tail -n 1)
	git-checkpoint pin -q "$oldest"
	cp -a "$store" "$T/before"
	with_faults $calls 0 kill git-checkpoint save -q --allow-empty
	total=$(cat "$T/faults")
	expect_exists "$store/checkpoint/cache"
	at=$((1 + ${TEST_SEED:-0} % 3))
	while test $at -le "$total"; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		expect_exit 137 with_faults $calls $at kill git-checkpoint save -q --allow-empty
		n=$(count)
		test "$n" = 20 || test "$n" = 21 || test "$n" = 22 || fail "$n after a kill at $at"
		git-checkpoint status >"$T/out" 2>&1
		expect_grep "^Checkpoints: $n, 1 of them pinned" "$T/out"
		git-checkpoint save -q --allow-empty
		# 20, and the pinned one beside them
		expect_eq 21 "$(count)" "after a kill at $at"
		ids | grep -q "$oldest" || fail "the pinned one went after a kill at $at"
		git-checkpoint verify --all -q
		at=$((at + 3))
	done
	test "$total" -gt 20 || fail "only $total calls"
}

test_old_copy_or_none_makes_no_difference() {
	at_limit
	cp "$store/checkpoint/cache" "$T/old"
	first=$(ids | tail -n 1)
	git-checkpoint pin -q "$first"
	for i in 1 2 3 4 5; do
		git-checkpoint save -q --allow-empty
	done
	git-checkpoint pin -q @~3
	git-checkpoint save -q --allow-empty --expires 1s
	# it has expired in each round, or in none
	i=0
	until git-checkpoint list -n 1 | grep -qF '[expired]'; do
		i=$((i + 1))
		test $i -lt 600 || fail 'it does not expire'
		sleep 0.1
	done
	cp -a "$store" "$T/before"
	for how in as-it-is old none garbage; do
		rm -rf "$store"
		cp -a "$T/before" "$store"
		case $how in
		old) cp "$T/old" "$store/checkpoint/cache" ;;
		none) rm "$store/checkpoint/cache" ;;
		garbage) head -c 3000 /dev/urandom >"$store/checkpoint/cache" ;;
		esac
		for i in 1 2 3; do
			git-checkpoint save -q --allow-empty
		done
		ids | tail -n +4 >"$T/left.$how"
		expect_same "$T/left.as-it-is" "$T/left.$how"
		expect_grep "$first" "$T/left.$how"
	done
	git-checkpoint prune -q --max-count 4
	expect_eq 6 "$(count)" 'two of them pinned'
}

test_what_was_sound_and_is_damaged_does_not_go() {
	at_limit
	ids >"$T/ids"
	victim=$(tail -n 1 "$T/ids")
	next=$(tail -n 2 "$T/ids" | head -n 1)
	lose_commit "$victim"
	git-checkpoint save -q --allow-empty
	expect_exists "$store/refs/checkpoints/$victim"
	# 20 sound ones are no more than may be
	expect_exists "$store/refs/checkpoints/$next"
	git-checkpoint save -q --allow-empty
	expect_exists "$store/refs/checkpoints/$victim"
	expect_missing "$store/refs/checkpoints/$next"
	expect_eq 20 "$(count)" 'sound ones'
	git-checkpoint list 2>&1 >/dev/null | grep -q "$victim.*damaged" || fail 'not said'
}

test_status_notices_that_a_recent_one_is_damaged() {
	at_limit
	git-checkpoint save -q --allow-empty
	victim=$(ids | sed -n 2p)
	git-checkpoint status >"$T/out" 2>&1
	expect_grep '^Checkpoints: 20;' "$T/out"
	lose_commit "$victim"
	git-checkpoint status >"$T/out" 2>&1
	expect_grep '^Checkpoints: 19;' "$T/out"
	expect_eq 1 "$(grep -c "$victim.*damaged" "$T/out")" 'said once'
}

test_one_damaged_record_does_not_rebuild_the_manifest() {
	echo 1 >a
	for i in 1 2 3 4; do
		git-checkpoint save -q --allow-empty -m "$i"
	done
	store=$(store_dir)
	ids >"$T/ids"
	lose_commit "$(sed -n 3p "$T/ids")"
	sed -n 2p "$T/ids" | xargs -I {} sh -c ": >'$store/refs/checkpoints/{}'"
	# whatever it was, it is settled now
	git-checkpoint save -q --allow-empty -m 5
	git-checkpoint list -q 2>/dev/null
	inode=$(stat -c %i "$store/checkpoint-manifest.md")
	git-checkpoint save -q --allow-empty -m 6
	git-checkpoint list -q 2>/dev/null
	git-checkpoint save -q --allow-empty -m 7
	expect_eq "$inode" "$(stat -c %i "$store/checkpoint-manifest.md")" 'appended'
	expect_eq 7 "$(grep -c 'chk_' "$store/checkpoint-manifest.md")" 'rows'
	# rebuilt it says so, and once more it is settled
	rm "$store/checkpoint-manifest.md"
	git-checkpoint list -q 2>/dev/null
	expect_eq 2 "$(grep -c '| (damaged) |.*chk_' "$store/checkpoint-manifest.md")" 'damaged'
	inode=$(stat -c %i "$store/checkpoint-manifest.md")
	git-checkpoint save -q --allow-empty -m 8
	expect_eq "$inode" "$(stat -c %i "$store/checkpoint-manifest.md")" 'appended again'
	# one that goes takes its row along, the others stay
	git-checkpoint drop -q "$(sed -n 3p "$T/ids")"
	expect_eq 7 "$(grep -c 'chk_' "$store/checkpoint-manifest.md")" 'rows after a drop'
	expect_eq 1 "$(grep -c '| (damaged) |.*chk_' "$store/checkpoint-manifest.md")" 'damaged'
}

test_list_reads_no_more_than_it_shows() {
	echo 1 >a
	for i in 1 2 3 4; do
		git-checkpoint save -q --allow-empty -m "$i" --source "by-$((i % 2))"
	done
	store=$(store_dir)
	lose_commit "$(ids | tail -n 2 | head -n 1)"
	git-checkpoint list -n 2 >"$T/out" 2>"$T/err"
	expect_eq 2 "$(grep -c chk_ "$T/out")" 'shown'
	expect_eq '' "$(cat "$T/err")" 'said of others'
	# further back than that one
	git-checkpoint list -n 2 --source by-1 >"$T/out" 2>"$T/err"
	expect_eq 2 "$(grep -c chk_ "$T/out")" 'shown of one source'
	expect_grep damaged "$T/err"
	git-checkpoint list -n 0 >"$T/out" 2>&1
	expect_eq '' "$(cat "$T/out")" 'none asked for'
}

test_several_processes_at_the_limit() {
	at_limit
	rm "$store/checkpoint/cache"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=120s
	for p in 1 2 3; do
		for i in 1 2 3 4 5 6; do
			git-checkpoint save -q --allow-empty || echo "save: $?" >>"$T/failed"
			git-checkpoint status >"$T/status.$p" 2>&1 || echo "status: $?" >>"$T/failed"
			! grep -q damaged "$T/status.$p" || cat "$T/status.$p" >>"$T/failed"
		done &
		pids="${pids:-} $!"
	done
	# shellcheck disable=SC2086 # several
	wait $pids
	expect_missing "$T/failed"
	expect_eq 20 "$(count)" 'at the end'
	git-checkpoint verify --all -q
	expect_eq '' "$(find "$store" -name 'tmp_ckpt_*')" 'litter'
}

run_tests
