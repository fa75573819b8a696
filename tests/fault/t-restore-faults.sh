#!/bin/sh
# SPDX-License-Identifier: MIT
# A restore that is killed, or whose disk fails, at every call that changes a file.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/restore-faults.sh"

id= # of the checkpoint that was saved last

test_a_restore_can_be_killed_at_any_change_of_the_worktree() {
	damaged_tree
	CHANGES=rename,unlink
	FAULT_PATH=$T/work
	killed_everywhere 3
}

# at_every_chmod <noted before> <noted after> <command to run it with> <restore argument>...: killed
# there, continued and aborted
at_every_chmod() {
	was=$1 becomes=$2 who=$3
	shift 3
	keep
	# shellcheck disable=SC2086
	FAULT_PATH=$T/work with_faults chmod,rename 0 kill $who git-checkpoint restore -q -y "$@"
	total=$(cat "$T/faults")
	expect_noted "$becomes"
	at=0 interrupted=0
	while test $at -lt "$total"; do
		at=$((at + 1))
		for way in --continue --abort; do
			again
			# shellcheck disable=SC2086
			FAULT_PATH=$T/work expect_exit 137 with_faults chmod,rename $at kill \
				$who git-checkpoint restore -q -y "$@"
			test -e "$(store_dir)/checkpoint/journal" || continue
			interrupted=$((interrupted + 1))
			$who git-checkpoint restore -q $way
			test $way = --abort || expect_noted "$becomes"
			test $way = --continue || expect_noted "$was"
			no_litter
		done
	done
	test $interrupted -gt 0 || fail 'never in the middle of it'
}

# Directories that are only on the way are in no checkpoint of the paths, their modes neither.
test_modes_of_directories_on_the_way() {
	mkdir -p d/e/f
	chmod 2755 d/e
	chmod 750 d
	echo x >d/e/f/in
	echo y >y
	save
	note target
	rm -r d
	note before
	at_every_chmod before target '' "$id" d/e/f/in
}

test_modes_of_read_only_directories_on_the_way() {
	who=
	if test "$(id -u)" = 0; then
		require setpriv
		who="setpriv --reuid=$(id -u nobody) --regid=$(id -g nobody) --clear-groups"
	fi
	mkdir -p d/e
	echo 2 >d/e/in
	chmod 555 d d/e
	note target
	give_to_nobody "$T"
	as_nobody git-checkpoint save -q
	echo 1 >"$T/other"
	chmod 755 d/e
	cat "$T/other" >d/e/in
	chmod 555 d/e
	note before
	at_every_chmod before target "$who" @ d/e/in
}

test_a_restore_can_be_killed_anywhere() {
	damaged_tree
	killed_everywhere 11
}

# ... and so can what settles it.
test_continue_and_abort_can_be_killed_too() {
	damaged_tree
	interrupt
	FAULT_PATH=$T/work
	keep
	for way in --continue --abort; do
		again
		with_faults "$CHANGES" 0 kill git-checkpoint restore -q $way
		total=$(cat "$T/faults")
		at=$(begin_at 9)
		while test "$at" -le "$total"; do
			again
			killed "$at" "$total" git-checkpoint restore -q $way || break
			if test -e "$(store_dir)/checkpoint/journal"; then
				rm -rf "$T/copy"
				mkdir "$T/copy"
				cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
				restoring 0 restore --continue
				at_target "$way killed at $at, continued"
				again copy
				restoring 0 restore --abort
				at_before "$way killed at $at, aborted"
				settled "$way killed at $at"
			fi
			at=$((at + ${STEP:-9}))
		done
	done
}

test_undo_can_be_killed() {
	damaged_tree
	restore "$target"
	keep
	FAULT_PATH=$T/work
	with_faults rename,unlink 0 kill git-checkpoint undo -q -y
	total=$(cat "$T/faults")
	at=$(begin_at 6)
	while test "$at" -le "$total"; do
		again
		expect_exit 137 with_faults rename,unlink "$at" kill git-checkpoint undo -q -y
		if test -e "$(store_dir)/checkpoint/journal"; then
			rm -rf "$T/copy"
			mkdir "$T/copy"
			cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
			restoring 0 restore --continue
			at_before "undo killed at $at, continued"
			restoring 0 redo -y
			at_target "undo killed at $at, continued, redone"
			again copy
			restoring 0 restore --abort
			at_target "undo killed at $at, aborted"
			restoring 0 undo -y
			at_before "undo killed at $at, aborted, undone"
		fi
		at=$((at + ${STEP:-6}))
	done
}

# At any instant, not only between calls.
test_a_restore_can_be_killed_at_random_instants() {
	damaged_tree
	keep
	interrupted=0
	for delay in 0.01 0.02 0.03 0.04 0.06 0.08; do
		again
		git-checkpoint restore -q -y "$target" >/dev/null 2>&1 &
		pid=$!
		sleep $delay
		kill -9 $pid 2>/dev/null || :
		wait $pid 2>/dev/null || :
		restoring_status=0
		git-checkpoint restore -q --continue >/dev/null 2>&1 || restoring_status=$?
		test $restoring_status != 1 || restore "$target"
		at_target "killed after $delay"
	done
}

