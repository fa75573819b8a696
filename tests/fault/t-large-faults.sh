#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that are too large for memory, saved and restored: random ones, random edits, while they
# change, and with a program that is killed or has no space.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/strides.sh"
. "$LIB_DIR/keep.sh"

# make_large <file>: from 5 to 12 MB in stretches of noise, text and holes
make_large() {
	: >"$1"
	size=0 end=$((5000 + $(any 7000)))
	while test $size -lt $end; do
		kb=$((1 + $(any 3000)))
		case $(any 3) in
		0) noise $((kb * 1000)) >>"$1" ;;
		1) yes "line $size" | head -c ${kb}000 >>"$1" ;;
		2) truncate -s +${kb}000 "$1" ;;
		esac
		size=$((size + kb))
	done
}

# edit_large <file>: a few bytes somewhere, so that the size stays
edit_large() {
	noise $((1 + $(any 9))) |
		dd of="$1" bs=1 seek=$(($(any 4900) * 1000 + $(any 1000))) conv=notrunc 2>/dev/null
}

test_random_edits_come_back() {
	make_large large
	make_large other
	git-checkpoint save -q --name v0
	cp large "$T/v0"
	for i in 1 2 3 4; do
		edit_large large
		cp large "$T/v$i"
		git-checkpoint save -q --name v$i
		touch large
		git-checkpoint save -q
		expect_eq $((i + 1)) "$(git-checkpoint list --json | jq '.checkpoints | length')" checkpoints
	done
	for i in 1 2 3 4 5 6; do
		v=v$(any 5)
		# what is displaced may be in no checkpoint yet
		test "$(any 2)" = 0 || edit_large large
		cp large "$T/before"
		git-checkpoint restore -q --yes "$v"
		cmp large "$T/$v"
		! cmp -s large "$T/before" || continue # nothing to undo
		git-checkpoint undo -q --yes
		cmp large "$T/before"
	done
	git-checkpoint verify -q --all
}

# changed: what is in the worktree is in no checkpoint, and stays as it is from here on
changed() {
	make_large large
	echo x >small
	git-checkpoint save -q
	cp large "$T/old"
	edit_large large
	keep_stores
}

# whole: the next save has it, and nothing of another is left
whole() {
	git-checkpoint verify -q --all
	git-checkpoint save -q
	git --git-dir="$(store_dir)" cat-file blob latest:large | cmp - large
	expect_eq '' "$(find "$(checkpoint_home)" -name '*tmp_ckpt_*')" "$1: temporaries"
	expect_eq 2 "$(git-checkpoint list --json | jq '.checkpoints | length')" "$1: checkpoints"
}

test_a_save_can_be_killed_anywhere() {
	changed
	with_faults $CHANGES 0 kill git-checkpoint save -q
	total=$(cat "$T/faults")
	at=$(begin_at 5)
	while test $at -le "$total"; do
		stores_again
		killed $at "$total" git-checkpoint save -q || break
		whole "killed at $at"
		at=$((at + ${STEP:-5}))
	done
}

test_a_full_disk_at_any_write() {
	changed
	FAULT_PATH=$XDG_STATE_HOME
	FAULT_STICKY=1
	with_faults write,pwrite,openat-create 0 ENOSPC git-checkpoint save -q
	total=$(cat "$T/faults")
	at=$(begin_at 5)
	while test $at -le "$total"; do
		stores_again
		status=0
		with_faults write,pwrite,openat-create $at ENOSPC git-checkpoint save -q 2>"$T/err" || status=$?
		test $status = 0 || test $status = 128 || fail "ENOSPC at $at: exit status $status: $(cat "$T/err")"
		whole "ENOSPC at $at"
		at=$((at + ${STEP:-5}))
	done
}

# A file cannot be read further: the save says so, and the checkpoint that is there stays whole.
test_a_file_that_cannot_be_read_to_its_end() {
	changed
	FAULT_PATH=$PWD/large
	with_faults read 0 EIO git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$total" -ge 4 || fail "only $total reads"
	at=1
	while test $at -le "$total"; do
		stores_again
		with_faults read $at EIO git-checkpoint save 2>"$T/err" >&2 || :
		expect_grep large "$T/err"
		git-checkpoint verify -q --all
		git-checkpoint save -q
		git --git-dir="$(store_dir)" cat-file blob latest:large | cmp - large
		at=$((at + 1))
	done
}

# Written between any two reads, by name or through memory, which does not change its times: what is
# stored is what was there at one moment, and the next save has the rest.
written_while_read() {
	make_large large
	git-checkpoint save -q
	mkfifo "$T/ask" "$T/said"
	mapper large <"$T/ask" >"$T/said" &
	exec 3>"$T/ask" 4<"$T/said"
	echo second >&3
	read -r _ <&4
	keep_stores
	FAULT_PATH=$PWD/large
	with_faults read 0 run git-checkpoint save -q
	total=$(cat "$T/faults")
	test "$total" -ge 4 || fail "only $total reads"
	at=1
	while test $at -le "$total"; do
		stores_again
		echo second >&3
		read -r _ <&4
		cp large "$T/before"
		FAULT_RUN="$1" with_faults read $at run git-checkpoint save -q
		git-checkpoint verify -q --all
		git --git-dir="$(store_dir)" cat-file blob latest:large >"$T/stored"
		cmp -s "$T/stored" "$T/before" || cmp "$T/stored" large
		git-checkpoint save -q
		git --git-dir="$(store_dir)" cat-file blob latest:large | cmp - large
		at=$((at + 1))
	done
	exec 3>&- 4<&-
	wait
}

test_a_file_that_is_written_while_it_is_read() {
	written_while_read "printf third | dd of=large conv=notrunc 2>/dev/null"
}

test_a_file_that_is_written_through_memory_while_it_is_read() {
	written_while_read "echo third- >'$T/ask'; read -r said <'$T/said'"
}

run_tests
