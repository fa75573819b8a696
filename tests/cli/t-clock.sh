#!/bin/sh
# SPDX-License-Identifier: MIT
# Ids keep the order of saving, whatever the clock does.

. "$(dirname "$0")/../lib/harness.sh"

# at <time> <n>: save contents <n> at that time
at() {
	echo "$2" >a
	fake "$1" git-checkpoint save --json -m "$2" >"$T/saved.json"
	json .checkpoint.id "$T/saved.json" >>"$T/ids"
}

# in_order <n>...: list has these reasons, newest first, and ids are sorted as saved
in_order() {
	expect_eq "$*" "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
	sort "$T/ids" >"$T/sorted"
	expect_same "$T/sorted" "$T/ids"
	sort -u "$T/ids" >"$T/unique"
	expect_same "$T/sorted" "$T/unique"
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
	expect_eq 6 "$(git-checkpoint show --json @ | jq -r .reason)"
	expect_eq 3 "$(git-checkpoint show --json @~3 | jq -r .reason)"
	# what the clock said is told as it was
	expect_grep '^2020-01-01T00:00' "$(git-checkpoint list --json |
		jq -r '.checkpoints[] | select(.reason == "3").created_at' >"$T/when" && echo "$T/when")"
	# the manifest agrees, newest last
	expect_eq '1 2 3 4 5 6' "$(sed -n 's/^| [0-9a-f]* | [^|]* | \([0-9]\) | cli .*/\1/p' \
		"$(store_dir)/checkpoint-manifest.md" | tr '\n' ' ' | sed 's/ $//')"
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

# More than fit into one second would run into the next, not into each other.
test_a_second_that_is_full_runs_over() {
	require faketime
	echo 1 >a
	git-checkpoint save -q
	store=$(store_dir)
	commit=$(git --git-dir="$store" rev-parse latest)
	git --git-dir="$store" update-ref refs/checkpoints/chk_20300101_000000_ffffff "$commit"
	echo 2 >a
	fake '2030-01-01 00:00:00' git-checkpoint save --json >"$T/out"
	id=$(json .checkpoint.id "$T/out")
	expect_eq chk_20300101_000001 "${id%_*}"
	echo 3 >a
	fake '2029-01-01 00:00:00' git-checkpoint save --json >"$T/out"
	id2=$(json .checkpoint.id "$T/out")
	test "$(printf '%s\n' "$id" "$id2" | LC_ALL=C sort | head -n 1)" = "$id" || fail "$id2 sorts before $id"
}

run_tests
