#!/bin/sh
# SPDX-License-Identifier: MIT
# What was read before a power cut proves nothing after it: files are read again, once.

. "$(dirname "$0")/../../lib/harness.sh"

# on_boot <n> <command>...: as if the machine had been started <n> times; leaves the number of
# read(2) calls on files of the working directory in $T/faults
on_boot() {
	if test "$1" = none; then
		rm -f "$T/boot_id"
	else
		printf '%08d-0000-4000-8000-000000000000\n' "$1" >"$T/boot_id"
	fi
	shift
	FAULT_BOOT_ID=$T/boot_id FAULT_PATH=$T/work/ with_faults read 0 EIO "$@"
}

# expect_files_read <n> <what>: by the last command; the first save has read all <total> files
expect_files_read() {
	expect_eq "$1" $(($(cat "$T/faults") * total / $(cat "$T/first"))) "files read, $2"
}

# Save on boot <n> until the files are so old that nothing is read again.
save_until_known() {
	tries=0
	on_boot "$1" git-checkpoint save -q
	test -e "$T/first" || cp "$T/faults" "$T/first"
	while on_boot "$1" git-checkpoint save -q && test "$(cat "$T/faults")" != 0; do
		tries=$((tries + 1))
		test $tries -lt 200 || fail 'files are read again and again'
	done
}

on_disk() {
	case $(stat -f -c %T .) in
	ext2/ext3 | xfs | btrfs | f2fs) ;;
	*) skip "needs a file system on a disk, not $(stat -f -c %T .)" ;;
	esac
}

test_after_another_boot_every_file_is_read_once() {
	on_disk
	total=5
	for i in 1 2 3 4 5; do
		echo $i >file$i
	done
	save_until_known 1
	on_boot 2 git-checkpoint status >/dev/null
	expect_files_read 5 'status after a boot'
	on_boot 2 git-checkpoint save -q
	expect_files_read 5 'save after a boot'
	on_boot 2 git-checkpoint save -q
	expect_files_read 0 'the next save'
	on_boot 3 git-checkpoint save -q
	expect_files_read 0 'save after a further boot'
	on_boot 3 git-checkpoint save -q
	expect_files_read 0 'and the next'
	# and again for what has changed since
	echo other >file3
	save_until_known 3
	on_boot 4 git-checkpoint save -q
	expect_files_read 1 'save after a boot with one new file'
	expect_eq 2 "$(git checkpoint list --json | jq '.checkpoints | length')" 'checkpoints'
}

test_a_restore_reads_what_it_does_not_write() {
	echo 1 >one
	echo 2 >two
	save_until_known 1
	echo 3 >two
	save_until_known 1
	on_boot 2 git-checkpoint restore -q --yes @~1
	test "$(cat "$T/faults")" -gt "$(cat "$T/first")" || fail "only $(cat "$T/faults") reads"
	expect_eq 2 "$(cat two)"
}

test_without_a_boot_id_nothing_is_believed() {
	total=2
	echo 1 >one
	echo 2 >two
	save_until_known 1
	for i in 1 2 3; do
		on_boot none git-checkpoint save -q
		expect_files_read 2 "without a boot id, save $i"
	done
	echo rubbish >"$T/rubbish"
	FAULT_BOOT_ID=$T/rubbish FAULT_PATH=$T/work/ with_faults read 0 EIO git-checkpoint save -q
	expect_files_read 2 'with a boot id that is none'
}

# ---- a real one --------------------------------------------------------------------------

# attach <image>: a free loop device for it; noted so that it goes whatever happens
attach() {
	loop=$(losetup -f --show "$1" 2>"$T/losetup.err") || skip "needs a loop device: $(cat "$T/losetup.err")"
	echo "$loop" >>"$T/loops"
}

detach_all() {
	cd "$T"
	umount "$T/mnt" 2>/dev/null
	while read -r loop; do
		losetup -d "$loop"
	done <"$T/loops"
	:
}

# A file is edited in place and saved; the journal is written, the data is not; then the power
# goes. Leaves the file system as it is found afterwards at $T/mnt.
cut_the_power() {
	test "$(id -u)" = 0 || skip 'needs root'
	require losetup mkfs.ext4
	: >"$T/loops"
	trap detach_all EXIT
	mkdir "$T/mnt"
	truncate -s 16M "$T/image"
	mkfs.ext4 -q "$T/image"
	attach "$T/image"
	mount -o noatime "$loop" "$T/mnt" 2>/dev/null || skip 'cannot mount'
	mkdir "$T/mnt/tree"
	cd "$T/mnt/tree"
	seq 10000 19999 >file
	echo 1 >beside
	git checkpoint save -q
	sync -f .
	seq 20000 29999 | dd of=file conv=notrunc bs=64k status=none
	save_until_known 1
	echo 2 >"$T/mnt/another"
	sync "$T/mnt/another"
	stat -c '%s %i %y %z' file >"$T/before"
	cp "$T/image" "$T/after"
	cd "$T"
	umount "$T/mnt"
	# The device stays, only what is on it is another.
	cat "$T/after" >"$T/image"
	mount "$loop" "$T/mnt"
	cd "$T/mnt/tree"
	stat -c '%s %i %y %z' file | diff - "$T/before" || skip 'the journal had not been written'
	test "$(head -n 1 file)" = 10000 || skip 'the data had been written'
}

test_after_a_power_cut_status_and_restore_see_what_was_lost() {
	cut_the_power
	on_boot 2 git-checkpoint status >"$T/status"
	expect_grep '^Safe: *no, 1 change' "$T/status"
	on_boot 2 git-checkpoint restore --yes @ >"$T/out"
	expect_eq 20000 "$(head -n 1 file)" 'the first line'
	expect_grep 'erified' "$T/out"
	git checkpoint verify -q --all
}

# The device is pulled out and put in again.
test_another_mount_is_as_good_as_a_boot() {
	cut_the_power
	on_boot 1 git-checkpoint status >"$T/status"
	expect_grep '^Safe: *no, 1 change' "$T/status"
	on_boot 1 git-checkpoint save -q
	git checkpoint restore -q --yes @~1
	expect_eq 20000 "$(head -n 1 file)" 'the first line'
}

run_tests
