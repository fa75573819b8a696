#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp: whatever tools are called with, each call is answered once, and without a token no file changes.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/mcp.sh"

CALLS=${MCP_CALLS:-120}

some_project() {
	git init -q .
	mkdir sub
	for i in 1 2 3; do
		echo "$i" >file
		echo "$i" >'sub/a b'
		git checkpoint save -q -m "state $i"
	done
	git checkpoint restore -q --yes @~1
	echo unsaved >file
}

test_calls_with_any_arguments() {
	mkdir project outside
	echo secret >outside/file
	cd project || exit
	some_project
	mcp_open 2025-11-25
	mcp_close
	fingerprint_raw .. >"$T/before"
	perl "$LIB_DIR/requests.pl" "$TEST_SEED" "$CALLS" "$T/tools" "$PWD" >"$T/requests"
	{
		echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"cli"}}}'
		cat "$T/requests"
	} | git checkpoint mcp >"$T/answers" 2>"$T/said"
	expect_eq '' "$(cat "$T/said")" 'what it says beside the answers'
	fingerprint_raw .. | cmp - "$T/before"
	jq -c .id "$T/answers" | sort >"$T/answered"
	perl -MJSON::PP -ne 'print JSON::PP->new->allow_nonref->encode(decode_json($_)->{id}), "\n"' "$T/requests" >"$T/ids"
	echo 0 | sort - "$T/ids" | cmp - "$T/answered"
	# Of each a whole answer, which says where it is from, and recommends nothing that is not for it.
	jq -c --arg here "$PWD" 'select(.result.content) | .result.content[0].text | fromjson |
		select((if .error.code == 129 then false else (.worktree // "" | startswith($here) | not) and .error.code == null end)
			or (.error.message // "" | test("use --force|--force ")))' "$T/answers" >"$T/odd"
	expect_eq '' "$(cat "$T/odd")"
	test "$(jq -c 'select(.result.isError | not)' "$T/answers" | wc -l)" -gt 5
	awk 'length > 400000' "$T/answers" >"$T/long"
	expect_eq '' "$(cut -c1-200 "$T/long")" 'answers that are too long'
	git checkpoint verify -q --all
	git checkpoint list --json | jq -e '.checkpoints | all(.source == "cli" or .source == "mcp")'
}

run_tests
