#!/bin/sh
# SPDX-License-Identifier: MIT
# What is kept: automatic checkpoints never push out what somebody asked for, and thin out with age.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"
. "$LIB_DIR/retain.sh"

id= # of the checkpoint that was saved last

# step <n>: as an agent's hook does it
step() {
	echo "$1" >a
	git-checkpoint save -q --automatic -m "$1"
}

# count <jq condition>: checkpoints of which it is true
count() {
	git-checkpoint list --json >"$T/list.json"
	json "[.checkpoints[] | select($1)] | length" "$T/list.json"
}

test_sixty_steps_of_an_agent_leave_what_was_asked_for() {
	made 'before the refactoring'
	asked=$id
	n=0
	while test $n -lt 60; do
		n=$((n + 1))
		step $n
	done
	expect_eq 61 "$(count true)"
	restoring 0 restore -y "$asked"
	expect_eq 'before the refactoring' "$(cat a)"
	store_sound
}

test_five_hundred_steps_and_five_of_a_person() {
	n=0
	while test $n -lt 500; do
		n=$((n + 1))
		step $n
		test $((n % 100)) -ne 50 || made "mine-$n"
	done
	expect_eq 5 "$(count '.reason | startswith("mine-")')"
	expect_eq 205 "$(count true)"
	expect_eq 301 "$(json '[.checkpoints[].reason | tonumber? ] | min' "$T/list.json")"
	logged evict >"$T/evicted"
	expect_eq 300 "$(grep -c ' maxAutomatic 200$' "$T/evicted")"
	expect_eq 300 "$(wc -l <"$T/evicted" | tr -d ' ')"
	store_sound
}

# Asked for when nothing changed since an automatic one: that one would thin out.
test_what_is_asked_for_does_not_rely_on_an_automatic_one() {
	for command in 'save' 'save -m 1' 'run -- true'; do
		rm -rf "$(store_dir)"
		GIT_CHECKPOINT_MAX_AUTOMATIC=2
		export GIT_CHECKPOINT_MAX_AUTOMATIC
		step 1
		# shellcheck disable=SC2086
		git-checkpoint $command
		expect_eq 1 "$(count '.automatic | not')" "$command"
		# once is enough
		git-checkpoint save -q
		git-checkpoint save -q --automatic
		expect_eq 2 "$(count true)" "$command"
		for n in 2 3 4; do
			step $n
		done
		expect_eq 1 "$(count '.automatic | not')" "$command"
		git-checkpoint restore -q --yes @~2
		expect_eq 1 "$(cat a)" "$command"
	done
	# one that stays for good is enough
	rm -rf "$(store_dir)"
	step 5
	git-checkpoint pin -q @
	git-checkpoint save -q
	expect_eq 1 "$(count true)"
}

test_those_asked_for_do_not_push_out_automatic_ones() {
	GIT_CHECKPOINT_MAX_COUNT=2 GIT_CHECKPOINT_MAX_AUTOMATIC=3
	export GIT_CHECKPOINT_MAX_COUNT GIT_CHECKPOINT_MAX_AUTOMATIC
	for n in 1 2 3 4; do
		step auto$n
	done
	for n in 1 2 3; do
		made mine$n
	done
	expect_eq 'auto2 auto3 auto4 mine2 mine3' "$(reasons)"
	step auto5
	expect_eq 'auto3 auto4 mine2 mine3 auto5' "$(reasons)"
	# the limits of the command line
	restoring 0 prune -n --max-automatic 1
	expect_eq 'auto3 auto4' "$(told_gone)"
	expect_eq 'maxAutomatic 1' "$(told '.removed[0].why')"
	restoring 0 prune --max-count 1 --max-automatic 2
	expect_eq 'mine3 auto5' "$(reasons | sed 's/auto4 //')"
	expect_eq 3 "$(count true)"
	# what is removed by name is not counted any more
	git-checkpoint drop -q "$(json '.checkpoints[-1].id' "$T/list.json")"
	step auto6
	step auto7
	expect_eq 'mine3 auto5 auto6 auto7' "$(reasons)"
	step auto8
	expect_eq 'mine3 auto6 auto7 auto8' "$(reasons)"
	store_sound
}

test_the_first_eviction_is_told_once() {
	GIT_CHECKPOINT_MAX_COUNT=2 GIT_CHECKPOINT_MAX_AUTOMATIC=1
	export GIT_CHECKPOINT_MAX_COUNT GIT_CHECKPOINT_MAX_AUTOMATIC
	made 1
	first=$id
	for n in 2 3 4; do
		echo $n >a
		git-checkpoint save --automatic -m $n 2>"$T/err"
		expect_eq '' "$(cat "$T/err")" 'automatic ones go without a word'
	done
	made 5
	# quiet ones say nothing, and so it is still to be said
	echo 6 >a
	git-checkpoint save -q -m 6 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_eq '4 5 6' "$(reasons)"
	second=$(json '.checkpoints[1].id' "$T/list.json")
	echo 7 >a
	git-checkpoint save --json -m 7 >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	said "$T/out" >"$T/err"
	expect_eq 1 "$(wc -l <"$T/err" | tr -d ' ')"
	expect_grep "^warning: $second (maxCount 2) was removed.*pin.*maxCount" "$T/err"
	test "$first" != "$second"
	echo 8 >a
	git-checkpoint save -m 8 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	# another store, another first time
	mkdir "$T/other"
	cd "$T/other"
	for n in 1 2 3; do
		echo $n >a
		git-checkpoint run -- true 2>"$T/err"
	done
	expect_grep '(maxCount 2) was removed' "$T/err"
}

