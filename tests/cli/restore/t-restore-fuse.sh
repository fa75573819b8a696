#!/bin/sh
# SPDX-License-Identifier: MIT
# Worktrees on file systems in user space, which do not know every call and give files other inode
# numbers from time to time.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/elsewhere.sh"

id= # of the checkpoint that was saved last

# on_bindfs: the current directory becomes a worktree on one
on_bindfs() {
	require bindfs
	mkdir "$T/below" "$T/mounted"
	# each name of a file has a cache of its own there, which would be wrong for a second
	bindfs -o attr_timeout=0,entry_timeout=0 "$T/below" "$T/mounted" 2>"$T/mount.err" || skip "bindfs cannot mount here: $(cat "$T/mount.err")"
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
