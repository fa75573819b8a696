#!/bin/sh
# SPDX-License-Identifier: MIT
# The fault library hits the call that it was told to, and no other.

. "$(dirname "$0")/../lib/harness.sh"

test_calls_are_counted_without_a_fault() {
	FAULT_PATH=$PWD/out with_faults write 0 EIO dd if=/dev/zero of=out bs=10 count=5 2>/dev/null
	expect_eq 5 "$(cat "$T/faults")" 'writes'
	expect_eq 50 "$(wc -c <out)" 'size'
}

test_the_call_asked_for_fails() {
	FAULT_PATH=$PWD/out
	expect_exit 1 with_faults write 4 ENOSPC dd if=/dev/zero of=out bs=10 count=5 2>err
	expect_grep 'No space left on device' err
	expect_eq 30 "$(wc -c <out)" 'size'
	expect_exit 1 with_faults write 1 EIO dd if=/dev/zero of=out bs=10 count=5 2>err
	expect_grep 'Input/output error' err
	with_faults write 6 ENOSPC dd if=/dev/zero of=out bs=10 count=5 2>/dev/null
}

test_kill_comes_before_the_call() {
	FAULT_PATH=$PWD/out
	expect_exit 137 with_faults write 3 kill dd if=/dev/zero of=out bs=10 count=5
	expect_eq 20 "$(wc -c <out)" 'size'
	echo old >target
	echo new >source
	FAULT_PATH=''
	expect_exit 137 with_faults rename 1 kill mv source target
	expect_eq old "$(cat target)"
}

test_a_short_write_transfers_half() {
	FAULT_PATH=$PWD/out
	with_faults write 2 short dd if=/dev/zero of=out bs=10 count=5 2>/dev/null
	# dd writes the rest in one more call
	expect_eq 6 "$(cat "$T/faults")" 'writes'
	expect_eq 50 "$(wc -c <out)" 'size'
}

test_a_short_read_transfers_half() {
	printf 0123456789 >in
	FAULT_PATH=$PWD/in
	with_faults read 1 short dd if=in of=out bs=10 count=1 2>/dev/null
	expect_eq 01234 "$(cat out)"
}

test_a_full_disk_stays_full() {
	script='open my $f, ">", "out"; syswrite($f, "x") and $n++ for 1 .. 5; print $n + 0'
	FAULT_PATH=$PWD/out
	expect_eq 4 "$(with_faults write 2 ENOSPC perl -e "$script")" 'writes that worked'
	FAULT_STICKY=1
	expect_eq 1 "$(with_faults write 2 ENOSPC perl -e "$script")" 'writes that worked'
}

test_a_command_runs_before_the_call() {
	echo 1 >from
	FAULT_PATH=from FAULT_RUN='cat from >seen; echo 2 >from' with_faults rename 1 run mv from to
	expect_eq '1 2' "$(cat seen) $(cat to)"
}

test_what_a_file_system_lacks_is_not_there() {
	echo 1 >a
	FAULT_LACKS=link,chmod
	expect_exit 1 with_faults rename 0 kill ln a b 2>err
	expect_grep 'Operation not permitted' err
	expect_exit 1 with_faults rename 0 kill chmod 600 a 2>err
	FAULT_LACKS=noreplace
	# renameat2(2) with RENAME_NOREPLACE, and without
	script='my ($f, $t) = qw(a b); my $r = syscall(316, -100, $f, -100, $t, $ARGV[0] + 0); print $r ? $! + 0 : 0'
	case $(uname -m) in
	x86_64) expect_eq '22 0' "$(with_faults rename 0 kill perl -e "$script" 1) $(
		with_faults rename 0 kill perl -e "$script" 0)" ;;
	esac
}

test_syncs_renames_and_removals_fail() {
	echo x >file
	mkdir dir
	expect_exit 1 with_faults fsync 1 EIO dd if=file of=out conv=fsync 2>err
	expect_grep 'fsync failed' err
	expect_exit 1 with_faults fdatasync 1 EIO dd if=file of=out conv=fdatasync 2>err
	expect_exit 1 with_faults rename 1 EACCES mv file file2
	expect_exit 1 with_faults unlink 1 EACCES rm -f file
	expect_exit 1 with_faults unlink 1 EACCES rmdir dir
	expect_exit 1 with_faults mkdir 1 ENOSPC mkdir new
	expect_exit 1 with_faults link 1 EACCES ln file new
	expect_exit 1 with_faults ftruncate 1 EIO truncate -s 3 out
	expect_exists file dir
	expect_missing file2 new
}

test_only_opens_that_create_are_hit() {
	echo x >in
	expect_exit 1 with_faults openat-create 1 EACCES cp in out 2>err
	expect_grep 'Permission denied' err
	expect_missing out
	with_faults openat-create 1 EACCES cat in
}

test_only_the_path_asked_for_is_hit() {
	echo x >in
	mkdir this other
	FAULT_PATH=/this
	with_faults openat-create,write,close 1 EIO cp in other/file
	expect_eq 0 "$(cat "$T/faults")" 'calls'
	expect_exit 1 with_faults openat-create,write 1 EIO cp in "$PWD/this/file"
}

test_children_are_left_alone() {
	FAULT_PATH=$PWD/out
	with_faults write 1 EIO sh -c 'dd if=/dev/zero of=out bs=10 count=5 2>/dev/null; true'
	expect_eq 50 "$(wc -c <out)" 'size'
}

test_every_call_of_a_copy_can_be_the_last() {
	seq 1000 >in
	FAULT_PATH=$PWD/out
	with_faults write,close,fsync,openat-create 0 EIO dd if=in of="$PWD/out" bs=512 conv=fsync
	total=$(cat "$T/faults")
	test "$total" -ge 4
	at=1
	while test $at -le "$total"; do
		rm -f out
		expect_exit 137 with_faults write,close,fsync,openat-create $at kill \
			dd if=in of="$PWD/out" bs=512 conv=fsync
		at=$((at + 1))
	done
}

test_a_wrong_setting_is_no_silent_pass() {
	expect_exit 126 with_faults wriet 1 EIO true
	expect_exit 126 with_faults write 1 EWRONG true
}

run_tests
