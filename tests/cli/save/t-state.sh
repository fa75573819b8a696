#!/bin/sh
# SPDX-License-Identifier: MIT
# State keys: small values, files, and checkpoints of state alone.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/restore.sh"

id=

count() {
	git-checkpoint list --json >"$T/list.json"
	json '.checkpoints | length' "$T/list.json"
}

test_values_come_back_to_the_byte() {
	echo x >f
	printf 'a\0b\n\377"' >"$T/bytes"
	: >"$T/empty"
	save --state phase=build --state 'odd/key =' --state-file "bin=$T/bytes" \
		--state-file "none=$T/empty"
	git-checkpoint show --state phase "$id" >"$T/phase"
	printf build >"$T/expected"
	cmp "$T/expected" "$T/phase"
	git-checkpoint show --state bin @ >"$T/bin"
	cmp "$T/bytes" "$T/bin"
	git-checkpoint show --state none @ >"$T/none"
	cmp "$T/empty" "$T/none"
	git-checkpoint show --state 'odd/key ' @ >"$T/odd"
	cmp "$T/empty" "$T/odd"
	git-checkpoint show --state @ >"$T/all"
	expect_grep '^phase = build$' "$T/all"
	expect_eq '["bin","none","odd/key ","phase"]' \
		"$(jq -c '.checkpoint.scope.state_keys' "$T/save.json")"
	expect_eq '["."]' "$(jq -c '.checkpoint.scope.files' "$T/save.json")"
	git-checkpoint show --json @ >"$T/show.json"
	expect_eq build "$(json .state.phase "$T/show.json")"
	expect_eq '"a\000b\n\377\""' "$(json .state.bin "$T/show.json")"
	git-checkpoint show --json --state phase @ >"$T/show.json"
	expect_eq '{"phase":"build"}' "$(jq -c .state "$T/show.json")"
}

test_files_are_captured_as_well() {
	echo x >f
	save --state a=1
	echo y >f
	restore "$id"
	expect_eq x "$(cat f)"
}

test_a_new_value_is_a_change_and_the_same_is_none() {
	echo x >f
	save --state a=1
	save --state a=1
	expect_eq false "$(json .checkpoint_created "$T/save.json")"
	save
	expect_eq false "$(json .checkpoint_created "$T/save.json")"
	save --state a=2
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
	save --state b=2
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
	# the same bytes from a file are the same value
	printf 2 >"$T/two"
	save --state-file "b=$T/two"
	expect_eq false "$(json .checkpoint_created "$T/save.json")"
	printf 3 >"$T/two"
	save --state-file "b=$T/two"
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
}

test_a_state_file_may_lie_anywhere_and_be_a_pipe() {
	git init -q .
	mkdir d
	echo x >d/f
	echo inside >d/state
	(cd d && git-checkpoint save -q --state-file k=state)
	git-checkpoint show --state k @ >"$T/k"
	cmp d/state "$T/k"
	echo piped | git-checkpoint save -q --state-file k=/dev/stdin
	expect_eq piped "$(git-checkpoint show --state k @)"
	ln -s "$T/elsewhere" d/link
	echo far >"$T/elsewhere"
	git-checkpoint save -q --state-file k=d/link
	expect_eq far "$(git-checkpoint show --state k @)"
}

test_a_state_file_that_cannot_be_read_leaves_nothing() {
	echo x >f
	expect_exit 128 git-checkpoint save --state-file k=not-there 2>"$T/err"
	expect_grep not-there "$T/err"
	expect_exit 128 git-checkpoint save --state-file k=. 2>"$T/err"
	expect_eq 0 "$(count)"
	test -z "$(find "$(store_dir)" -name 'tmp_ckpt_*')"
}

test_malformed_ones() {
	echo x >f
	for bad in '=v' 'nothing' "$(printf 'a\nb=v')" "$(printf '\377=v')" \
		"$(printf '%0256d' 0)=v"; do
		expect_exit 129 git-checkpoint save --state "$bad" 2>"$T/err"
		expect_exit 129 git-checkpoint save --state-file "$bad" 2>"$T/err"
	done
	git-checkpoint save -q --state "$(printf '%0255d' 0)=v"
	expect_exit 129 git-checkpoint save --state a=1 --state a=1
	expect_exit 129 git-checkpoint save --state a=1 --state-file a=f
	expect_exit 129 git-checkpoint save --state-file a=f --state-file a=f
	expect_exit 129 git-checkpoint save --state-only
	expect_exit 129 git-checkpoint save --state-only --state a=1 f
	expect_exit 128 git-checkpoint show --state nope @
	expect_exit 128 git-checkpoint show a @
	expect_exit 129 git-checkpoint show --state --stat @
}

