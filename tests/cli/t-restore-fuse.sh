#!/bin/sh
# SPDX-License-Identifier: MIT
# Worktrees on file systems in user space, which do not know every call and give files other inode
# numbers from time to time.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last

# on_bindfs: the current directory becomes a worktree on one
on_bindfs() {
	require bindfs
	mkdir "$T/below" "$T/mounted"
	bindfs "$T/below" "$T/mounted" 2>"$T/mount.err" || skip "bindfs cannot mount here: $(cat "$T/mount.err")"
	trap 'cd /; fusermount -u "$T/mounted" 2>/dev/null || umount "$T/mounted"' EXIT
	cd "$T/mounted"
}

on_ntfs() {
	require mkntfs ntfs-3g
	truncate -s 8M "$T/image"
	mkntfs -q -F "$T/image" >"$T/mount.err" 2>&1 || skip "mkntfs: $(cat "$T/mount.err")"
	mkdir "$T/mounted"
	ntfs-3g "$T/image" "$T/mounted" 2>"$T/mount.err" || skip "ntfs-3g cannot mount here: $(tail -n 1 "$T/mount.err")"
	trap 'cd /; fusermount -u "$T/mounted" 2>/dev/null || umount "$T/mounted"' EXIT
	cd "$T/mounted"
}

# every_change: a checkpoint $target, noted as "target", and all that a plan knows to be done
every_change() {
	mkdir -p d/e gone/deep swap1
	for file in a b d/x d/e/y gone/g gone/deep/h swap1/a swap2; do
		echo "old $file" >$file
	done
	ln -s a link
	ln -s b swap3
	save
	target=$id
	note target
	rm -r gone swap1 swap2 swap3 link
	echo new >a
	echo new >d/x
	echo new >swap1
	mkdir -p swap2/deep swap3 fresh/deep
	echo new >swap2/deep/a
	echo new >fresh/deep/a
	ln -s b link
	note before
}

# there, back, and killed in the middle
all_ways() {
	every_change
	restore "$target"
	expect_eq true "$(told .verification.match)"
	expect_not_warned changed
	expect_noted target
	there_and_back
	restoring 0 undo -y
	FAULT_PATH=$T/mounted with_faults rename,link 0 kill git-checkpoint redo -q -y
	total=$(cat "$T/faults")
	restoring 0 undo -y
	expect_noted before
	for part in 2 4; do
		for way in --continue --abort; do
			FAULT_PATH=$T/mounted expect_exit 137 with_faults rename,link \
				$((total * (part - 1) / part)) kill git-checkpoint redo -q -y
			expect_exists "$(store_dir)/checkpoint/journal"
			restoring 0 restore $way
			if test $way = --continue; then
				expect_noted target
				restoring 0 undo -y
			fi
			expect_noted before
			no_litter
		done
	done
	git-checkpoint verify -q --all
}

test_bindfs() {
	on_bindfs
	all_ways
}

test_random_trees_on_bindfs() {
	on_bindfs
	make_tree "$TEST_SEED"
	save
	note target
	damage_tree "$TEST_SEED"
	note before
	restore "$id"
	expect_noted target
	there_and_back
}

test_ntfs() {
	on_ntfs
	all_ways
}

run_tests
