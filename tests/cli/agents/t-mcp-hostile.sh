#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp: input that nobody should send, and places where it has no business.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/mcp.sh"

some_checkpoint() {
	git init -q .
	echo one >file
	git checkpoint save -q
}

# Every line is refused with that code, and the server goes on.
refuses() {
	mcp_send "$2"
	mcp_line | jq -e --argjson code "$1" '.jsonrpc == "2.0" and .error.code == $code and (.error.message | type == "string")'
}

test_what_is_not_a_request_is_refused() {
	some_checkpoint
	mcp_open 2025-11-25
	refuses -32700 'nonsense'
	refuses -32700 '{"jsonrpc":"2.0","id":1,"method":"ping"'
	refuses -32700 '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'
	refuses -32700 "$(printf '{"jsonrpc":"2.0","id":1,"method":"\377"}')"
	refuses -32600 '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'
	refuses -32600 '[]'
	refuses -32600 '"ping"'
	refuses -32600 '17'
	refuses -32600 'null'
	refuses -32600 '{}'
	refuses -32600 '{"id":1,"method":"ping"}'
	refuses -32600 '{"jsonrpc":"1.0","id":1,"method":"ping"}'
	refuses -32600 '{"jsonrpc":"2.0","id":1}'
	refuses -32600 '{"jsonrpc":"2.0","id":1,"method":7}'
	refuses -32600 '{"jsonrpc":"2.0","id":null,"method":"ping"}'
	refuses -32600 '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'
	refuses -32600 '{"jsonrpc":"2.0","id":{},"method":"ping"}'
	refuses -32600 '{"jsonrpc":"2.0","id":1,"method":"ping\u0000x"}'
	refuses -32601 '{"jsonrpc":"2.0","id":1,"method":"Ping"}'
	refuses -32601 '{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":[]}}}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}'
	refuses -32602 '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":[]}}'
	mcp_ask ping '{}' | jq -e .result
	mcp_close
}

test_too_deep_and_too_long() {
	mcp_open 2025-11-25
	deep=$(printf '%33s' '' | tr ' ' '[')$(printf '%33s' '' | tr ' ' ']')
	refuses -32600 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":$deep}}"
	{
		printf '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":'
		head -c 100000 /dev/zero | tr '\0' '['
		echo
	} >&3
	mcp_line | jq -e '.error.code == -32700'
	{
		head -c 9000000 /dev/zero | tr '\0' 'x'
		echo
	} >&3 &
	mcp_line | jq -e '.error.code == -32600 and .id == null'
	wait $!
	mcp_ask ping '{}' | jq -e .result
	mcp_close
}

test_notifications_and_answers_are_never_answered() {
	some_checkpoint
	mcp_open 2025-11-25
	mcp_send '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"checkpoint_save","arguments":{"reason":"unasked"}}}'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}'
	mcp_send '{"jsonrpc":"2.0","id":1,"result":{}}'
	mcp_send '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'
	mcp_send ''
	mcp_send '   '
	mcp_ask ping '{}' | jq -e .result
	mcp_close
	expect_eq 1 "$(git checkpoint list --json | jq '.checkpoints | length')"
}

test_arguments_are_checked() {
	some_checkpoint
	mcp_open 2025-11-25
	mcp_refuses checkpoint_save '{"force":true}' 129 | grep "no argument 'force'"
	mcp_refuses checkpoint_save '{"checkpoint":"@"}' 129
	mcp_refuses checkpoint_save '{"reason":7}' 129
	mcp_refuses checkpoint_save '{"reason":""}' 129
	mcp_refuses checkpoint_save '{"paths":"file"}' 129
	mcp_refuses checkpoint_save '{"paths":[7]}' 129
	mcp_refuses checkpoint_save '{"paths":[""]}' 129
	mcp_refuses checkpoint_save '{"paths":["\"unfinished"]}' 129
	mcp_refuses checkpoint_save '[]' 129
	mcp_refuses checkpoint_show '{}' 129
	mcp_refuses checkpoint_show '{"checkpoint":null}' 129
	for name in --json -h --patch -; do
		mcp_refuses checkpoint_show "{\"checkpoint\":\"$name\"}" 129
		mcp_refuses checkpoint_pin "{\"checkpoint\":\"$name\"}" 129
		mcp_refuses checkpoint_preview_restore "{\"checkpoint\":\"$name\"}" 129
		mcp_refuses checkpoint_preview_restore "{\"revert\":\"$name\"}" 129
	done
	mcp_refuses checkpoint_show '{"checkpoint":"@:file"}' 129
	mcp_refuses checkpoint_diff '{"paths":["../x"]}' 128
	mcp_refuses checkpoint_diff '{"paths":[".git/config"]}' 128
	mcp_close
}

