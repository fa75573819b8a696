#!/bin/sh
# SPDX-License-Identifier: MIT
# Worktrees in containers: on an overlay, where a directory of a lower layer cannot be renamed, and
# where a file becomes another when it is first written, renamed or given another mode.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/elsewhere.sh"

id= # of the checkpoint that was saved last

# on_overlay [tmpfs [<options>]]: the current directory becomes a worktree on one, the layers of which
# are on file systems of their own if asked for
on_overlay() {
	mkdir "$T/layers" "$T/mounted"
	mount -t tmpfs tmpfs "$T/layers" 2>"$T/mount.err" || skip "cannot mount here: $(cat "$T/mount.err")"
	trap 'cd /; umount "$T/mounted" 2>/dev/null || :; umount -R "$T/layers"' EXIT
	layer_fs=${1:-} layer_options=${2:-rw} layers='' layer=0
	new_layer
}

# new_layer: what is in the worktree is in a lower layer from here on, as after docker commit
new_layer() {
	cd /
	test -z "$layers" || umount "$T/mounted"
	layer=$((layer + 1))
	mkdir "$T/layers/$layer"
	test -z "$layer_fs" || mount -t "$layer_fs" -o "$layer_options" "$layer_fs" "$T/layers/$layer"
	mkdir "$T/layers/$layer/upper" "$T/layers/$layer/work" "$T/layers/none" 2>/dev/null || :
	mount -t overlay overlay \
		-o "lowerdir=${layers:-$T/layers/none},upperdir=$T/layers/$layer/upper,workdir=$T/layers/$layer/work" \
		"$T/mounted" 2>"$T/mount.err" || skip "cannot mount an overlay here: $(cat "$T/mount.err")"
	layers=$T/layers/$layer/upper${layers:+:$layers}
	cd "$T/mounted"
}

test_all_ways() {
	on_overlay
	all_ways new_layer
}

test_all_ways_with_layers_on_other_file_systems() {
	on_overlay tmpfs
	all_ways new_layer
}

# A file of a lower layer is copied into the upper one before it is renamed; what was displaced
# before it makes room.
test_less_room_than_all_that_goes_takes() {
	on_overlay tmpfs size=3m
	for file in a b; do
		echo old >$file
	done
	save
	note target
	for part in 1 2 3; do
		for file in 1 2 3; do
			head -c 700000 /dev/urandom >$part-$file
		done
		new_layer
	done
	echo new >a
	head -c 700000 /dev/urandom >b
	new_layer
	note before
	restore "$id"
	expect_noted target
	no_litter
	# from here on it is more than there is room for
	restoring 128 undo -y
	expect_noted target
	no_litter
}

# killed when two of three are gone, which fill the upper layer
test_an_interrupted_restore_with_little_room() {
	for way in --continue --abort; do
		on_overlay tmpfs size=3m
		echo old >a
		save
		note target
		echo new >a
		for file in 1 2 3; do
			head -c 900000 /dev/urandom >$file
		done
		new_layer
		note before
		FAULT_PATH=$T/mounted expect_exit 137 with_faults rename 4 kill git-checkpoint restore -q -y "$id"
		expect_exists a 1
		expect_missing 2 3
		restoring 0 restore $way
		test $way = --abort || expect_noted target
		test $way = --continue || expect_noted before
		no_litter
		cd /
		umount "$T/mounted"
		umount -R "$T/layers"
		rm -r "$T/layers" "$T/mounted" "$T/state/git-checkpoint"
	done
	trap - EXIT
}

test_a_file_that_is_too_large_for_the_upper_layer() {
	on_overlay tmpfs size=9m
	echo old >a
	mkdir b
	save
	echo new >a
	rmdir b
	for file in b z; do
		head -c 4000000 /dev/urandom >$file
	done
	layer_options=size=3m
	new_layer
	note before
	restoring 5 restore -y "$id"
	refused "'b'" 'nothing was touched'
	expect_noted before
	no_litter
	restoring 5 restore -y "$id" z
	refused "'z'"
	restore "$id" a
	expect_eq old "$(cat a)"
	# perhaps it is in the upper one
	restoring 128 restore -y --force "$id"
	mount -o remount,size=9m "$T/layers/2"
	restoring 0 restore --abort
	no_litter
	expect_exists z
}

run_tests