test_state_alone_touches_no_file() {
	echo x >f
	save
	files=$id
	save --state-only --state phase=1
	state=$id
	expect_eq state_snapshot "$(json .checkpoint.type "$T/save.json")"
	expect_eq '[]' "$(jq -c .checkpoint.scope.files "$T/save.json")"
	expect_eq '["phase"]' "$(jq -c .checkpoint.scope.state_keys "$T/save.json")"
	nothing=$(printf '' | sha256sum | cut -d' ' -f1)
	expect_eq "sha256:$nothing" "$(json .pre_mutation_state.hash "$T/save.json")"
	test -z "$(git-checkpoint show --hashes @)"
	test -z "$(git-checkpoint show --files @)"
	echo y >f
	echo z >g
	fingerprint_raw . >"$T/before"
	restore "$state"
	expect_grep 'no file is touched' "$T/restore.json"
	restore --no-verify "$state"
	restore --dry-run "$state"
	fingerprint_raw . >"$T/after"
	expect_same "$T/before" "$T/after"
	expect_exit 128 git-checkpoint restore -y "$state" f
	expect_exit 1 git-checkpoint undo -y
	# the restore of files still knows what it did
	restore "$files"
	expect_eq x "$(cat f)"
	expect_missing g
}

test_files_are_compared_with_checkpoints_of_files() {
	echo x >f
	save
	files=$id
	save --state-only --state a=1
	# "@" has no files: who goes back to it would get none
	save
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
	expect_eq 0 "$(json .stats.changed "$T/save.json")"
	files=$id
	save --state-only --state a=1
	test -z "$(git-checkpoint diff)"
	echo y >f
	git-checkpoint diff --name-status >"$T/names"
	expect_eq "$(printf 'M\tf')" "$(cat "$T/names")"
	git-checkpoint status --json >"$T/status.json"
	expect_eq "$files" "$(json .compared_with "$T/status.json")"
	expect_eq '{"added":0,"modified":1,"deleted":0}' "$(jq -c .changes "$T/status.json")"
	expect_exit 128 git-checkpoint diff @
	expect_exit 128 git-checkpoint diff "$files" @
	save
	expect_eq 1 "$(json .stats.changed "$T/save.json")"
	git-checkpoint verify --all
	git --git-dir="$(store_dir)" fsck --strict
}

test_state_alone_is_compared_with_state_alone() {
	echo x >f
	save --state-only --state a=1 --state b=2
	first=$id
	save --state-only --state a=1 --state b=2
	expect_eq "$first" "$id"
	save
	save --state-only --state a=1
	test "$first" != "$id" || fail 'a key that went is a change'
	git-checkpoint show --stat @ >/dev/null
	git-checkpoint show --patch @ >/dev/null
}

test_state_alone_where_there_are_no_files_yet() {
	echo x >f
	save --state-only --state a=1
	git-checkpoint status --json >"$T/status.json"
	expect_eq null "$(json .compared_with "$T/status.json")"
	git-checkpoint status >"$T/status"
	expect_grep 'no files are saved' "$T/status"
	expect_exit 128 git-checkpoint diff 2>"$T/err"
	expect_grep 'no checkpoint of files' "$T/err"
	save
	expect_eq true "$(json .checkpoint_created "$T/save.json")"
	expect_eq 1 "$(json .stats.files "$T/save.json")"
}

test_a_large_file_is_streamed() {
	echo x >f
	noise 60000000 >"$T/large"
	"$BUILD_DIR/measure" "$T/rss" git-checkpoint save -q --state-file "large=$T/large"
	git-checkpoint show --state large @ | cmp - "$T/large"
	git-checkpoint show --json @ >"$T/show.json"
	expect_eq null "$(json .state.large "$T/show.json")"
	git-checkpoint verify --all
	case $BUILD_DIR in
	*address* | *thread*) ;;
	*) test "$(cut -d' ' -f2 "$T/rss")" -lt 40000 || fail "memory: $(cat "$T/rss")" ;;
	esac
	# damage in the middle of it is found
	pack=$(find "$(store_dir)/objects/pack" -name '*.pack')
	chmod u+w "$pack"
	printf xxxx | dd of="$pack" bs=1 seek=30000000 conv=notrunc 2>/dev/null
	expect_exit 1 git-checkpoint verify --all >"$T/verify"
	expect_grep large "$T/verify"
}

test_state_alone_does_not_push_out_the_files() {
	export GIT_CHECKPOINT_MAX_COUNT=1
	echo 1 >a
	git-checkpoint save -q -m files
	for i in 1 2 3; do
		git-checkpoint save -q --state-only --state k=$i -m "state $i"
	done
	expect_eq 'state 3 files' "$(git-checkpoint list --json | jq -r '[.checkpoints[].reason] | join(" ")')"
}

run_tests
