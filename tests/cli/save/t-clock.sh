#!/bin/sh
# SPDX-License-Identifier: MIT
# Ids sort in the order of saving, whatever the clock does; what it said is told as it was.

. "$(dirname "$0")/../../lib/harness.sh"

# at <time> <n>: save contents <n> at that time
at() {
	echo "$2" >a
	fake "$1" git-checkpoint save --json -m "$2" >"$T/saved.json"
	json .checkpoint.id "$T/saved.json" >>"$T/ids"
}

# in_order <n>...: list has these reasons, newest first, and so has the manifest, newest last
in_order() {
	expect_eq "$*" "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	sed -n 's/^| [0-9a-f]* | [^|]* | \([0-9]*\) | cli .*/\1/p' "$(store_dir)/checkpoint-manifest.md" |
		tac | tr '\n' ' ' >"$T/manifest"
	expect_eq "$* " "$(cat "$T/manifest")" manifest
}

# carries <id> <time, UTC>: the id has that time, give or take some minutes of a slow machine
carries() {
	id_time=$(date -u -d "$(echo "$1" | sed 's/chk_\(....\)\(..\)\(..\)_\(..\)\(..\)\(..\)_.*/\1-\2-\3 \4:\5:\6/')" +%s)
	off=$((id_time - $(date -u -d "$2" +%s)))
	test $off -ge 0 && test $off -lt 600 || fail "$1 does not carry $2"
}

# ids_sort: those of $T/ids, in the order of saving
ids_sort() {
	LC_ALL=C sort -u "$T/ids" >"$T/sorted"
	expect_same "$T/sorted" "$T/ids"
}

# what <name>: the reason of the checkpoint of that name
what() {
	git-checkpoint show --json "$1" | jq -r .reason
}

id_of() {
	sed -n "$1p" "$T/ids"
}

test_a_clock_that_goes_backwards_keeps_the_order() {
	require faketime
	at '2030-01-01 12:00:00' 1
	at '2030-01-01 11:00:00' 2
	at '2020-01-01 00:00:00' 3
	at '2030-01-01 11:59:59' 4
	at '2030-01-01 13:00:00' 5
	at '1999-12-31 23:59:59' 6
	in_order 6 5 4 3 2 1
	expect_eq 6 "$(what @)"
	expect_eq 3 "$(what @~3)"
	# what the clock said is told as it was
	expect_grep '^2020-01-01T00:00' "$(git-checkpoint list --json |
		jq -r '.checkpoints[] | select(.reason == "3").created_at' >"$T/when" && echo "$T/when")"
	ids_sort
	carries "$(id_of 4)" '2030-01-01 12:00:00'
	carries "$(id_of 5)" '2030-01-01 13:00:00'
	carries "$(id_of 6)" '2030-01-01 13:00:00'
	git-checkpoint doctor
}

# jumped: the clock is a year ahead for the second of four
jumped() {
	require faketime
	echo 1 >a
	git-checkpoint save -q -m 1
	echo 2 >a
	fake -f +365d git-checkpoint save -q -m 2
	for n in 3 4; do
		echo $n >a
		git-checkpoint save -q -m $n
	done
	git-checkpoint list --json | jq -r '.checkpoints | reverse[].id' >"$T/ids"
}

test_after_a_jump_ids_sort() {
	jumped
	in_order 4 3 2 1
	ids_sort
	test "$(git-checkpoint show --json @ | jq -r .created_at)" \< "$(date -u -d '+2 days' +%Y-%m-%d)"
	# the ids do not run away from the clock
	expect_eq "$(id_of 2 | cut -c 1-19)" "$(id_of 4 | cut -c 1-19)"
	for n in 0 1 2 3; do
		expect_eq $((4 - n)) "$(what "@~$n")"
	done
	expect_eq 4 "$(git --git-dir="$(store_dir)" show latest:a)"
	git-checkpoint show --patch @~1 >"$T/out"
	expect_grep '^-2$' "$T/out"
	git-checkpoint status --json >"$T/out"
	expect_eq "$(id_of 4)" "$(json .newest.id "$T/out")"
	git-checkpoint --complete git-checkpoint show chk_ | sed 's/^ *//; s/	.*//' >"$T/out"
	tac "$T/ids" >"$T/expected"
	expect_same "$T/expected" "$T/out"
	git-checkpoint verify --all --json | jq -r '.checkpoints[].id' >"$T/out"
	expect_same "$T/ids" "$T/out"
	git-checkpoint stores --json >"$T/out"
	test "$(json '.stores[0].last_used' "$T/out")" \< "$(date -u -d '+2 days' +%Y-%m-%d)"
	git-checkpoint doctor
	git-checkpoint verify -q --all
}