# A hook, a restore and a workflow count as automatic, a script with --source does not.
test_who_is_automatic() {
	GIT_CHECKPOINT_MAX_COUNT=1 GIT_CHECKPOINT_MAX_AUTOMATIC=1
	export GIT_CHECKPOINT_MAX_COUNT GIT_CHECKPOINT_MAX_AUTOMATIC
	made mine
	echo hook >a
	git init -q
	git-checkpoint hook pre-rebase main 2>"$T/err"
	expect_eq 'mine pre-rebase' "$(reasons)"
	made script --source ci
	expect_eq 'pre-rebase script' "$(reasons)"
	made pre-tool --source claude-code --automatic
	expect_eq 'script pre-tool' "$(reasons)"
	store_sound
}

# at <time> <reason> [<option>...]: saved then
at() {
	at_when=$1 at_reason=$2
	shift 2
	echo "$at_reason" >a
	fake "$at_when" git-checkpoint save -q -m "$at_reason" "$@"
}

# left_at <time>: what prune leaves then
left_at() {
	fake "$1" git-checkpoint prune -q
	reasons
}

test_automatic_ones_thin_out_with_age() {
	require faketime
	at '2026-06-10 08:00:00' mine
	at '2026-06-10 09:01:00' a1 --automatic
	at '2026-06-10 09:02:00' a2 --automatic
	at '2026-06-10 09:08:00' a3 --automatic
	at '2026-06-10 09:12:00' a4 --automatic
	at '2026-06-10 10:05:00' a5 --automatic
	at '2026-06-10 10:06:00' a6 --automatic --pin
	at '2026-06-10 11:00:30' a7 --automatic
	expect_eq 'mine a1 a2 a3 a4 a5 a6 a7' "$(reasons)"
	# a1 and a2 are older than two hours now; a save does it, too
	at '2026-06-10 11:05:00' last
	expect_eq 'mine a2 a3 a4 a5 a6 a7 last' "$(reasons)"
	expect_eq 'thinAutomatic 10m:1d' "$(logged evict | cut -d' ' -f2-)"
	expect_eq 'mine a3 a4 a5 a6 a7 last' "$(left_at '2026-06-10 11:15:00')"
	expect_eq 'mine a3 a4 a6 a7 last' "$(left_at '2026-06-10 20:00:00')"
	# one an hour after a day
	expect_eq 'mine a4 a6 a7 last' "$(left_at '2026-06-11 20:00:00')"
	# one a day after a week
	expect_eq 'mine a6 a7 last' "$(left_at '2026-06-18 00:00:00')"
	# none after a month
	expect_eq 'mine a6 last' "$(left_at '2026-07-12 00:00:00')"
	logged prune >"$T/out"
	expect_eq 'thinAutomatic, older than 30d' "$(tail -n 1 "$T/out" | cut -d' ' -f2-)"
	store_sound
}

test_thinning_is_a_matter_of_settings() {
	require faketime
	for n in 1 2 3 4 5 6; do
		at "2026-06-10 09:0$n:20" $n --automatic
	done
	at '2026-06-10 09:30:00' last
	GIT_CHECKPOINT_THIN_AUTOMATIC=none
	export GIT_CHECKPOINT_THIN_AUTOMATIC
	expect_eq '1 2 3 4 5 6 last' "$(left_at '2027-01-01 00:00:00')"
	GIT_CHECKPOINT_THIN_AUTOMATIC=2m:5d
	expect_eq '1 2 3 4 5 6 last' "$(left_at '2026-06-10 10:00:00')"
	GIT_CHECKPOINT_KEEP_ALL_AUTOMATIC=28m
	export GIT_CHECKPOINT_KEEP_ALL_AUTOMATIC
	expect_eq '1 3 4 5 6 last' "$(left_at '2026-06-10 09:31:50')"
	# --expired alone is about nothing else
	fake '2027-01-01 00:00:00' git-checkpoint prune -q --expired
	expect_eq '1 3 4 5 6 last' "$(reasons)"
	expect_eq last "$(left_at '2027-01-01 00:00:00')"
	store_sound
}

test_what_undo_needs_and_what_was_meant_last_stay() {
	require faketime
	at '2026-06-10 09:00:00' mine
	at '2026-06-10 09:01:00' a1 --automatic
	at '2026-06-10 09:02:00' a2 --automatic
	echo unsaved >a
	fake '2026-06-10 09:03:00' git-checkpoint restore -q -y @~2
	# a2 is what "@" means, though older than any range and followed by a safety checkpoint
	expect_eq 'mine a2 pre-restore-safety' "$(left_at '2026-09-01 00:00:00')"
	fake '2026-09-01 00:00:00' git-checkpoint undo -q -y
	expect_eq unsaved "$(cat a)"
	store_sound
}

# For bytes automatic ones go first.
test_the_budget_is_over_all() {
	GIT_CHECKPOINT_MAX_SIZE=3m GIT_CHECKPOINT_COMPRESSION=0
	export GIT_CHECKPOINT_MAX_SIZE GIT_CHECKPOINT_COMPRESSION
	for n in mine1 auto1 auto2 mine2 auto3; do
		head -c 500000 /dev/urandom >a
		case $n in
		auto*) git-checkpoint save -q --automatic -m $n ;;
		*) git-checkpoint save -q -m $n ;;
		esac
	done
	expect_eq 'mine1 auto1 auto2 mine2 auto3' "$(reasons)"
	head -c 1000000 /dev/urandom >a
	git-checkpoint save -q --automatic -m auto4
	reasons >"$T/left"
	expect_grep 'mine1 .*mine2 .*auto4' "$T/left"
	expect_no_grep auto1 "$T/left"
	store_sound
}

run_tests
