#!/bin/sh
# SPDX-License-Identifier: MIT
# Power cuts in real file systems: images are copied while they are mounted and in use, which is
# what a disk holds when the power goes, and the copies are mounted in their place. Needs root and
# loop devices. A few rounds for each file system; CRASH_ALL=1 (make crash) has many.

CRASH_DIR=$(cd "$(dirname "$0")" && pwd -P)
# What is mounted goes with the namespace.
if test -z "${CRASH_APART:-}"; then
	CRASH_APART=no
	if test "$(id -u)" = 0 && unshare -m true 2>/dev/null; then
		CRASH_APART=yes
	fi
	export CRASH_APART
	test $CRASH_APART = no || exec unshare -m sh "$0" "$@"
fi
if test -z "${TMPDIR:-}" && test -d /dev/shm && test -w /dev/shm; then
	TMPDIR=/dev/shm
fi
. "$(dirname "$0")/../lib/harness.sh"
. "$CRASH_DIR/crash.sh"

ROUNDS=4
test -z "${CRASH_ALL:-}" || ROUNDS=100

# pick <n>: a number below n in $picked, another one each time
pick() {
	draw=$(((draw * 69069 + 12345) % 1000003))
	picked=$((draw / 7 % $1))
}

# plug <image>: it is the file system at $M
plug() {
	mount -o loop "$1" "$M"
}

# unplug: a process that was killed may take a moment to go
unplug() {
	cd "$T"
	for n in 1 2 3 4 5 6 7 8 9; do
		! umount "$M" 2>/dev/null || return 0
		sleep 0.$n
	done
	umount "$M"
}

# power_cut: what is on the disk is all that is left, and the machine starts again
power_cut() {
	tries=0
	cp --sparse=always "$T/image" "$T/cut"
	# A copy is of one moment if nothing was written while it was made.
	while ! cmp -s "$T/image" "$T/cut"; do
		tries=$((tries + 1))
		test $tries -lt 50 || fail 'the image does not come to rest'
		cp --sparse=always "$T/image" "$T/cut"
	done
	unplug
	plug "$T/cut"
	printf '%08d-0000-4000-8000-000000000000\n' "$round" >"$T/boot_id"
	mount --bind "$T/boot_id" /proc/sys/kernel/random/boot_id 2>/dev/null ||
		skip 'the boot id cannot be changed here'
	cd "$R/work"
}

# a_fs <type>: an empty one, in $T/empty
a_fs() {
	test "$CRASH_APART" = yes || skip 'needs root and a mount namespace'
	require "mkfs.$1" losetup
	grep -q "[[:space:]]$1\$" /proc/filesystems || modprobe -q "$1" 2>/dev/null ||
		skip "the kernel has no $1"
	truncate -s 320M "$T/empty"
	case $1 in
	ext4) mkfs.ext4 -q "$T/empty" ;;
	*) "mkfs.$1" -q "$T/empty" >/dev/null ;;
	esac
	M=$T/mnt
	mkdir "$M"
	# Else the scratch directory cannot be removed.
	trap 'cd /; umount -q /proc/sys/kernel/random/boot_id || :; umount -q -l "$M" || :' EXIT
	plug "$T/empty" 2>/dev/null || skip 'loop devices cannot be mounted here'
	unplug
}

# edits_in_place: sizes stay, nothing is synced
edits_in_place() {
	printf ONE | dd of=a bs=1 conv=notrunc 2>/dev/null
	tr 0-9 a-j <src/deep/er/long | dd of=src/deep/er/long conv=notrunc 2>/dev/null
	echo "$1" >src/b
	# What is too new is read again in any case.
	now=$(date +%s%N)
	while test $(($(date +%s%N) - now)) -lt 100000000; do
		:
	done
}

# known <name>: the checkpoint that is the newest now, and its state
known() {
	look >"$S/$1"
	echo "$(listed | tail -n 1) $S/$1" >>"$S/acked"
}

round() {
	cp --sparse=always "$T/empty" "$T/image"
	plug "$T/image"
	rm -rf "$T/crash" "$T/apart"
	begin "$M"
	# The store is on the same file system, or on one that lost nothing.
	pick 3
	test $picked != 0 || XDG_STATE_HOME=$T/apart
	a_tree
	git-checkpoint save -q
	known first
	sync
	edits_in_place "$round"
	git-checkpoint save -q
	known second
	# What the program does not sync itself may be on the disk nevertheless.
	find "$(the_store)/checkpoint" -type f -exec sync {} +
	pick 4
	case $picked in
	0) ;;
	1) edits_in_place again ;; # lost or not, but not saved
	2)
		change_tree
		look >"$S/before"
		pick 9
		FAULT_PATH=$R/work with_faults rename $((picked + 1)) kill \
			git-checkpoint restore --yes "$(sed -n '1s/ .*//p' "$S/acked")" >/dev/null 2>&1 || :
		;;
	3) git-checkpoint restore --yes -q "$(sed -n '1s/ .*//p' "$S/acked")" >/dev/null ;;
	esac
	power_cut
	after_the_cut
	umount /proc/sys/kernel/random/boot_id
	unplug
}

# What was promised: each checkpoint comes back, and a restore that says so is right.
after_the_cut() {
	git-checkpoint status >"$T/out" 2>&1 || fail "status: $(cat "$T/out")"
	if test -e "$(the_store)/checkpoint/journal"; then
		pick 2
		if test $picked = 0; then
			git-checkpoint restore --continue
			look | expect_files "$S/first"
		else
			git-checkpoint restore --abort
			look | expect_files "$S/before"
		fi
	fi
	git-checkpoint save -q
	git-checkpoint verify --all
	# The newest first: where nothing seems to have changed, nothing is written.
	tac "$S/acked" >"$S/newest"
	while read -r id file; do
		git-checkpoint restore --yes -q "$id" >"$T/out" 2>&1 || fail "restore: $(cat "$T/out")"
		look | expect_files "$file"
	done <"$S/newest"
	if look | grep '\.git-checkpoint-restore-\|tmp_ckpt_'; then
		fail 'something of ours is left in the worktree'
	fi
}

expect_files() {
	grep -v ' \.git$\| \.git/' "$1" >"$T/want"
	grep -v ' \.git$\| \.git/' >"$T/got"
	expect_same "$T/want" "$T/got"
}

# rounds <type>
rounds() {
	a_fs "$1"
	draw=$((TEST_SEED % 1000003))
	round=0
	while test $round -lt $ROUNDS; do
		round=$((round + 1))
		echo "$1, round $round"
		round
	done
}

test_power_cuts_on_ext4() {
	rounds ext4
}

test_power_cuts_on_xfs() {
	rounds xfs
}

test_power_cuts_on_btrfs() {
	rounds btrfs
}

run_tests
