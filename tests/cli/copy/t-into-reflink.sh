#!/bin/sh
# SPDX-License-Identifier: MIT
# restore --into on file systems that can share blocks: contents come from live files where these
# have them, and the copy is right whatever happens to them meanwhile. Needs root and loop devices.

# What is mounted goes with the namespace.
if test -z "${MOUNTS_APART:-}"; then
	MOUNTS_APART=no
	if test "$(id -u)" = 0 && unshare -m true 2>/dev/null; then
		MOUNTS_APART=yes
	fi
	export MOUNTS_APART
	test $MOUNTS_APART = no || exec unshare -m sh "$0" "$@"
fi
. "$(dirname "$0")/../../lib/harness.sh"

# on_fs <type>: go to a worktree on such a file system
on_fs() {
	test "$MOUNTS_APART" = yes || skip 'needs root and a mount namespace'
	require "mkfs.$1" losetup filefrag
	grep -q "[[:space:]]$1\$" /proc/filesystems || modprobe -q "$1" 2>/dev/null ||
		skip "the kernel has no $1"
	truncate -s 400M "$T/image"
	"mkfs.$1" -q "$T/image" >/dev/null
	M=$T/mnt
	mkdir "$M"
	# Else the scratch directory cannot be removed.
	trap 'cd /; umount -q -l "$M" || :' EXIT
	mount -o loop "$T/image" "$M" 2>/dev/null || skip 'loop devices cannot be mounted here'
	mkdir "$M/work"
	cd "$M/work"
}

# noise <file> [<kilobytes>]: contents that cannot be compressed, not newer than what is saved
noise() {
	head -c "${2:-1000}k" /dev/urandom >"$1"
	touch -d '1 hour ago' "$1"
}

# shared <file>: all of its blocks are those of another file
shared() {
	sync -f "$1"
	filefrag -v "$1" | awk '/^ *[0-9]+:/ { n++; if (/shared/) s++ } END { exit !(n && n == s) }'
}

# saved: a checkpoint that knows all files; those that are too new are known with the second
saved() {
	sync -f .
	git-checkpoint save -q
	now=$(date +%s%N)
	while test $(($(date +%s%N) - now)) -lt 100000000; do
		:
	done
	touch changed
	git-checkpoint save -q
	fingerprint . >"$T/fp.then"
}

same() {
	fingerprint "$1" >"$T/fp.copy"
	diff -u "$T/fp.then" "$T/fp.copy" || fail 'not the checkpoint'
}

copied() {
	git-checkpoint restore --json --into "$@" >"$T/answer"
	expect_eq true "$(json .verification.match "$T/answer")"
}

contents_are_shared() {
	mkdir deep
	noise a
	noise deep/b
	noise c
	noise gone 100
	saved
	mv a moved
	echo edited >>c
	rm gone
	copied "$M/copy" @
	same "$M/copy"
	shared "$M/copy/deep/b" || fail 'not shared'
	! shared "$M/copy/c" || fail 'an edited file is shared'
	test "$(json .cloned "$T/answer")" -ge 1 || fail 'nothing was cloned'
	expect_eq "$(json .cloned "$T/answer")" \
		"$(find "$M/copy" -type f -size +0 | while read -r f; do ! shared "$f" || echo "$f"; done | wc -l)"
	# an edit on either side stays there
	echo edited >>"$M/copy/deep/b"
	echo edited elsewhere >>deep/b
	expect_eq 1 "$(tail -c 8 "$M/copy/deep/b" | grep -c edited)"
	test "$(stat -c %s deep/b)" != "$(stat -c %s "$M/copy/deep/b")"
}

holes_are_shared_too() {
	truncate -s 50M sparse
	noise tail 200
	cat tail >>sparse
	touch -d '1 hour ago' sparse
	saved
	copied "$M/copy" @
	cmp sparse "$M/copy/sparse"
	test "$(du -k "$M/copy/sparse" | cut -f1)" -lt 2000 || fail 'it takes all of its space'
}

# A process that writes through a mapping changes no times for a while; here it changes what was
# cloned, just before the copy is read again.
a_live_file_that_changes() {
	noise a
	noise b
	saved
	FAULT_RUN="printf X | dd of='$M/copy/a' bs=1 seek=5 conv=notrunc 2>/dev/null" FAULT_PATH=/mnt/copy/a \
		with_faults chmod 1 run git-checkpoint restore --json --into "$M/copy" @ >"$T/answer"
	expect_eq true "$(json .verification.match "$T/answer")"
	same "$M/copy"
}

test_btrfs_shares_contents() {
	on_fs btrfs
	contents_are_shared
}

test_btrfs_shares_holes() {
	on_fs btrfs
	holes_are_shared_too
}

test_btrfs_what_changes_meanwhile_comes_from_the_store() {
	on_fs btrfs
	a_live_file_that_changes
}

test_xfs_shares_contents() {
	on_fs xfs
	contents_are_shared
}

test_xfs_shares_holes() {
	on_fs xfs
	holes_are_shared_too
}

test_xfs_what_changes_meanwhile_comes_from_the_store() {
	on_fs xfs
	a_live_file_that_changes
}

test_from_one_file_system_to_another() {
	on_fs btrfs
	noise a
	saved
	copied "$T/copy" @
	same "$T/copy"
	expect_eq 0 "$(json .cloned "$T/answer")"
}

run_tests
