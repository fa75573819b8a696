#!/bin/sh
# SPDX-License-Identifier: MIT
# The names of a checkpoint that a user may type.

. "$(dirname "$0")/../../lib/harness.sh"

# Five checkpoints; their ids, oldest first, in $T/ids, their commits in $T/commits.
five() {
	for i in 1 2 3 4 5; do
		echo $i >a
		git-checkpoint save --json --step $((i % 3)) >"$T/saved.json"
		json .checkpoint.id "$T/saved.json" >>"$T/ids"
		json .checkpoint.commit "$T/saved.json" >>"$T/commits"
	done
}

# line <n> <file>
line() {
	sed -n "$1p" "$2"
}

# names <name>: the id that it stands for
names() {
	git-checkpoint show --json -- "$1" >"$T/shown.json"
	json .id "$T/shown.json"
}

# unknown <name>: it stands for nothing, and is named; in both commands that take names
unknown() {
	expect_exit 128 git-checkpoint show -- "$1" >"$T/out" 2>"$T/err"
	expect_eq '' "$(cat "$T/out")" 'stdout'
	expect_grep '^fatal: ' "$T/err"
	grep -q -F -e "'$1'" "$T/err" || fail "'$1' is not named: $(cat "$T/err")"
	case $1 in
	-*) return ;;
	esac
	expect_exit 128 git-checkpoint diff "$1" -- >"$T/out" 2>"$T/err"
}

test_positions_count_from_the_newest() {
	five
	expect_eq "$(line 5 "$T/ids")" "$(names @)"
	expect_eq "$(line 5 "$T/ids")" "$(names @~0)"
	expect_eq "$(line 4 "$T/ids")" "$(names @~1)"
	expect_eq "$(line 4 "$T/ids")" "$(names @~)"
	expect_eq "$(line 1 "$T/ids")" "$(names @~4)"
	unknown @~5
	unknown @~99999999999999999999
}

# at <time>: the reason of what it stands for, as seen on 2 March at 13:00
at() {
	fake '2024-03-02 13:00:00' git-checkpoint show --json "@{$1}" | jq -r .reason
}

test_the_newest_at_or_before_a_time() {
	require faketime
	for time in '01 09:00' '01 23:00' '02 12:00' '02 12:50'; do
		echo "$time" >a
		fake "2024-03-$time:00" git-checkpoint save -q -m "$time"
	done
	# at it, and a second before, as it was told; other times leave a minute for a slow start
	last=$(git-checkpoint show --json @ | jq -r .created_at)
	expect_eq '02 12:50' "$(at "$last")"
	expect_eq '02 12:00' "$(at "$(date -d "$last - 1 second" '+%F %T')")"
	expect_eq '02 12:50' "$(at 1s)"
	expect_eq '02 12:50' "$(at 9m)"
	expect_eq '02 12:00' "$(at 11m)"
	expect_eq '02 12:00' "$(at 12:30)"
	expect_eq '02 12:00' "$(at '12:30 PM')"
	expect_eq '02 12:50' "$(at now)"
	expect_eq '01 23:00' "$(at 2h)"
	expect_eq '01 09:00' "$(at yesterday)"
	expect_eq '01 23:00' "$(at '2024-03-02 09:00')"
	expect_eq '01 23:00' "$(at 2024-03-02)"
	expect_eq '01 09:00' "$(at '1 day ago')"
	# not yet today
	expect_eq '01 23:00' "$(at 23:30)"
	expect_eq '01 23:00' "$(at 11pm)"
	expect_eq '01 09:00' "$(at 22:59)"
	# what will be is what there is
	expect_eq '02 12:50' "$(at '2024-03-09 10:00')"
	expect_exit 128 fake '2024-03-02 13:00:00' git-checkpoint show '@{2d}' 2>"$T/err"
	expect_grep "no checkpoint is as old as '@{2d}'" "$T/err"
	# what a restore saves is not meant
	echo now >a
	fake '2024-03-02 12:55:00' git-checkpoint restore -q --yes @~1
	expect_eq '02 12:50' "$(at 1s)"
	fake '2024-03-02 13:00:00' git-checkpoint restore -q --yes '@{1d}'
	expect_eq '01 09:00' "$(cat a)"
}

# In the order of the clock, whatever the order of saving is.
test_times_are_those_of_the_clock() {
	require faketime
	for time in '02 12:00' '01 09:00' '01 08:00'; do
		echo "$time" >a
		fake "2024-03-$time:00" git-checkpoint save -q -m "$time"
	done
	expect_eq '02 12:00' "$(at 1s)"
	expect_eq '01 09:00' "$(at 2h)"
	expect_eq '01 08:00' "$(at '2024-03-01 08:30')"
}

test_a_time_in_the_zone_of_the_user() {
	require faketime
	echo 1 >a
	fake '2024-03-02 10:00:00' git-checkpoint save -q -m early
	echo 2 >a
	fake '2024-03-02 12:00:00' git-checkpoint save -q -m late
	export TZ=XYZ-2
	fake '2024-03-02 15:00:00' git-checkpoint show --json '@{13:00}' >"$T/shown"
	expect_eq early "$(json .reason "$T/shown")"
	fake '2024-03-02 15:00:00' git-checkpoint show --json '@{14:30}' >"$T/shown"
	expect_eq late "$(json .reason "$T/shown")"
}

