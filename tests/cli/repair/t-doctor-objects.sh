#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor: packs, their indexes and the contents in them, damaged or gone.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/doctor.sh"

first='' home='' id='' second='' store='' third='' # see three.sh

test_a_pack_without_index() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	rm -f "$pack.idx"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' has no index; all its objects can be read" "$T/problems"
	doctor 0 --fix
	sound
	expect_three
}

test_a_damaged_index() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	cp "$pack.idx" "$T/idx"
	for at in $(one_of 5 1100 1200); do
		cp -f "$T/idx" "$pack.idx"
		flip "$pack.idx" $at
		doctor 1
		expect_grep "the pack '${pack##*/}' has a damaged index" "$T/problems"
		doctor 0 --fix
		sound
		expect_three
		pack=$(pack_of "$(object "refs/checkpoints/$second")")
	done
}

test_an_index_without_pack() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")")
	rm -f "$pack.pack"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' is gone" "$T/problems"
	doctor 1 --fix
	expect_grep "^true the pack '${pack##*/}' is gone" "$T/problems"
	expect_grep "^false 1 checkpoint is lost: nothing of it is in the store any more; it is '$second'; taken off the list" "$T/problems"
	expect_missing "$pack.idx"
	# the others are untouched by that, or stored again
	git-checkpoint verify -q "$first" "$third"
}

# The checksum is wrong and an object, which is still in the worktree, is lost.
test_contents_are_stored_again() {
	three
	damage "$(object "refs/checkpoints/$second:d/two")" 40
	expect_exit 1 git-checkpoint verify --all >/dev/null
	doctor 1
	expect_grep '^false the pack .* is damaged; 1 of its' "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged.*d/two" "$T/problems"
	doctor 0 --fix
	expect_grep "^true checkpoint '$second' is damaged.*it was stored again from the worktree" "$T/problems"
	expect_grep "^true checkpoint '$third' is damaged" "$T/problems"
	sound
	expect_three
}

test_contents_are_lost() {
	three
	damage "$(object "refs/checkpoints/$second:d/one")" 40
	doctor 1 --fix
	expect_grep "^false checkpoint '$first' is damaged.*d/one.*cannot be fixed" "$T/problems"
	expect_grep "^false checkpoint '$second' is damaged.*d/one" "$T/problems"
	expect_no_grep "'$third'" "$T/problems"
	# its remains are kept, and everything that could be read
	expect_exists "$store"/checkpoint/damaged/*.pack
	git-checkpoint verify -q "$third"
	restore "$second" -- d/two
	doctor 1
	expect_grep "^false checkpoint '$first' is damaged" "$T/problems"
}

test_a_cut_pack() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$third")")
	chmod u+w "$pack.pack"
	truncate -s -10 "$pack.pack"
	doctor 1
	expect_grep "^false the pack '${pack##*/}' is damaged; all its objects can be read" "$T/problems"
	doctor 0 --fix
	sound
	expect_three
}

# As stock git packs: with deltas.
test_a_damaged_pack_of_git() {
	three
	seq 1 3000 >d/long
	save
	echo more >>d/long
	save
	describe >"$T/three"
	git --git-dir="$store" repack -q -a -d -f
	for pack in "$store"/objects/pack/*.pack; do
		git verify-pack -v "$pack" >"$T/verified"
		expect_grep 'chain length' "$T/verified"
		rm -f "${pack%.pack}.idx"
	done
	doctor 0 --fix
	expect_grep '^true the pack .* has no index; all its objects can be read' "$T/problems"
	sound
	expect_three
}

# Nothing says where the object after a damaged one begins, but it can be found.
test_a_damaged_pack_without_index() {
	three
	for i in 1 2 3 4 5 6 7 8 9; do
		seq $i$i 4000 >d/long$i
	done
	save
	long=$(object "refs/checkpoints/$id:d/long5")
	pack=$(pack_of "$long")
	cp "$pack.idx" "$T/idx"
	cp "$pack.pack" "$T/pack"
	for at in $(one_of 0 1 3 40 1000 3000); do
		cp -f "$T/idx" "$pack.idx"
		cp -f "$T/pack" "$pack.pack"
		damage "$long" "$at"
		rm -f "$pack.idx"
		doctor 1
		expect_grep "^false the pack '${pack##*/}' is damaged; 1 of its [0-9]* objects cannot be read" \
			"$T/problems"
	done
	doctor 0 --fix
	expect_grep "^true the pack '${pack##*/}' is damaged; 1 of its" "$T/problems"
	git-checkpoint verify -q --all
	sound
}

# One sentence for all of them, from every reader, and settled as one; no log entry lets a remote prune them.
test_nothing_is_left() {
	three
	git-checkpoint pin -q "$first"
	rm -rf "$store/objects"
	lost='3 checkpoints are lost: nothing of them is in the store any more'
	for reader in list 'list -n 1' status 'grep x'; do
		# shellcheck disable=SC2086
		git-checkpoint $reader >"$T/out" 2>"$T/err" || :
		expect_eq "warning: 'objects' of the store is missing; the next save repairs it
warning: $lost; 'git checkpoint doctor --fix' takes them off the list" "$(grep '^warning' "$T/err")"
	done
	expect_exit 128 git-checkpoint show @ >"$T/out" 2>"$T/err"
	expect_grep "^fatal: the checkpoints are lost; 'git checkpoint doctor' says how many" "$T/err"
	doctor 1
	expect_eq 1 "$(grep -c 'checkpoints\{0,1\} .*lost' "$T/problems")"
	expect_grep "^false $lost; the newest is '$third'" "$T/problems"
	doctor 1 --fix
	expect_grep "^false $lost; the newest is '$third'; taken off the list" "$T/problems"
	sound
	expect_eq '' "$(describe)"
	expect_eq '3 lost' "$(git-checkpoint log --json | jq -r '.entries[].action' | sort | uniq -c |
		sed -n 's/^ *\(.* lost\)$/\1/p')"
	save -m four
	sound
	git-checkpoint verify -q --all
}

# What cannot be read now is not gone.
test_a_pack_that_cannot_be_read() {
	three
	pack=$(pack_of "$(object "refs/checkpoints/$second")").pack
	give_to_nobody . "$home"
	cp "$pack" "$T/pack"
	chmod 0 "$pack"
	expect_exit 1 as_nobody git-checkpoint doctor --fix >"$T/out" 2>"$T/err"
	expect_grep "^problem: the pack '.*' cannot be read: Permission denied" "$T/out"
	as_nobody chmod 0 "${pack%.pack}.idx"
	expect_exit 1 as_nobody git-checkpoint doctor --fix >"$T/out" 2>"$T/err"
	expect_grep "^problem: 1 checkpoint is lost: .*; packs that cannot be read may have more" "$T/out"
	as_nobody chmod 0400 "${pack%.pack}.idx"
	as_nobody chmod 0400 "$pack"
	expect_same "$T/pack" "$pack"
	as_nobody git-checkpoint doctor --fix >"$T/out" 2>"$T/err"
	expect_three
}

run_tests
