#!/bin/sh
# SPDX-License-Identifier: MIT
# Many processes at one store: none is lost, none waits for a dead one.

. "$(dirname "$0")/../lib/harness.sh"

# sound: the store as stock git sees it, and the manifest has every checkpoint once, in order
sound() {
	store=$(store_dir)
	git --git-dir="$store" fsck --strict --no-dangling >"$T/fsck" 2>&1 || fail "fsck: $(cat "$T/fsck")"
	expect_eq '' "$(cat "$T/fsck")" 'fsck'
	git-checkpoint list --json >"$T/listed.json" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")" 'warnings of list'
	jq -r '.checkpoints | reverse[] | .commit[:8]' "$T/listed.json" >"$T/expected"
	sed -n 's/^| \([0-9a-f]\{8\}\) | .*/\1/p' "$store/checkpoint-manifest.md" >"$T/rows"
	expect_same "$T/expected" "$T/rows"
	expect_eq '' "$(find "$(checkpoint_home)" -name 'tmp_ckpt_*')" 'temporaries'
}

test_eight_processes_save_eight_times_each() {
	for p in 1 2 3 4 5 6 7 8; do
		(
			for i in 1 2 3 4 5 6 7 8; do
				echo "$p-$i" >"file-$p"
				git-checkpoint save -q -m "$p-$i" "file-$p" || echo "$p-$i: $?" >>"$T/failed"
			done
		) &
	done
	wait
	expect_missing "$T/failed"
	sound
	expect_eq 64 "$(jq '.checkpoints | length' "$T/listed.json")"
	expect_eq 64 "$(jq -r '.checkpoints[].reason' "$T/listed.json" | sort -u | wc -l)" 'reasons'
	# each holds what was there when it was taken
	jq -r '.checkpoints[] | "\(.commit) \(.reason)"' "$T/listed.json" |
		while read -r commit reason; do
			echo "$(git --git-dir="$store" show "$commit:file-${reason%-*}") $reason"
		done >"$T/contents"
	expect_eq '' "$(awk '$1 != $2' "$T/contents")" 'contents of another'
	expect_eq 64 "$(git-checkpoint log --json | jq '.entries | length')" 'entries of the log'
}

test_eight_processes_make_the_store_at_once() {
	echo 1 >a
	for p in 1 2 3 4 5 6 7 8; do
		git-checkpoint save -q --allow-empty || echo "$p: $?" >>"$T/failed" &
	done
	wait
	expect_missing "$T/failed"
	sound
	expect_eq 8 "$(jq '.checkpoints | length' "$T/listed.json")"
}

test_equal_states_are_saved_once() {
	make_tree 1 40
	for p in 1 2 3 4 5 6 7 8; do
		git-checkpoint save -q --include-sensitive || echo "$p: $?" >>"$T/failed" &
	done
	wait
	expect_missing "$T/failed"
	sound
	expect_eq 1 "$(jq '.checkpoints | length' "$T/listed.json")"
}

# Readers take no lock: at no moment do they see half of anything.
test_readers_are_never_disturbed_by_a_save() {
	echo 0 >a
	git-checkpoint save -q
	(
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			echo $i >a
			git-checkpoint save -q || echo "save: $?" >>"$T/failed"
		done
		touch "$T/done"
	) &
	while ! test -e "$T/done"; do
		for command in 'list --stat' 'show --patch @' 'diff --name-status @~1' status log; do
			# shellcheck disable=SC2086
			git-checkpoint $command >/dev/null 2>"$T/err" || test "$command" = 'diff --name-status @~1' ||
				echo "$command: $? $(cat "$T/err")" >>"$T/failed"
			test ! -s "$T/err" || grep -q 'beyond the oldest' "$T/err" || cat "$T/err" >>"$T/failed"
		done
	done
	wait
	test ! -e "$T/failed" || fail "$(cat "$T/failed")"
	sound
	expect_eq 16 "$(jq '.checkpoints | length' "$T/listed.json")"
}

test_readers_work_while_somebody_holds_the_lock() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	rm "$(store_dir)/checkpoint-manifest.md"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	for command in list 'show @' diff status log config; do
		# shellcheck disable=SC2086
		flock "$(store_dir)/checkpoint/lock" git-checkpoint $command >/dev/null
	done
}

test_a_live_holder_is_waited_for() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	flock "$(store_dir)/checkpoint/lock" sh -c 'touch "$T/held"; sleep 1' &
	while ! test -e "$T/held"; do
		sleep 0.05
	done
	git-checkpoint save --json >"$T/out"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	wait
}

test_then_it_gives_up_with_75() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	expect_exit 75 flock "$(store_dir)/checkpoint/lock" git-checkpoint save --json >"$T/out" 2>"$T/err"
	expect_eq 75 "$(json .error.code "$T/out")"
	expect_grep 'another process' "$T/err"
	export GIT_CHECKPOINT_LOCK_TIMEOUT=0s
	expect_exit 75 flock "$(store_dir)/checkpoint/lock" git-checkpoint save 2>"$T/err"
	unset GIT_CHECKPOINT_LOCK_TIMEOUT
	git-checkpoint save --json >"$T/out"
	expect_eq true "$(json .checkpoint_created "$T/out")"
	sound
}

test_a_dead_holder_never_blocks() {
	mktree --files 300 --dirs 20 .
	git-checkpoint save -q
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	for at in 1 2 3; do
		echo $at >new
		# in the middle of the pack, with the lock held
		FAULT_PATH=objects/pack expect_exit 137 with_faults pwrite $at kill git-checkpoint save -q
		git-checkpoint save --json >"$T/out"
		expect_eq true "$(json .checkpoint_created "$T/out")"
	done
	sound
}

# The lock is gone with the process, even if a child of it lives on.
test_an_old_lock_file_is_no_lock() {
	echo 0 >a
	git-checkpoint save -q
	echo 99999999 >"$(store_dir)/checkpoint/lock"
	echo 1 >a
	GIT_CHECKPOINT_LOCK_TIMEOUT=0s git-checkpoint save -q
	sound
}

test_an_interrupt_ends_it_and_leaves_nothing() {
	mktree --files 3000 --dirs 100 --bytes 30000000 .
	git-checkpoint save -q &
	pid=$!
	i=0
	while ! ls "$(store_dir)"/objects/pack/tmp_ckpt_* >/dev/null 2>&1 && test $i -lt 200; do
		i=$((i + 1))
		sleep 0.01
	done
	kill -INT $pid 2>/dev/null || :
	kill -TERM $pid 2>/dev/null || :
	status=0
	wait $pid || status=$?
	case $status in
	0 | 130 | 143) ;;
	*) fail "exit status $status" ;;
	esac
	git-checkpoint save -q
	sound
}

run_tests
