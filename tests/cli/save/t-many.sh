#!/bin/sh
# SPDX-License-Identifier: MIT
# What a command costs does not grow with the number of checkpoints, where it need not.

. "$(dirname "$0")/../../lib/harness.sh"

# grow <n>: so many more checkpoints
grow() {
	for _ in $(seq "$1"); do
		n=$((${n:-0} + 1))
		echo $n >file
		git-checkpoint save -q -m "number $n"
	done
}

# calls <call>,... <command>: how many system calls it makes
calls() {
	# shellcheck disable=SC2086
	strace -f -e trace="$1" -o "$T/trace" git-checkpoint $2 >"$T/out" 2>"$T/err"
	grep -c '(' "$T/trace" || true
}

require_strace() {
	require strace
	strace -f -e trace=process -o "$T/trace" true 2>/dev/null || skip 'strace cannot trace here'
}

# What a mark or a ref is asked by.
asking=faccessat,faccessat2,access,newfstatat,fstatat64,statx,openat

test_a_few_of_many_are_read_as_of_few() {
	require_strace
	export GIT_CHECKPOINT_MAX_COUNT=1000
	grow 40
	# so that all of them are in one place, before and after
	git --git-dir="$(store_dir)" pack-refs --all
	git-checkpoint gc -q
	git-checkpoint status >/dev/null
	for command in 'list -n5' 'show @' "show $(git-checkpoint list --json | jq -r '.checkpoints[3].id')" status; do
		calls $asking "$command"
	done >"$T/few"
	# a multiple of how many a save leaves to be read by status
	grow 64
	git --git-dir="$(store_dir)" pack-refs --all
	git-checkpoint gc -q
	git-checkpoint status >/dev/null
	for command in 'list -n5' 'show @' "show $(git-checkpoint list --json | jq -r '.checkpoints[97].id')" status; do
		calls $asking "$command"
	done >"$T/many"
	expect_same "$T/few" "$T/many"
}

# What is pinned and named is read once, and means the same as one by one.
test_keepers_of_many_are_read_once() {
	require_strace
	grow 30
	for back in 18 20 29; do
		git-checkpoint pin -q "@~$back"
	done
	git-checkpoint unpin -q @~20
	git-checkpoint pin -q --name first @~25
	git-checkpoint list --json | jq -r '.checkpoints[] | "\(.id) \(.pinned) \(.name)"' >"$T/all"
	while read -r id _; do
		git-checkpoint show --json "$id" | jq -r '"\(.id) \(.pinned) \(.name)"'
	done <"$T/all" >"$T/each"
	expect_same "$T/each" "$T/all"
	expect_eq 3 "$(grep -c ' true ' "$T/all")"
	calls $asking list >/dev/null
	grep -c 'refs/keep' "$T/trace" >"$T/few"
	grow 20
	calls $asking list >/dev/null
	grep -c 'refs/keep' "$T/trace" >"$T/many"
	expect_same "$T/few" "$T/many"
}

test_a_few_are_the_first_of_all() {
	grow 30
	git-checkpoint list --json | jq -r '.checkpoints[].id' >"$T/all"
	for few in 1 2 $((TEST_SEED % 29 + 1)) 30 31; do
		git-checkpoint list --json -n "$few" | jq -r '.checkpoints[].id' >"$T/few"
		head -n "$few" "$T/all" >"$T/head"
		expect_same "$T/head" "$T/few"
	done
}

run_tests