test_after_a_jump_restore_and_undo_lead_to_the_right_ones() {
	jumped
	echo 5 >a
	git-checkpoint restore -q --yes @
	expect_eq 4 "$(cat a)"
	git-checkpoint restore -q --yes @~2
	expect_eq 2 "$(cat a)"
	git-checkpoint undo -q --yes
	expect_eq 4 "$(cat a)"
	git-checkpoint redo -q --yes
	expect_eq 2 "$(cat a)"
	git-checkpoint undo -q --yes
	git-checkpoint undo -q --yes
	expect_eq 5 "$(cat a)"
	expect_eq 4 "$(what @)"
	git-checkpoint doctor
}

test_after_a_jump_an_unchanged_tree_takes_none() {
	jumped
	git-checkpoint save --json >"$T/out"
	expect_eq false "$(json .checkpoint_created "$T/out")"
	expect_eq "$(id_of 4)" "$(json .checkpoint.id "$T/out")"
}

test_after_a_jump_what_can_be_rebuilt_is() {
	jumped
	store=$(store_dir)
	git-checkpoint prune -q
	cp "$store/checkpoint-manifest.md" "$T/manifest.before"
	for round in save doctor; do
		rm -f "$store/checkpoint-manifest.md" "$store/checkpoint/cache"
		case $round in
		save) git-checkpoint save -q ;;
		doctor) git-checkpoint doctor -q --fix ;;
		esac
		expect_same "$T/manifest.before" "$store/checkpoint-manifest.md"
		in_order_of_list 4 3 2 1
		expect_eq 4 "$(what @)"
	done
	git-checkpoint doctor
}

in_order_of_list() {
	expect_eq "$*" "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
}

test_after_a_jump_the_oldest_taken_goes_first() {
	jumped
	git-checkpoint prune --max-count 3 -q
	in_order 4 3 2
	git-checkpoint prune --max-count 2 -q
	in_order 4 3
	# and a save does the same
	echo 5 >a
	GIT_CHECKPOINT_MAX_COUNT=2 git-checkpoint save -q -m 5
	in_order 5 4
	expect_eq 5 "$(what @)"
	git-checkpoint doctor
}

# The jumped one is gone; its followers, and new ones, keep their order.
test_after_a_jump_the_order_does_not_depend_on_the_jumped_one() {
	jumped
	git-checkpoint drop -q --yes "$(id_of 2)"
	in_order 4 3 1
	for n in 5 6; do
		echo $n >a
		git-checkpoint save -q -m $n
	done
	in_order 6 5 4 3 1
	fake -f +366d sh -c 'echo 7 >a; git-checkpoint save -q -m 7'
	in_order 7 6 5 4 3 1
	fake -f +300d sh -c 'echo 8 >a; git-checkpoint save -q -m 8'
	in_order 8 7 6 5 4 3 1
	git-checkpoint doctor
}

# Times are by the clock: the one that is dated a year ahead is not of ten minutes ago.
test_a_time_means_the_clock() {
	require faketime
	at '2030-01-01 12:00:00' 1
	at '2031-01-01 12:00:00' 2
	at '2030-01-01 12:10:00' 3
	at '2030-01-01 12:20:00' 4
	at_time() {
		fake '2030-01-01 12:25:00' git-checkpoint show --json "$1" | jq -r .reason
	}
	expect_eq 3 "$(at_time '@{10m}')"
	expect_eq 1 "$(at_time '@{20m}')"
	expect_eq 4 "$(at_time '@{1m}')"
	expect_eq 2 "$(fake '2031-02-01 00:00:00' git-checkpoint show --json '@{1d}' | jq -r .reason)"
	expect_eq '4 3' "$(fake '2030-01-01 12:25:00' git-checkpoint list --json --since 20m \
		--until 1m | jq -r '[.checkpoints[].reason] | join(" ")')"
}

# of_age <n>...: what is left when everything older than a day goes at 2030-01-10
of_age() {
	GIT_CHECKPOINT_MAX_AGE=1d fake '2030-01-10 12:00:00' git-checkpoint prune -q
	in_order "$@"
}

# With a time in the future, or long past, it is as old as the one that was saved next.
test_a_wrong_time_does_not_make_it_older_or_younger() {
	require faketime
	at '2030-01-01 12:00:00' 1
	at '2040-01-01 12:00:00' 2
	at '2030-01-02 12:00:00' 3
	at '2030-01-10 10:00:00' 4
	at '1980-01-01 12:00:00' 5
	at '2040-01-01 12:00:00' 6
	at '2030-01-10 11:00:00' 7
	of_age 7 6 5 4
	git-checkpoint doctor
	# not even if nothing was saved since
	at '1980-01-01 12:00:00' 8
	of_age 8 7 6 5 4
}