# What git knows after a number stays known.
test_numbers_with_words() {
	git-checkpoint save -q --allow-empty
	for text in '1 second ago' 1second '10 minutes ago' 10minutes '2 hours' '3.days.ago' '1 week' \
		'2 months ago' '1 year ago' 5pm '5 PM' '1st of january 2024' '17 nov 2024' \
		'17nov2024' '3 fridays ago' '14:30 yesterday' '2024-01-01 12:00 UTC' '2024-01-01T12:00Z' \
		'12am'; do
		git-checkpoint list --json --until "$text" >"$T/out"
	done
}

test_what_is_not_a_time() {
	five
	for text in '' 0 1 12 never all false nonsense x '~1' -1 '{}' "$(printf '1\n2')" '%s' \
		"$(head -c 5000 /dev/zero | tr '\0' 1)"; do
		unknown "@{$text}"
	done
	# too large for any clock: git would take it for now
	for text in 999999999999 99999999999999999999 999999999999999d 99999999999999999d; do
		unknown "@{$text}"
	done
	# git would take these for a day of the month, or for now
	for text in 1h30m '10m ago' 5min 10mn '1 h' '10 minuts' '3 dyas ago' 2hrs; do
		unknown "@{$text}"
	done
	unknown '@{1h'
	unknown '@{1h}x'
	unknown '@{1h}~1'
}

test_of_two_with_the_same_step_the_newest() {
	five
	expect_eq "$(line 4 "$T/ids")" "$(names step:1)"
	expect_eq "$(line 5 "$T/ids")" "$(names step:2)"
	expect_eq "$(line 3 "$T/ids")" "$(names step:0)"
	expect_exit 128 git-checkpoint show step:3 2>"$T/err"
	expect_grep 'step.*3' "$T/err"
	unknown step:
	unknown step:x
	unknown step:-1
	unknown step:1x
}

test_ids_and_their_prefixes() {
	five
	for n in 1 2 3 4 5; do
		id=$(line $n "$T/ids")
		expect_eq "$id" "$(names "$id")"
	done
	# the shortest prefix of the third that no other id has
	id=$(line 3 "$T/ids")
	len=1
	while test "$(cut -c1-$len "$T/ids" | grep -c "^$(echo "$id" | cut -c1-$len)$")" -gt 1; do
		len=$((len + 1))
	done
	expect_eq "$id" "$(names "$(echo "$id" | cut -c1-$len)")"
	short=$(echo "$id" | cut -c1-$((len - 1)))
	expect_exit 128 git-checkpoint show "$short" >"$T/out" 2>"$T/err"
	expect_grep ambiguous "$T/err"
	grep "^$short" "$T/ids" >"$T/expected"
	grep -o '  chk_[0-9a-f_]*' "$T/err" | tr -d ' ' >"$T/candidates"
	expect_same "$T/expected" "$T/candidates"
	unknown "${id}0"
	unknown "x$id"
	unknown "refs/checkpoints/$id"
	unknown "$(echo "$id" | tr a-z A-Z)"
}

