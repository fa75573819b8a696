#!/bin/sh
# SPDX-License-Identifier: MIT
# Worktrees in containers: on an overlay, where a directory of a lower layer cannot be renamed, and
# where a file becomes another when it is first written, renamed or given another mode.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/elsewhere.sh"

id= # of the checkpoint that was saved last

# on_overlay [tmpfs]: the current directory becomes a worktree on one, the layers of which are on
# two file systems if asked for
on_overlay() {
	mkdir "$T/layers" "$T/mounted"
	mount -t tmpfs tmpfs "$T/layers" 2>"$T/mount.err" || skip "cannot mount here: $(cat "$T/mount.err")"
	trap 'cd /; umount "$T/mounted" 2>/dev/null; umount -R "$T/layers"' EXIT
	layer_fs=${1:-} layers='' layer=0
	new_layer
}

# new_layer: what is in the worktree is in a lower layer from here on, as after docker commit
new_layer() {
	cd /
	test -z "$layers" || umount "$T/mounted"
	layer=$((layer + 1))
	mkdir "$T/layers/$layer"
	test -z "$layer_fs" || mount -t "$layer_fs" "$layer_fs" "$T/layers/$layer"
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

run_tests
