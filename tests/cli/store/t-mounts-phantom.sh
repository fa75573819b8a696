#!/bin/sh
# SPDX-License-Identifier: MIT
# What a sandbox mounts over paths to hide them does not belong to the tree: empty mounts, and devices.

. "$(dirname "$0")/../../lib/harness.sh"

# hidden <script>: in a mount namespace of its own
hidden() {
	test "$(id -u)" = 0 || skip 'needs root'
	unshare -m true 2>/dev/null || skip 'cannot unshare mounts'
	unshare -m sh -ec "$1"
}

project() {
	git init -q
	mkdir -p .aws dir/hidden full same
	echo 1 >.aws/key
	echo 1 >dir/hidden/file
	echo 1 >dir/file
	echo 1 >full/file
	echo 1 >plain
	echo 1 >same/file
	mkdir "$T/nothing" "$T/something"
	: >"$T/empty"
	echo other >"$T/something/other"
	export T
}

MOUNTS='mount -t tmpfs none .aws
	mount --bind "$T/nothing" dir/hidden
	mount --bind "$T/empty" dir/file
	mount --bind /dev/null plain
	mount --bind "$T/something" full
	mount --bind same same'

files() {
	git checkpoint show --files "$1" | sort | xargs
}

test_empty_mounts_and_devices_are_left_out_and_named() {
	project
	hidden "$MOUNTS
		git checkpoint save --json >\"\$T/json\""
	expect_eq '[".aws","mount"] ["dir/file","mount"] ["dir/hidden","mount"] ["plain","special"]' \
		"$(jq -c '.skipped[] | [.file, .why]' "$T/json" | xargs -d '\n')"
	for path in .aws dir/file dir/hidden; do
		jq -e --arg path "$path" '.warnings | any(. == "'"'"'" + $path + "'"'"' is an empty mount and was left out")' "$T/json"
	done
	# any other is captured
	expect_eq 'dir/ full/other same/file' "$(files @)"
	# and nothing of it stays in the caches
	git checkpoint save -q
	expect_eq '.aws/key dir/file dir/hidden/file full/file plain same/file' "$(files @)"
	git checkpoint verify -q --all
}

test_a_cache_of_the_open_tree_knows_nothing_of_the_sandbox() {
	project
	# old enough for the names of directories to be taken from the cache
	find . -exec touch -h -d '1 hour ago' {} +
	git checkpoint save -q
	git checkpoint save -q
	hidden "$MOUNTS
		git checkpoint save -q
		git checkpoint save -q"
	expect_eq 'dir/ full/other same/file' "$(files @)"
	git checkpoint save -q
	expect_eq '.aws/key dir/file dir/hidden/file full/file plain same/file' "$(files @)"
	git checkpoint save --json | jq -e '.skipped == []' >/dev/null
	git checkpoint verify -q --all
}

test_a_restore_leaves_what_is_hidden() {
	project
	git checkpoint save -q
	id=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	echo 2 >same/file
	export id
	# what the checkpoint has cannot come back where something is mounted
	hidden "mount --bind \"\$T/nothing\" dir/hidden
		git checkpoint restore --yes --force \"\$id\" >/dev/null 2>&1 || test \$? = 3
		test \"\$(cat same/file)\" = 1"
	expect_eq 1 "$(cat dir/hidden/file)"
	# nor does anything go because a checkpoint did not see it
	hidden "mount --bind \"\$T/nothing\" dir/hidden
		echo 3 >same/file
		git checkpoint save -q"
	git checkpoint restore --yes @ >"$T/out" 2>&1
	expect_eq 1 "$(cat dir/hidden/file)"
	expect_grep 'Kept: dir/hidden (left out of the checkpoint as mount)' "$T/out"
}

run_tests