# interrupt: a restore that is killed in the middle
interrupt() {
	keep
	FAULT_PATH=$T/work
	with_faults rename 0 kill git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	again
	expect_exit 137 with_faults rename $((total / 2)) kill git-checkpoint restore -q -y "$target"
	expect_exists "$(store_dir)/checkpoint/journal"
	FAULT_PATH=
}

test_an_interrupted_restore_is_talked_about() {
	damaged_tree
	interrupt
	for command in 'list' 'status' 'log' 'diff' 'show @' 'verify' 'config' 'save'; do
		# shellcheck disable=SC2086
		git-checkpoint $command >"$T/out" 2>"$T/err" || fail "$command: exit status $?"
		expect_grep 'restore --continue' "$T/err"
	done
	for command in 'restore -y @' 'restore -n @' 'undo -y' 'redo -y'; do
		# shellcheck disable=SC2086
		untouched restoring 5 $command
		refused --continue --abort
	done
	restoring 129 restore --continue @
	restoring 0 restore --abort
	at_before 'after all that'
}

test_edits_after_the_interruption_are_saved() {
	damaged_tree
	interrupt
	echo later >a
	echo later >later
	before=$(git-checkpoint list 2>/dev/null | wc -l)
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -a "$T/work" "$XDG_STATE_HOME" "$T/copy"
	restoring 0 restore --continue
	at_target continued
	expect_eq 'later later' "$(held_by "$(safety)" a) $(held_by "$(safety)" later)"
	test "$(git-checkpoint list | wc -l)" -gt "$before" || fail 'no further checkpoint'
	again copy
	restoring 0 restore --abort
	at_before aborted
	expect_eq 'later later' "$(held_by "$(safety)" a) $(held_by "$(safety)" later)"
}

# ---- a disk that fails ----

# failing_everywhere <error> <calls> <stride>: nothing is deleted, it is said, and it can be finished
failing_everywhere() {
	keep
	with_faults "$2" 0 "$1" git-checkpoint restore -q -y "$target"
	total=$(cat "$T/faults")
	test "$total" -ge 3 || fail "only $total calls"
	at=$(begin_at "$3")
	while test "$at" -le "$total"; do
		again
		what="$1 at $at of $2${FAULT_STICKY:+ and from then on}"
		status=0
		with_faults "$2" "$at" "$1" git-checkpoint restore -y --json "$target" \
			>"$T/restore.json" 2>"$T/restore.err" || status=$?
		said "$T/restore.json" >>"$T/restore.err"
		if test -e "$(store_dir)/checkpoint/journal"; then
			test $status = 128 || fail "$what: exit status $status"
			expect_grep 'continue' "$T/restore.err"
			# nothing was deleted unless all was written
			if test ! -e fresh/b; then
				expect_eq 'old a' "$(cat a)" "$what"
			fi
			restoring 0 restore --continue
			at_target "$what, continued"
		elif test $status = 0; then
			at_target "$what, done"
		else
			test $status = 128 || test $status = 5 || fail "$what: exit status $status"
			expect_grep '^\(fatal\|error\): ' "$T/restore.err"
			fingerprint . | grep -v 'git-checkpoint-restore-' >"$T/fp.now"
			diff -u "$T/fp.before" "$T/fp.now" || fail "$what: touched"
			restore "$target"
			at_target "$what, once more"
		fi
		settled "$what"
		at=$((at + ${STEP:-$3}))
	done
}

test_a_full_disk_in_the_worktree() {
	damaged_tree
	FAULT_PATH=$T/work FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 5
}

test_a_full_disk_in_the_store() {
	damaged_tree
	FAULT_PATH=$T/state FAULT_STICKY=1
	failing_everywhere ENOSPC write,pwrite,openat-create,mkdir 6
}

test_a_bad_disk() {
	damaged_tree
	failing_everywhere EIO write,pwrite,fsync,fdatasync,rename,unlink 12
}

# syncs <text>: how often a restore syncs something with that in its path
syncs() {
	again
	FAULT_PATH=$1 with_faults fsync 0 kill git-checkpoint restore -q -y "$target"
	cat "$T/faults"
}

# Before the journal is closed, which may lie on another disk. Links cannot be synced themselves.
test_all_that_a_restore_brings_back_is_synced() {
	mkdir -p dir/below bits
	ln -s somewhere dir/below/link
	echo 1 >file
	save
	target=$id
	rm -r dir
	chmod 600 file
	chmod 700 bits
	keep
	for path in /below work/dir work/file work/bits; do
		test "$(syncs $path)" = 1 || fail "'$path' was not synced, or more than once"
	done
}

test_a_disk_that_is_really_full() {
	test "$(id -u)" = 0 || skip 'needs root'
	mkdir "$T/small"
	mount -t tmpfs -o size=1m none "$T/small" 2>/dev/null || skip 'cannot mount'
	trap 'cd /; umount "$T/small"' EXIT
	cd "$T/small"
	noise 300000 >large
	echo 1 >a
	save
	note target
	rm large
	echo 2 >a
	echo 2 >new
	note before
	dd if=/dev/zero of=fill bs=1k 2>/dev/null || :
	note full
	restoring_status=0
	git-checkpoint restore -y "$id" >"$T/out" 2>"$T/err" || restoring_status=$?
	test $restoring_status = 128 || test $restoring_status = 5 || fail "exit status $restoring_status"
	expect_grep 'No space left' "$T/err"
	expect_noted full
	rm fill
	restore "$id"
	expect_noted target
	no_litter
}

run_tests
