#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor: stores that are of no use are set aside, and what is in them is brought back.

. "$(dirname "$0")/../lib/harness.sh"
. "$LIB_DIR/doctor.sh"

first='' home='' key='' second='' store='' third='' # see three.sh

test_of_another_worktree() {
	three
	printf %s "$T/elsewhere" >"$store/checkpoint/worktree"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	doctor 1
	expect_grep "^false the store .* belongs to '$T/elsewhere'" "$T/problems"
	doctor 1 --fix
	expect_eq "$T/elsewhere" "$(cat "$store/checkpoint/worktree")"
	echo 9 >"$store/checkpoint/version"
	doctor 1 --fix
	expect_grep "^false the store .* has format '9'" "$T/problems"
}

# --- set aside ---

# no_use <way>: make the store impossible to fix
no_use() {
	case $1 in
	refs)
		rm -r "$store/refs"
		: >"$store/refs"
		;;
	lock)
		rm "$store/checkpoint/lock"
		mkdir "$store/checkpoint/lock"
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

test_names_are_salvaged() {
	three
	git-checkpoint pin -q --name good "$first"
	git-checkpoint pin -q --name better "$second"
	no_use lock
	# one is given again before the others are back
	git-checkpoint save -q -m new --name better --allow-empty 2>"$T/err"
	doctor 0 --fix
	git-checkpoint list --json >"$T/list"
	expect_eq "good $first" "$(jq -r '.checkpoints[] | select(.name == "good") | "\(.name) \(.id)"' "$T/list")"
	expect_eq 'better new' "$(jq -r '.checkpoints[] | select(.name == "better") | "\(.name) \(.reason)"' "$T/list")"
	expect_eq true "$(jq -r --arg id "$second" '.checkpoints[] | select(.id == $id).pinned' "$T/list")"
}

test_set_aside_and_salvaged() {
	three
	git-checkpoint gc -q
	cp -a "$store" "$T/keep"
	for way in $(one_of refs lock private head); do
		rm -rf "${store:?}" "$store".*
		cp -a "$T/keep" "$store"
		no_use $way
		restoring 128 restore --yes "$first"
		refused 'is damaged' 'git checkpoint doctor --fix'
		doctor 1
		expect_grep "3 checkpoints of '$store' can be recovered" "$T/problems"
		expect_exists "$store"
		git-checkpoint save -m "$way" >"$T/out" 2>"$T/err"
		expect_grep "^warning: .*was set aside as '$store.broken-.*doctor --fix' recovers" "$T/err"
		git-checkpoint list >"$T/out" 2>"$T/err"
		expect_eq "1 " "$(grep -c . "$T/out") $(cat "$T/err")"
		doctor 1
		expect_grep "^false 3 checkpoints of '$store.broken-[0-9_]*' can be recovered" "$T/problems"
		doctor 0 --fix
		expect_grep "^true 3 checkpoints of .* were recovered" "$T/problems"
		sound
		describe | grep -F -f "$T/three" >"$T/now"
		expect_same "$T/three" "$T/now"
		git-checkpoint verify -q --all
		git --git-dir="$store" fsck --strict
		expect_eq 4 "$(describe | grep -c .)"
		expect_eq 1 "$(find "$home" -maxdepth 1 -name "$key.salvaged-*" | grep -c .)"
	done
}

# Without a save in between, straight from what cannot be used.
test_fix_sets_aside() {
	three
	no_use refs
	doctor 0 --fix
	sound
	expect_three
}

test_a_file_where_the_store_was() {
	three
	rm -r "$store"
	echo x >"$store"
	expect_exit 128 git-checkpoint list 2>"$T/err"
	expect_grep 'is not a directory.*doctor --fix' "$T/err"
	save -m new 2>"$T/err"
	expect_exists "$store".broken-*
	doctor 1
	doctor 0 --fix
	sound
}

# Damage in what was set aside is confined to the checkpoint that it hit.
test_salvage_of_a_damaged_one() {
	three
	damage "$(object "refs/checkpoints/$first:d/one")" 40
	no_use head
	doctor 1 --fix
	expect_grep "^false checkpoint '$first' of .* cannot be recovered" "$T/problems"
	expect_grep "^false checkpoint '$second' of .* cannot be recovered" "$T/problems"
	expect_grep "^true 1 checkpoint of .* was recovered" "$T/problems"
	expect_eq "$(grep "$third" "$T/three")" "$(describe)"
	sound
}

test_the_newest_five_are_kept() {
	three
	for n in 1 2 3 4 5 6 7; do
		no_use lock
		echo $n >n
		later "2026-01-0$n 00:00:00" git-checkpoint save -q -m "$n" 2>"$T/err"
	done
	find "$home" -maxdepth 1 -name "$key.broken-*" | sort | sed 's/.*broken-\(20260...\).*/\1/' |
		tr '\n' ' ' >"$T/kept"
	expect_eq '20260103 20260104 20260105 20260106 20260107 ' "$(cat "$T/kept")"
}

# Many at the same time: one of them sets it aside, all save into the new one.
test_many_set_aside_at_once() {
	three
	no_use lock
	for n in 1 2 3 4 5 6; do
		git-checkpoint save -q --allow-empty -m "$n" 2>"$T/err.$n" &
	done
	wait
	cat "$T"/err.*
	expect_eq 1 "$(find "$home" -maxdepth 1 -name "$key.broken-*" | grep -c .)"
	expect_eq 6 "$(describe | grep -c .)"
	expect_eq 1 "$(cat "$T"/err.* | grep -c 'was set aside')"
	doctor 0 --fix
	expect_eq 9 "$(describe | grep -c .)"
}

run_tests
