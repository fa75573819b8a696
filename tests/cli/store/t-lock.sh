#!/bin/sh
# SPDX-License-Identifier: MIT
# The lock of a store: whoever waits for it stands in a queue.
. "$(dirname "$0")/../../lib/harness.sh"

# How many wait for the lock, says the kernel.
waiters() {
	grep -c -- "-> FLOCK .*:$(stat -c %i "$(store_dir)/checkpoint/lock") " /proc/locks || true
}

# Hold the lock until `let_go`.
hold() {
	exec 9>"$(store_dir)/checkpoint/lock"
	flock 9
	# a file system may number its files otherwise than the kernel lists them
	grep -q ":$(stat -c %i "$(store_dir)/checkpoint/lock") " /proc/locks || skip "the kernel does not list locks here"
}

let_go() {
	exec 9>&-
}

wait_for_waiters() {
	while test "$(waiters)" -lt "$1"; do
		sleep 0.02
	done
}

test_who_waits_longest_comes_first() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	hold
	pids=
	for i in 1 2 3 4 5 6 7 8; do
		git-checkpoint save -q --force -m "number $i" 9>&- &
		pids="$pids $!"
		wait_for_waiters $i
	done
	let_go
	for pid in $pids; do
		wait "$pid"
	done
	git-checkpoint list --json >"$T/list"
	expect_eq '8 7 6 5 4 3 2 1' \
		"$(jq -r '[.checkpoints[].reason | select(startswith("number")) | split(" ")[1]] | join(" ")' "$T/list")"
}

# Nobody wakes up to ask whether it is time: the queue does that.
test_waiting_is_one_call() {
	require flock strace
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	hold
	strace -f -e trace=flock -o "$T/trace" git-checkpoint save -q 9>&- &
	pid=$!
	wait_for_waiters 1
	let_go
	wait $pid
	expect_eq 1 "$(grep -c 'LOCK_EX|LOCK_NB) *= -1 EAGAIN' "$T/trace")"
	expect_eq 1 "$(grep -c 'LOCK_EX\( <unfinished\|)\)' "$T/trace")"
}

test_a_signal_ends_the_wait() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	hold
	for signal in INT TERM HUP; do
		# an interactive shell's jobs get SIGINT, a script's in the background do not
		perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' git-checkpoint save 9>&- 2>"$T/err" &
		pid=$!
		wait_for_waiters 1
		kill -$signal $pid
		rc=0
		wait $pid || rc=$?
		expect_grep 'interrupted, nothing was changed' "$T/err"
		expect_eq 0 "$(waiters)"
		test $rc -ne 0
	done
	let_go
	git-checkpoint save --json >"$T/out"
	expect_eq true "$(json .checkpoint_created "$T/out")"
}

# Whoever started us may have an alarm set, or signals blocked that we use.
test_a_blocked_signal_does_not_keep_it_waiting() {
	require flock
	echo 0 >a
	git-checkpoint save -q
	echo 1 >a
	hold
	export GIT_CHECKPOINT_LOCK_TIMEOUT=1s
	expect_exit 75 perl -e 'use POSIX; my $all = POSIX::SigSet->new; $all->fillset;
		sigprocmask(SIG_BLOCK, $all); exec @ARGV' git-checkpoint save 9>&- 2>"$T/err"
	expect_grep 'is using the checkpoints of' "$T/err"
	let_go
}

run_tests