test_a_directory_is_confined_to_the_project() {
	mkdir project other
	cd project || exit
	some_checkpoint
	mkdir sub
	ln -s ../../other sub/out
	ln -s sub in
	ln -s / root
	mcp_open 2025-11-25
	for dir in "$T/work/other" "$T/work" / "$PWD/../other" "$PWD/sub/out" "$PWD/root" "$PWD/root/etc" /proc/self/cwd/..; do
		mcp_refuses checkpoint_save "{\"directory\":\"$dir\"}" 5 | grep outside
	done
	mcp_refuses checkpoint_save '{"directory":"sub"}' 129
	mcp_refuses checkpoint_save '{"directory":7}' 129
	mcp_refuses checkpoint_save "{\"directory\":\"$PWD/none\"}" 128
	mcp_refuses checkpoint_save "{\"directory\":\"$PWD/file\"}" 128
	for dir in "$PWD" "$PWD/sub" "$PWD/in" "$PWD/root$PWD"; do
		mcp_ok checkpoint_status "{\"directory\":\"$dir\"}" | jq -e --arg here "$PWD" '.worktree == $here'
	done
	mcp_close
	expect_eq 1 "$(git checkpoint stores --json | jq '.stores | length')" stores
}

test_roots_allow_more() {
	mkdir a b c
	for dir in a b c; do
		git init -q $dir
		echo $dir >$dir/file
	done
	ln -s b link
	cd a || exit
	mcp_open 2026-07-28 --root ../link --root "$T/work/a"
	mcp_ok checkpoint_save '{}' | jq -e '.stats.files == 1'
	mcp_ok checkpoint_status '{}' | jq -e --arg here "$PWD" '.worktree == $here'
	mcp_ok checkpoint_save "{\"directory\":\"$T/work/b\"}" >/dev/null
	mcp_refuses checkpoint_save "{\"directory\":\"$T/work/c\"}" 5
	mcp_close
	expect_eq 2 "$(git checkpoint stores --json | jq '.stores | length')" stores
	# Started elsewhere, the first one is meant.
	cd "$T/work/c" || exit
	mcp_open 2025-11-25 --root "$T/work/b"
	mcp_ok checkpoint_status '{}' | jq -e '.worktree | endswith("/b")'
	mcp_close
	expect_exit 128 git checkpoint mcp --root "$T/none" </dev/null
	expect_exit 128 git checkpoint mcp --root "$T/work/c/file" </dev/null
}

# The project may be larger than the root, or elsewhere.
test_a_root_does_not_allow_what_is_around_it() {
	some_checkpoint
	mkdir sub elsewhere
	mcp_open 2025-11-25 --root sub
	mcp_refuses checkpoint_save "{\"directory\":\"$PWD/sub\"}" 5
	mcp_refuses checkpoint_save '{}' 5
	mcp_close
	git init -q nested
	git -C nested config core.worktree "$PWD/elsewhere"
	mcp_open 2025-11-25 --root nested
	mcp_call checkpoint_save '{}' | jq -e '.isError or (.structuredContent.stats.files == 0)'
	mcp_close
	GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD mcp_open 2025-11-25 --root nested
	mcp_call checkpoint_status '{}' | jq -e --arg here "$PWD" '.isError or .structuredContent.worktree != $here'
	mcp_close
}

# Random damage to real messages: each line that is not empty has at most one answer, in JSON.
test_mutated_messages() {
	some_checkpoint
	cat "$ROOT_DIR"/tests/fuzz/corpus/mcp/* | grep . >"$T/seeds"
	mkdir "$T/mutated"
	perl "$LIB_DIR/mutate.pl" "$TEST_SEED" 500 "$T/mutated" "$T/seeds"
	sed 's/\r$//' "$T"/mutated/* "$T/seeds" >"$T/lines"
	git checkpoint mcp <"$T/lines" >"$T/answers" 2>"$T/said"
	expect_eq '' "$(cat "$T/said")"
	test -s "$T/answers"
	jq -e 'select(.jsonrpc != "2.0" or ((has("id") and (has("result") != has("error"))) or .method == "notifications/progress" | not))' \
		"$T/answers" >"$T/odd" || :
	expect_eq '' "$(cat "$T/odd")"
	test "$(wc -l <"$T/answers")" -le "$(($(wc -l <"$T/lines") + $(grep -c progressToken "$T/lines") * 100))"
	git checkpoint verify -q --all
}

test_a_client_that_is_gone_ends_it() {
	some_checkpoint
	mcp_begin
	exec 4<&-
	REVISION=2025
	mcp_send '{"jsonrpc":"2.0","id":1,"method":"ping"}'
	mcp_send '{"jsonrpc":"2.0","id":2,"method":"ping"}' 2>/dev/null || :
	wait $mcp_pid
	exec 3>&-
}

run_tests
