#!/bin/sh
# SPDX-License-Identifier: MIT
# Doctor knows the files of remotes, and what was fetched.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"

# fetched_one: machine two has a checkpoint of its own, one of machine one, and has pushed; $store is
# its store
fetched_one() {
	machines
	edit one x
	on one sh -c 'head -c 20000 /dev/urandom >noise'
	on one git-checkpoint save -q
	on one git-checkpoint push -q
	echo mine | on two tee file >/dev/null
	on two git-checkpoint save -q
	on two git-checkpoint push -q
	store=$(on two git-checkpoint status --json | jq -r .store)
	ls "$store"/objects/pack/*.pack >"$T/packs"
	on two git-checkpoint fetch -q
	on two git-checkpoint doctor -q
}

# finds <pattern>: doctor finds that, and nothing else; --fix fixes it
finds() {
	expect_exit 1 on two git-checkpoint doctor --json >"$T/out"
	jq -r '.problems[].what' "$T/out" >"$T/problems"
	expect_grep "$1" "$T/problems"
	expect_eq 1 "$(wc -l <"$T/problems")"
	on two git-checkpoint doctor --fix >"$T/out"
	expect_grep '^fixed: ' "$T/out"
	on two git-checkpoint doctor -q
	on two git-checkpoint verify -q --all
}

test_the_list_of_remotes() {
	fetched_one
	for damage in '{"version":1,"remotes":[{"name":"-x","url":"/x","push_auto":false}]}' \
		'{"version":1,"remotes":[{"name":"x","url":"ext::x","push_auto":false}]}' \
		'{"version":1,"remotes":"hub"}'; do
		echo "$damage" >"$store/checkpoint/state"
		expect_exit 128 on two git-checkpoint push 2>"$T/err"
		expect_grep "list of remotes is damaged; see 'git checkpoint doctor'" "$T/err"
		finds 'the list of remotes is damaged'
		expect_eq '' "$(on two git-checkpoint remote list 2>/dev/null)"
	done
	# nobody else has what can be read of it
	echo '{"version":1,"remotes":[{"name":"x"' >"$store/checkpoint/state"
	cp "$store/checkpoint/state" "$T/damaged"
	finds 'checkpoint/state. is damaged'
	expect_same "$T/damaged" "$store/checkpoint/state.damaged"
	on two git-checkpoint remote add -q hub "$T/hub.git"
	on two git-checkpoint fetch -q
}

test_fetched_ones_without_their_objects() {
	fetched_one
	id=$(on one git-checkpoint show --json @ | jq -r .id)
	for pack in "$store"/objects/pack/*.pack; do
		grep -q -x -F "$pack" "$T/packs" || rm -f "$pack" "${pack%.pack}.idx"
	done
	finds "'one/$id' of another machine is damaged: .*'git checkpoint fetch one/$id' brings it again"
	nothing_fetched two
	on two git-checkpoint gc -q
	on two git-checkpoint fetch -q "one/$id"
	on two git-checkpoint verify -q "one/$id"
	on two git-checkpoint doctor -q
}

test_refs_that_cannot_be_read() {
	fetched_one
	printf 'x' >"$(ls "$store"/refs/fetched/one/*)"
	finds 'refs/fetched/one/.* leads to no checkpoint'
	on two git-checkpoint fetch -q
	on two git-checkpoint verify -q one/@
}

test_what_a_killed_fetch_left() {
	fetched_one
	mkdir -p "$store/checkpoint/scratch/0123456789abcdef/objects/pack"
	echo x >"$store/checkpoint/scratch/0123456789abcdef/objects/pack/tmp_pack_x"
	finds '1 unfinished transfer was left'
	expect_eq '' "$(ls "$store/checkpoint/scratch")"
}

run_tests
