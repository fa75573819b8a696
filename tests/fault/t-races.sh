#!/bin/sh
# SPDX-License-Identifier: MIT
# Another process packs, evicts or drops at the very instant at which one reads: who reads sees the
# same as ever, and calls nothing damaged that is not.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/keep.sh"

# Some checkpoints in several packs, the oldest in a tight one.
several() {
	mkdir d
	for i in 1 2 3 4 5; do
		echo "$i" >a
		echo "$i" >"d/f$i"
		git-checkpoint save -q -m "$i"
		test $i != 3 || git-checkpoint gc -q
	done
	keep
}

# racing <meanwhile> <command>...: at each of the moments in which the command opens something of the
# packs, of which there are few, the other one is run; it must not matter
racing() {
	meanwhile="GIT_CHECKPOINT_LOCK_TIMEOUT=0s $1"
	shift
	again
	FAULT_PATH=objects/pack with_faults open 0 run "$@" >"$T/expected" 2>&1
	count=$(cat "$T/faults")
	test "$count" -gt 1 || fail "only $count calls: $*"
	at=1
	while test $at -le "$count"; do
		again
		FAULT_RUN=$meanwhile FAULT_PATH=objects/pack
		export FAULT_RUN
		with_faults open $at run "$@" >"$T/out" 2>&1 || fail "exit $? at $at: $* $(cat "$T/out")"
		expect_no_grep 'damaged' "$T/out"
		test "${3:-}" = --yes || expect_same "$T/expected" "$T/out"
		at=$((at + 1 + count / 12))
	done
}

test_gc_while_one_reads() {
	several
	for command in 'list --json' 'show --stat --json @~3' 'show --hashes @' 'verify --all' 'diff @~2'; do
		# shellcheck disable=SC2086 # words
		racing 'git-checkpoint gc -q' git-checkpoint $command
	done
}

test_saves_that_merge_packs_while_one_reads() {
	several
	# as reclaiming after a drop does: another pack for each that has something to drop
	racing 'git-checkpoint drop -q @~4' git-checkpoint show --hashes @~3
	racing 'git-checkpoint drop -q @~4' git-checkpoint diff --name-status @~3 @
}

test_gc_before_a_restore() {
	several
	racing 'git-checkpoint gc -q' git-checkpoint restore --yes @~3
	expect_eq 2 "$(cat a)"
	expect_missing d/f3
}

test_what_goes_while_it_is_read_was_dropped() {
	several
	id=$(git-checkpoint list --json | jq -r '.checkpoints[3].id')
	for command in show 'show --hashes' 'show --stat' 'diff --stat'; do
		for at in 1 2 3 4; do
			again
			export FAULT_RUN="git-checkpoint drop -q $id; git-checkpoint gc -q"
			# shellcheck disable=SC2086
			FAULT_PATH=objects/pack with_faults open $at run git-checkpoint $command "$id" \
				>"$T/out" 2>"$T/err" || expect_grep 'was dropped by another process\|no checkpoint named' "$T/err"
			expect_no_grep 'damaged' "$T/err"
		done
	done
}

# An undo looks at what the restore had brought, which nobody keeps for it.
test_undo_whose_restored_checkpoint_goes() {
	several
	id=$(git-checkpoint list --json | jq -r '.checkpoints[3].id')
	git-checkpoint restore -q --yes "$id"
	echo mine >mine
	keep
	export FAULT_RUN="git-checkpoint drop -q --force $id; git-checkpoint gc -q"
	FAULT_PATH=checkpoint/lock with_faults openat-create 0 run git-checkpoint undo --yes
	count=$(cat "$T/faults")
	for at in $(seq "$count"); do
		again
		FAULT_PATH=checkpoint/lock with_faults openat-create "$at" run git-checkpoint undo --yes \
			>"$T/out" 2>&1 || fail "exit $? $(cat "$T/out")"
		expect_no_grep 'damaged' "$T/out"
		expect_eq 5 "$(cat a)"
	done
}

# killed_restore <checkpoint>: prints a command that begins to restore it, and is killed half-way
killed_restore() {
	echo "env -u FAULT_PID LD_PRELOAD=$BUILD_DIR/faultfs.so FAULT_CALLS=rename,unlink FAULT_PATH=$T/work/" \
		"FAULT_AT=2 FAULT_DO=kill git-checkpoint restore -q --yes $1"
}

# Whoever waits for the lock sees what was interrupted while it waited.
test_a_restore_that_is_interrupted_while_another_waits() {
	several
	killed_restore @~3 >"$T/meanwhile.sh"
	for command in 'restore --yes @~1' 'restore --dry-run @~1'; do
		again
		# shellcheck disable=SC2086 # words
		FAULT_RUN="sh $T/meanwhile.sh || true" FAULT_PATH=checkpoint/lock \
			expect_exit 5 with_faults openat-create 1 run git-checkpoint $command >"$T/out" 2>"$T/err"
		expect_grep 'a restore was interrupted' "$T/err"
		git-checkpoint restore -q --abort
		expect_eq 5 "$(cat a)"
	done
}

# Settled by somebody else, and the next one interrupted: that is not the one to go on with.
test_another_interrupted_restore_than_the_one_looked_at() {
	several
	sh -c "$(killed_restore @~3)" && fail 'not killed'
	keep
	for settle in --continue --abort; do
		for way in --continue --abort; do
			again
			{
				echo "git-checkpoint restore -q $settle"
				killed_restore @~2
			} >"$T/meanwhile.sh"
			FAULT_RUN="sh $T/meanwhile.sh || true" FAULT_PATH=checkpoint/lock \
				expect_exit 5 with_faults openat-create 1 run git-checkpoint restore $way \
				>"$T/out" 2>"$T/err"
			expect_grep 'finished meanwhile' "$T/err"
			git-checkpoint restore -q --abort
			test $settle = --continue && before=2 || before=5
			expect_eq $before "$(cat a)"
		done
	done
}

# Without descriptors or memory a pack cannot be read; that does not make it damaged.
test_a_pack_that_cannot_be_opened_now() {
	several
	for at in 1 2 3 4; do
		FAULT_STICKY=1 FAULT_PATH=objects/pack expect_exit 128 with_faults open $at EMFILE \
			git-checkpoint show --hashes @~3 >"$T/out" 2>"$T/err"
		expect_no_grep 'damaged' "$T/err"
		expect_grep 'unable to open' "$T/err"
	done
}

run_tests