test_automatic_ones_of_a_wrong_clock_are_not_thinned_out_early() {
	require faketime
	n=0
	while read -r day time; do
		n=$((n + 1))
		echo $n >a
		GIT_CHECKPOINT_THIN_AUTOMATIC=none fake "$day $time" \
			git-checkpoint save -q --automatic -m $n
	done <<-END
	2030-01-10 08:00:00
	1980-01-01 00:00:00
	1980-01-01 00:00:10
	2040-01-01 00:00:00
	2040-01-01 00:00:10
	2030-01-10 11:59:00
	END
	fake '2030-01-10 12:00:00' git-checkpoint prune -q
	in_order 6 5 4 3 2 1
	# a day later one is left of each hour, by their own clocks
	fake '2030-01-11 18:00:00' git-checkpoint prune -q
	in_order 6 5 3 1
	# and in the end all of them have gone but the newest
	fake '2030-03-11 18:00:00' git-checkpoint prune -q
	in_order 6
}

# automatic_at <time> <n>
automatic_at() {
	echo "$2" >a
	fake "$1" git-checkpoint save -q --automatic -m "$2"
}

# A clock that is a year ahead for some saves makes nothing old; a day later it is believed.
test_a_jump_ahead_does_not_make_the_others_old() {
	require faketime
	export GIT_CHECKPOINT_MAX_AGE=90d
	at '2030-01-10 08:00:00' 1
	at '2030-01-10 08:01:00' 2
	for n in 3 4 5; do
		automatic_at "2030-01-10 08:0$n:00" $n
	done
	at '2031-01-10 08:00:00' 6
	automatic_at '2031-01-10 08:05:00' 7
	automatic_at '2031-01-10 20:00:00' 8
	in_order 8 7 6 5 4 3 2 1
	at '2030-01-10 08:10:00' 9
	in_order 9 8 7 6 5 4 3 2 1
	automatic_at '2031-01-11 08:10:00' 10
	automatic_at '2031-01-11 08:20:00' 11
	in_order 11 10 9 8 7 6 5 4 3 2 1
	automatic_at '2031-01-12 08:30:00' 12
	in_order 12 11 9 8 7 6
	git-checkpoint doctor
}

test_thinning_waits_until_the_clock_is_believed() {
	require faketime
	for n in 1 2 3 4 5; do
		automatic_at "2030-01-10 08:0$n:00" $n
	done
	for n in 6 7 8; do
		automatic_at "2031-01-10 08:0$n:00" $n
	done
	in_order 8 7 6 5 4 3 2 1
	automatic_at '2031-01-11 08:10:00' 9
	in_order 9 8
	git-checkpoint doctor
}

# Refs that disappear are found again, and the checkpoints are where they were.
test_after_a_jump_lost_ones_come_back_to_their_places() {
	jumped
	store=$(store_dir)
	rm "$store/refs/checkpoints/$(id_of 2)" "$store/refs/checkpoints/$(id_of 3)"
	in_order_of_list 4 1
	expect_exit 1 git-checkpoint doctor
	git-checkpoint doctor --fix
	in_order 4 3 2 1
	git-checkpoint doctor
}

test_after_a_jump_a_damaged_one_comes_back_to_its_place() {
	jumped
	ref=$(store_dir)/refs/checkpoints/$(id_of 4)
	cp "$ref" "$T/ref"
	: >"$ref"
	expect_eq 3 "$(what @)"
	echo 5 >a
	git-checkpoint save -q -m 5
	expect_eq 5 "$(what @)"
	expect_eq 3 "$(what @~1)"
	cp "$T/ref" "$ref"
	in_order_of_list 5 4 3 2 1
}

# Two stores that are merged, each with a jump: the order is by time where that is told.
test_stores_with_jumps_are_merged() {
	require faketime
	mkdir "$T/a"
	cd "$T/a"
	at '2030-01-01 12:00:00' 1
	at '2033-01-01 12:00:00' 4
	at '2030-01-02 12:00:00' 5
	mv "$T/a" "$T/b"
	cd "$T/b"
	at '2031-01-01 12:00:00' 2 2>/dev/null
	at '2030-12-31 12:00:00' 3
	git-checkpoint relink -q --force "$T/a"
	in_order 5 4 3 2 1
	at '2031-01-01 13:00:00' 6
	in_order 6 5 4 3 2 1
	expect_eq 6 "$(what @)"
	git-checkpoint doctor
}

