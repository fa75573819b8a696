#!/bin/sh
# SPDX-License-Identifier: MIT
# save --every, --min-interval, --expires.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/private.sh"

# created <argument>...: true or false
created() {
	git checkpoint save --json "$@" >"$T/saved.json"
	json .checkpoint_created "$T/saved.json"
}

count() {
	git checkpoint list --json | jq '.checkpoints | length'
}

test_of_every_n_calls_the_first_takes_one() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo $i >a
		created --every 3
	done >out
	echo true false false true false false true false false true | tr ' ' '\n' >expected
	expect_same expected out
	rm out expected
	expect_eq 4 "$(count)"
}

test_a_call_that_is_not_due_names_the_newest() {
	echo 1 >a
	created --every 2 >/dev/null
	id=$(json .checkpoint.id "$T/saved.json")
	echo 2 >a
	expect_eq false "$(created --every 2)"
	expect_eq "$id" "$(json .checkpoint.id "$T/saved.json")"
	expect_eq true "$(created --every 2)"
	git checkpoint save --every 2 >out
	expect_grep 'chk_' out
}

test_every_one_is_every_call() {
	for i in 1 2 3; do
		echo $i >a
		expect_eq true "$(created --every 1)"
	done
}

test_sources_are_counted_on_their_own() {
	echo 1 >a
	expect_eq true "$(created --every 2 --source x)"
	echo 2 >a
	expect_eq true "$(created --every 2 --source y)"
	echo 3 >a
	expect_eq false "$(created --every 2 --source x)"
	expect_eq false "$(created --every 2 --source y)"
	expect_eq true "$(created --every 2 --source x)"
}

# calling <processes> <calls of each> <option>...: all at once
calling() {
	processes=$1 calls=$2
	shift 2
	for _ in $(seq "$processes"); do
		(
			for i in $(seq "$calls"); do
				git-checkpoint save -q --allow-empty "$@" || echo failed >>"$T/failed"
			done
		) &
	done
	wait
	expect_missing "$T/failed"
}

test_every_counts_concurrent_calls_exactly() {
	calling 8 8 --every 4
	expect_eq 16 "$(count)"
}

# Two who count on their own, among others who do not count at all.
test_sources_are_counted_exactly_among_each_other() {
	calling 2 6 --every 3 --source x &
	calling 2 6 --every 4 --source y &
	calling 1 5 --source z &
	wait
	expect_missing "$T/failed"
	for expected in 'x 4' 'y 3' 'z 5'; do
		expect_eq "${expected#* }" \
			"$(git checkpoint list --source "${expected% *}" --json | jq '.checkpoints | length')" \
			"those of ${expected% *}"
	done
}

# Killed anywhere: one too many at most, never one too few.
test_every_survives_being_killed() {
	require faketime
	FAULT_PATH=$(checkpoint_home)
	at=0
	echo 0 >a
	for at in $(seq 60); do
		rm -rf "$(store_dir)"
		created --every 4 >/dev/null
		for call in 2 3 4; do
			echo "$at $call" >a
			expect_eq false "$(created --every 4)"
		done
		# the call that is due, killed at its n-th write
		echo "$at due" >a
		status=0
		with_faults rename,write,unlink,link $at kill git-checkpoint save -q --every 4 2>/dev/null ||
			status=$?
		taken=$(($(count) - 1))
		echo "$at behind" >a
		# not taken: it is still due; taken, but not counted: one more is allowed
		now=$(created --every 4)
		test $taken = 1 || expect_eq true "$now" "after a kill at $at"
		# from then on as ever
		for call in 2 3 4; do
			echo "$at $call again" >a
			now="$now $(created --every 4)"
		done
		case $now in
		'true false false false' | 'false false false true' | 'false false false false') ;;
		*) fail "after a kill at $at: $now" ;;
		esac
		test "$now" != 'false false false false' || expect_eq true "$(created --every 4)"
		test $status = 137 || break
	done
	expect_eq 0 $status 'the last one, which was not killed'
	test "$at" -gt 5 || fail 'not killed often enough'
}

# What was written last may not have reached the disk.
test_counting_starts_over_with_the_machine() {
	echo 1 >a
	expect_eq true "$(created --every 3)"
	cache_section every | sed 's/"boot":"[^"]*"/"boot":"another"/' >"$T/every"
	put_cache_section every <"$T/every"
	echo 2 >a
	expect_eq true "$(created --every 3)"
	expect_eq false "$(created --every 3)"
	for damage in '' '{' '[]' '{"3 cli":"x"}' '{"3 cli":-1}' '{"3 cli":99}'; do
		printf %s "$damage" | put_cache_section every
		echo "$damage" >a
		expect_eq true "$(created --every 3)"
		expect_eq false "$(created --every 3)"
	done
}

