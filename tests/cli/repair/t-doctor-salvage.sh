#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor: stores in which something else stands in the place of what is ours are repaired where they are.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/doctor.sh"

first='' second='' store='' third='' # see three.sh

test_of_another_worktree() {
	three
	printf %s "$T/elsewhere" >"$store/checkpoint/worktree"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	doctor 1
	expect_grep "^false the store .* belongs to '$T/elsewhere'" "$T/problems"
	doctor 1 --fix
	expect_eq "$T/elsewhere" "$(cat "$store/checkpoint/worktree")"
	echo "git-checkpoint 9" >"$store/checkpoint/version"
	doctor 1 --fix
	expect_grep "^false the store .* has format '9'" "$T/problems"
}

# --- something else in the place of what is ours ---

# no_use <way>: nothing can be read or written as it is
no_use() {
	case $1 in
	refs)
		rm -r "$store/refs"
		: >"$store/refs"
		;;
	lock)
		rm "$store/checkpoint/lock"
		mkdir -p "$store/checkpoint/lock/x"
		;;
	private)
		rm -r "$store/checkpoint"
		echo x >"$store/checkpoint"
		;;
	head)
		rm "$store/HEAD"
		mkdir "$store/HEAD"
		;;
	esac
}

# With a save before the repair or without, all three come back.
test_repaired_where_it_is() {
	three
	git-checkpoint gc -q
	cp -a "$store" "$T/keep"
	for way in refs lock private head; do
		rm -rf "${store:?}"
		cp -a "$T/keep" "$store"
		no_use $way
		doctor 1
		expect_grep "^false '.*' of the store is not a\|^false '.*' of the store is a dir" "$T/problems"
		doctor 0 --fix
		sound
		expect_three
		rm -rf "${store:?}"
		cp -a "$T/keep" "$store"
		no_use $way
		git-checkpoint save -q --allow-empty -m "$way" 2>"$T/err"
		expect_grep '^warning: .* the next save repairs it' "$T/err"
		doctor 0 --fix
		sound
		describe | grep -F -f "$T/three" >"$T/now"
		expect_same "$T/three" "$T/now"
		expect_eq 4 "$(describe | grep -c .)"
		git-checkpoint verify -q --all
		git --git-dir="$store" fsck --strict
	done
}

# Whoever can read nothing says so, and what to do.
test_readers_refuse_what_they_cannot_read() {
	three
	no_use refs
	expect_exit 128 git-checkpoint list 2>"$T/err"
	expect_grep "^warning: 'refs' of the store is not a directory" "$T/err"
	restoring 128 restore --yes "$first"
}

test_a_file_where_the_store_was() {
	three
	rm -r "$store"
	echo x >"$store"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	expect_grep 'is not a directory.*doctor --fix' "$T/err"
	doctor 1
	save -m new 2>"$T/err"
	expect_eq x "$(cat "$store.damaged")"
	sound
	rm -r "$store"
	echo y >"$store"
	doctor 0 --fix
	expect_eq y "$(cat "$store.damaged")"
}

# Damage besides is confined to the checkpoints that it hit.
test_damage_is_confined() {
	three
	damage "$(object "refs/checkpoints/$first:d/one")" 40
	no_use head
	doctor 1 --fix
	expect_grep "^false checkpoint '$first' is damaged" "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged" "$T/problems"
	git-checkpoint verify -q "$third"
}

# Many at the same time: all save into the same store.
test_many_repair_at_once() {
	three
	no_use lock
	for n in 1 2 3 4 5 6; do
		git-checkpoint save -q --allow-empty -m "$n" 2>"$T/err.$n" &
	done
	wait
	cat "$T"/err.*
	expect_eq 9 "$(describe | grep -c .)"
	sound
}

run_tests
