#!/bin/sh
# SPDX-License-Identifier: MIT
# Other file systems within the worktree: saved, but a restore has to leave them.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id= # of the checkpoint that was saved last
WHY='another file system'

# mounted <mount argument>... <point>: for this case alone
mounted() {
	test "$(id -u)" = 0 || skip 'needs root'
	mount "$@" 2>/dev/null || skip 'cannot mount'
	shift $(($# - 1))
	echo "$(pwd -P)/$1" >>"$T/points"
	trap unmount EXIT
}

unmount() {
	cd /
	sort -r "$T/points" | while read -r point; do
		umount "$point"
	done
}

tmpfs() {
	mkdir "$1"
	mounted -t tmpfs none "$1"
}

save_warnings() {
	json '[.warnings[] | . + "\n"] | add // ""' "$T/save.json" | sed '/^$/d' >"$T/warnings"
}

# expect_mounts <path>...: just these are named by the last save
expect_mounts() {
	for path; do
		echo "'$path' is another file system: it is saved, but a restore cannot change it; restore --force restores the rest"
	done >"$T/expected"
	save_warnings
	expect_same "$T/expected" "$T/warnings"
}

# two_states: a checkpoint $first with m/changed, m/gone, m/sub/gone; now different
two_states() {
	mkdir m/sub
	for file in plain m/changed m/gone m/sub/gone; do
		echo 1 >$file
	done
	save
	first=$id
	echo 2 >plain
	echo 2 >m/changed
	echo 2 >m/fresh
	rm -r m/gone m/sub
	note before
}

# left: m is as two_states left it, plain is restored
left() {
	expect_eq 1 "$(cat plain)"
	expect_eq 2 "$(cat m/changed)"
	expect_eq 2 "$(cat m/fresh)"
	expect_missing m/gone m/sub
}

expect_all_or_rest() {
	restoring 5 restore --yes "$first"
	refused 'is on a different file system from the worktree' '--force'
	expect_noted before
	restoring 3 restore --yes --force "$first"
	expect_eq true "$(told .verification.match)"
	left
	for path in m/changed m/fresh m/gone m/sub; do
		expect_warned "Kept: $path ($WHY)"
	done
	expect_reverted modify plain
	restoring 0 undo -y
	expect_noted before
	restoring 0 redo -y
	left
	# undo does what it can, too
	echo 3 >m/changed
	restoring 3 undo -y
	expect_eq 2 "$(cat plain)"
	expect_eq 3 "$(cat m/changed)"
	expect_warned "Kept: m/changed ($WHY)"
	no_litter
}

test_a_mounted_file_system_is_named_and_left() {
	tmpfs m
	two_states
	expect_mounts m
	expect_all_or_rest
}

test_a_part_of_the_same_file_system_bound_a_second_time() {
	mkdir "$T/bound" m
	mounted --bind "$T/bound" m
	two_states
	expect_mounts m
	expect_all_or_rest
}

test_nothing_is_refused_if_nothing_there_has_to_change() {
	tmpfs m
	two_states
	echo 1 >m/changed
	rm m/fresh
	echo 1 >m/gone
	mkdir m/sub
	echo 1 >m/sub/gone
	restore "$first"
	expect_eq 1 "$(cat plain)"
	expect_not_warned "$WHY"
	echo 3 >plain
	echo 3 >m/changed
	restore "$first" plain
	expect_eq 1 "$(cat plain)"
	expect_eq 3 "$(cat m/changed)"
}

test_one_that_was_not_there() {
	echo 1 >plain
	save
	tmpfs m
	echo 2 >m/file
	mkdir m/empty
	echo 2 >plain
	restoring 5 restore --yes "$id"
	restoring 3 restore --yes --force "$id"
	expect_eq 1 "$(cat plain)"
	expect_eq 2 "$(cat m/file)"
	expect_warned "Kept: m/file ($WHY)"
	expect_warned "Kept: m ($WHY)"
	# nothing in it: it does not belong to the tree
	rm m/file
	echo 2 >plain
	restore "$id"
	told "[.warnings[] | select(startswith(\"Kept\"))] | length" | grep -qx 0
	expect_reverted modify plain
	mountpoint -q m
}

test_a_file_that_is_mounted() {
	echo bound >"$T/bound"
	echo 1 >m
	echo 1 >plain
	save
	mounted --bind "$T/bound" m
	echo 2 >plain
	restoring 5 restore --yes "$id"
	restoring 3 restore --yes --force "$id"
	expect_eq 1 "$(cat plain)"
	expect_eq bound "$(cat m)"
	expect_warned "Kept: m ($WHY)"
	save
	expect_mounts m
}

test_one_in_a_directory_that_would_make_room() {
	echo 1 >d
	echo 1 >plain
	save
	rm d
	mkdir -p d/deep
	tmpfs d/deep/m
	echo 2 >d/deep/m/file
	echo 2 >plain
	restoring 5 restore --yes "$id"
	restoring 3 restore --yes --force "$id"
	expect_eq 1 "$(cat plain)"
	expect_eq 2 "$(cat d/deep/m/file)"
	expect_warned "Kept: d ($WHY)"
	no_litter
}

test_one_that_is_left_out_is_not_named() {
	tmpfs 'odd name'
	tmpfs ignored
	echo 1 >'odd name/file'
	echo 1 >ignored/file
	echo /ignored/ >.gitignore
	save
	expect_mounts 'odd name'
	save
	expect_mounts 'odd name'
}

test_what_a_rule_leaves_out_now_and_has_not_changed_is_no_reason() {
	tmpfs m
	mkdir m/sub
	echo 1 >m/file
	echo 1 >m/sub/file
	echo 1 >plain
	save
	printf '%s\n' /m/file /m/sub/ >.gitignore
	echo 2 >plain
	restore "$id"
	expect_eq 1 "$(cat plain)"
	expect_missing .gitignore
	expect_eq '1 1' "$(contents m/file m/sub/file)"
}

run_tests