test_the_digits_at_the_end_of_an_id() {
	five
	for n in 1 2 3 4 5; do
		id=$(line $n "$T/ids")
		expect_eq "$id" "$(names "${id##*_}")"
		expect_eq "$id" "$(names "$(echo "${id##*_}" | tr a-f A-F)")"
	done
	id=$(line 1 "$T/ids")
	digits=${id##*_}
	unknown "${digits}g"
	unknown "_$digits"
	expect_exit 128 git-checkpoint show "${digits%?}" 2>"$T/err"
	echo changed >a
	git-checkpoint restore -q --yes "$digits"
	expect_eq 1 "$(cat a)"
}

# copy_as <id>: the checkpoint before the newest once more, with an id of our choice
copy_as() {
	old=$(git-checkpoint show --json @~1 | jq -r .id)
	git --git-dir="$store" cat-file commit "refs/checkpoints/$old" | sed "s/$old/$1/" |
		git --git-dir="$store" hash-object -w -t commit --stdin >"$T/copy"
	git --git-dir="$store" update-ref "refs/checkpoints/$1" "$(cat "$T/copy")"
}

# Digits that two ids share, and digits with which another's commit begins.
test_the_digits_of_an_id_win_over_those_of_a_commit() {
	echo 1 >a
	git-checkpoint save -q
	echo 2 >a
	git-checkpoint save -q
	store=$(store_dir)
	newest=$(git-checkpoint show --json @ | jq -r .commit)
	digits=$(echo "$newest" | cut -c1-6)
	expect_eq "$(names @)" "$(names "$digits")"
	copy_as "chk_20200101_000000_$digits"
	expect_eq "chk_20200101_000000_$digits" "$(names "$digits")"
	copy_as "chk_20200102_000000_$digits"
	expect_exit 128 git-checkpoint show "$digits" 2>"$T/err"
	expect_grep ambiguous "$T/err"
	printf '%s\n' "chk_20200101_000000_$digits" "chk_20200102_000000_$digits" >"$T/expected"
	grep -o 'chk_[0-9a-f_]*' "$T/err" >"$T/candidates"
	expect_same "$T/expected" "$T/candidates"
}

test_one_checkpoint_has_short_names() {
	git-checkpoint save -q
	id=$(names @)
	expect_eq "$id" "$(names c)"
	expect_eq "$id" "$(names chk_)"
}

test_commit_prefixes_of_four_and_more() {
	five
	for n in 1 2 3 4 5; do
		commit=$(line $n "$T/commits")
		id=$(line $n "$T/ids")
		expect_eq "$id" "$(names "$commit")"
		expect_eq "$id" "$(names "$(echo "$commit" | cut -c1-8)")"
		expect_eq "$id" "$(names "$(echo "$commit" | cut -c1-12 | tr a-f A-F)")"
	done
	first=$(line 1 "$T/commits")
	unknown "$(echo "$first" | cut -c1-3)"
	unknown "${first}0"
	unknown deadbeefdeadbeef
	# an object that is not a checkpoint
	tree=$(git --git-dir="$(store_dir)" rev-parse 'latest^{tree}')
	unknown "$tree"
}

test_a_commit_prefix_of_exactly_four_digits() {
	git-checkpoint save -q
	commit=$(git-checkpoint show --json @ | jq -r .commit)
	expect_eq "$(names @)" "$(names "$(echo "$commit" | cut -c1-4)")"
}

# Of 300 commits some two share their first four digits, if not: no harm done.
test_an_ambiguous_commit_lists_the_candidates() {
	export GIT_CHECKPOINT_MAX_COUNT=none
	rounds=${CKPT_TEST_ROUNDS:-60}
	i=0
	while test $i -lt "$rounds"; do
		i=$((i + 1))
		git-checkpoint save -q --allow-empty
	done
	git-checkpoint list --json |
		jq -r '.checkpoints | group_by(.commit[:4])[] | select(length > 1)[0].commit[:4]' >"$T/twins"
	test -s "$T/twins" || skip 'no two commits were alike'
	prefix=$(head -n 1 "$T/twins")
	expect_exit 128 git-checkpoint show "$prefix" 2>"$T/err"
	expect_grep ambiguous "$T/err"
	git-checkpoint list --json |
		jq -r --arg p "$prefix" '.checkpoints[] | select(.commit | startswith($p)).id' |
		sort >"$T/expected"
	grep -o 'chk_[0-9a-f_]*' "$T/err" | sort >"$T/candidates"
	expect_same "$T/expected" "$T/candidates"
}

test_odd_names_are_unknown() {
	five
	for name in '@~x' '@~-1' '@~1x' '@1' '@@' '@{0}' '@^' 'HEAD' 'latest' '../..' '/' '.' ' ' \
		'refs/heads/latest' '-' '*' 'chk_*' 'chk_20??' "$(printf 'new\nline')" \
		"$(head -c 5000 /dev/zero | tr '\0' a)" '%s%n' 'step:%s' '../../etc/passwd'; do
		unknown "$name"
	done
	expect_exit 128 git-checkpoint show '' 2>"$T/err"
	expect_exit 129 git-checkpoint show --upload-pack=x 2>"$T/err"
	expect_grep 'upload-pack' "$T/err"
	unknown --upload-pack=x
	# bytes that a terminal might obey are not repeated
	expect_exit 128 git-checkpoint show "$(printf 'bad\377')" 2>"$T/err"
	expect_grep "^fatal: .*'bad$(printf '\357\277\275')'" "$T/err"
}

test_json_tells_of_an_unknown_name() {
	five
	expect_exit 128 git-checkpoint show --json nobody >"$T/out" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/out")"
	expect_grep nobody "$T/out"
	expect_exit 128 git-checkpoint show --json "$(printf 'bad\377')" >"$T/out" 2>"$T/err"
	expect_eq 128 "$(json .error.code "$T/out")"
	expect_exit 128 git-checkpoint show --json chk_ >"$T/out" 2>"$T/err"
	expect_eq 1 "$(wc -l <"$T/out")" 'lines'
	expect_grep ambiguous "$T/out"
}

test_ids_of_another_store_are_unknown() {
	five
	mkdir "$T/other"
	cd "$T/other"
	echo x >x
	git-checkpoint save -q
	unknown "$(line 1 "$T/ids")"
	unknown "$(line 1 "$T/commits")"
	names @ >/dev/null
}

test_there_may_be_no_checkpoint_at_all() {
	expect_exit 128 git-checkpoint show @ 2>"$T/err"
	expect_grep 'no checkpoint' "$T/err"
	expect_exit 128 git-checkpoint diff 2>"$T/err"
	expect_grep 'no checkpoint' "$T/err"
	expect_missing "$(store_dir)"
}

run_tests