# A turn that comes too early waits until it may be taken.
test_every_and_min_interval_together() {
	require faketime
	echo 1 >a
	expect_eq true "$(created --every 2 --min-interval 10m)"
	for i in 2 3 4 5; do
		echo $i >a
		expect_eq false "$(created --every 2 --min-interval 10m)"
	done
	fake -f +11m git-checkpoint save --every 2 --min-interval 10m --json >"$T/saved.json"
	expect_eq true "$(json .checkpoint_created "$T/saved.json")"
	expect_eq 2 "$(count)"
}

test_min_interval_takes_none_while_the_newest_is_young() {
	echo 1 >a
	expect_eq true "$(created --min-interval 1h)"
	echo 2 >a
	expect_eq false "$(created --min-interval 1h)"
	expect_eq false "$(created --min-interval 1h --step 3)"
	expect_eq true "$(created)"
	echo 3 >a
	expect_eq true "$(created --min-interval 0s)"
}

test_min_interval_ends() {
	require faketime
	echo 1 >a
	expect_eq true "$(created --min-interval 10m)"
	echo 2 >a
	expect_eq false "$(created --min-interval 10m)"
	expect_eq true "$(fake -f +11m git-checkpoint save --min-interval 10m --json |
		jq .checkpoint_created)"
	# a clock that went backwards does not lock saving out
	echo 3 >a
	expect_eq true "$(created --min-interval 10m)"
	# and then counts again
	echo 4 >a
	expect_eq false "$(created --min-interval 10m)"
}

test_min_interval_holds_among_concurrent_calls() {
	echo 1 >a
	for _ in 1 2 3 4; do
		(
			for i in 1 2 3 4; do
				git-checkpoint save -q --allow-empty --min-interval 1h ||
					echo failed >>"$T/failed"
			done
		) &
	done
	wait
	expect_missing "$T/failed"
	expect_eq 1 "$(count)"
}

test_a_save_that_failed_does_not_use_up_the_turn() {
	mkdir d
	echo 1 >d/a
	expect_eq true "$(created --every 3)"
	echo 2 >d/a
	expect_eq false "$(created --every 3)"
	expect_eq false "$(created --every 3)"
	FAULT_PATH=objects/pack
	expect_exit 128 with_faults openat-create 1 ENOSPC git-checkpoint save -q --every 3 2>err
	expect_eq true "$(created --every 3)"
}

# ---- expiry ----

# expiry <value>: what --expires <value> becomes
expiry() {
	git checkpoint save --allow-empty --json --expires "$1" >"$T/saved.json"
	json .checkpoint.expiry "$T/saved.json"
}

# seconds <ISO time>: since the epoch
seconds() {
	date -d "$1" +%s
}

test_expiry_takes_durations() {
	for pair in 90:90s 900:15m 7200:2h 172800:2d 604800:1w; do
		at=$(seconds "$(expiry "${pair#*:}")")
		created=$(seconds "$(json .checkpoint.created_at "$T/saved.json")")
		test $((at - created)) -ge $((${pair%%:*} - 1)) &&
			test $((at - created)) -le $((${pair%%:*} + 1)) ||
			fail "${pair#*:} became $((at - created)) seconds"
	done
}

test_expiry_takes_times_and_never() {
	expect_eq null "$(expiry never)"
	expect_eq 2999-12-31T00:00:00Z "$(expiry 2999-12-31)"
	expect_eq 2999-12-31T18:00:00Z "$(expiry 2999-12-31T18:00)"
	expect_eq 2999-12-31T18:00:09Z "$(expiry '2999-12-31 18:00:09')"
	expect_eq 2999-12-31T16:00:00Z "$(expiry 2999-12-31T18:00:00+02:00)"
	# the local zone if there is none
	expect_eq 2999-12-31T15:00:00Z "$(TZ=XYZ-3 expiry 2999-12-31T18:00)"
}

test_an_expiry_in_the_past_or_none_at_all_is_refused() {
	echo 1 >a
	for value in 0s 2001-01-01 1970-01-01T00:00:00Z '' soon 5 5y -5m 2999-02-30 2999-13-01 \
		2999-01-01T25:00 5mm; do
		expect_exit 129 git checkpoint save --expires "$value" >out 2>err
		expect_grep "expires" err
	done
	expect_eq 0 "$(count)"
}

# One that goes soon does not serve somebody who asks for one that stays.
test_what_shall_stay_does_not_rely_on_one_that_expires() {
	for options in '' '--expires never'; do
		echo "$options" >a
		git checkpoint save -q --expires 1h
		before=$(count)
		git checkpoint save -q --expires 2h
		expect_eq "$before" "$(count)"
		# shellcheck disable=SC2086
		git checkpoint save -q $options
		expect_eq $((before + 1)) "$(count)"
		git checkpoint save -q
		git checkpoint save -q --expires 1h
		expect_eq $((before + 1)) "$(count)"
	done
}

test_an_expired_one_is_still_listed_and_marked() {
	require faketime
	echo 1 >a
	git checkpoint save -q --expires 1h
	git checkpoint list >out
	expect_no_grep expired out
	fake -f +2h git-checkpoint list >out
	expect_grep expired out
	fake -f +2h git-checkpoint show @ >out
	expect_grep expired out
}

run_tests