# What comes from elsewhere has the times of another clock.
test_an_imported_one_from_the_future_does_not_date_ours() {
	require faketime
	mkdir "$T/elsewhere"
	(cd "$T/elsewhere" && at '2040-01-01 12:00:00' far && git-checkpoint export -q --bundle -o "$T/b" @)
	at '2030-01-01 12:00:00' 1
	git-checkpoint import -q "$T/b"
	: >"$T/ids"
	at '2030-01-01 12:10:00' 2
	at '2030-01-01 12:20:00' 3
	carries "$(id_of 1)" '2030-01-01 12:10:00'
	carries "$(id_of 2)" '2030-01-01 12:20:00'
	expect_eq 3 "$(what @)"
	expect_eq 2 "$(what @~1)"
	git-checkpoint doctor
}

test_the_base_of_a_comparison_is_the_one_saved_before() {
	require faketime
	at '2030-01-01 12:00:00' 1
	at '2020-01-01 00:00:00' 2
	at '2010-01-01 00:00:00' 3
	git-checkpoint show --patch @ >"$T/out"
	expect_grep '^-2$' "$T/out"
	expect_grep '^+3$' "$T/out"
	expect_grep "1 changed since $(sed -n 2p "$T/ids")" "$T/saved.json"
}

test_a_step_of_the_clock_across_a_day_and_a_year() {
	require faketime
	at '2029-12-31 23:59:59' 1
	at '2029-12-31 23:59:58' 2
	at '2030-01-01 00:00:00' 3
	in_order 3 2 1
}

# A file from the future, and one that is touched back: contents decide.
test_times_of_files_do_not_fool_it() {
	require faketime
	echo 1 >a
	touch -d '2040-01-01' a
	git-checkpoint save -q
	echo 2 >a
	touch -d '2040-01-01' a
	git-checkpoint save -q
	expect_eq 2 "$(git --git-dir="$(store_dir)" show latest:a)"
	echo 3 >a
	touch -d '1970-01-01' a
	fake '1980-01-01 00:00:00' git-checkpoint save -q
	expect_eq 3 "$(git --git-dir="$(store_dir)" show latest:a)"
	expect_eq 3 "$(git-checkpoint list --json | jq '.checkpoints | length')"
}

test_ids_of_a_burst_are_unique_and_sorted() {
	export GIT_CHECKPOINT_MAX_COUNT=none
	rounds=${CKPT_TEST_ROUNDS:-300}
	i=0
	while test $i -lt "$rounds"; do
		i=$((i + 1))
		git-checkpoint save --json --allow-empty >>"$T/answers"
	done
	jq -r .checkpoint.id "$T/answers" >"$T/ids"
	expect_eq "$rounds" "$(wc -l <"$T/ids")" 'ids'
	LC_ALL=C sort -u "$T/ids" >"$T/sorted"
	expect_same "$T/sorted" "$T/ids"
	expect_eq 0 "$(grep -vc '^chk_[0-9]\{8\}_[0-9]\{6\}_[0-9a-f]\{6\}$' "$T/ids")" 'malformed ids'
	git-checkpoint list --json | jq -r '.checkpoints | reverse[].id' >"$T/listed"
	expect_same "$T/ids" "$T/listed"
}

# When its digits are used up, the next second begins.
test_a_second_that_is_full_keeps_the_order() {
	require faketime
	at '2030-01-01 00:59:59' 1
	store=$(store_dir)
	full=$(id_of 1)
	full=${full%_*}_ffffff
	git --git-dir="$store" cat-file commit latest |
		sed "s/^Id: .*/Id: $full/; s/^Reason: 1/Reason: 2/" >"$T/commit"
	git --git-dir="$store" update-ref refs/checkpoints/$full \
		"$(git --git-dir="$store" hash-object -t commit -w "$T/commit")"
	at '2029-12-31 23:59:00' 3
	at '2029-12-31 23:59:30' 4
	in_order_of_list 4 3 2 1
	# the clock goes on until it is saved
	case $(id_of 1) in
	chk_20300101_0059* | chk_20300101_0100*) ;;
	*) fail "$(id_of 1)" ;;
	esac
	expect_eq "$(id_of 2 | cut -c 1-16)" chk_20300101_010
	at '2030-01-01 01:30:00' 5
	in_order_of_list 5 4 3 2 1
	carries "$(id_of 4)" '2030-01-01 01:30:00'
}

run_tests
