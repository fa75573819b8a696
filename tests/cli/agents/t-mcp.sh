#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp: the server as clients of three revisions see it. tests/mcp has real clients.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/mcp.sh"

some_project() {
	git init -q .
	echo one >file
	mkdir sub
	printf 'a\0\377' >'sub/b c'
}

test_each_revision_begins_in_its_own_way() {
	some_project
	for revision in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
		mcp_open $revision
		jq -e ".result.protocolVersion == \"$revision\" and .result.serverInfo.name == \"git-checkpoint\"
			and (.result | has(\"resultType\") | not)" "$T/mcp-opened"
		mcp_ask ping '{}' | jq -e '.result == {}'
		mcp_ask tools/list '{}' | jq -e '.result | keys == ["tools"]'
		mcp_close
	done
	mcp_open 2026-07-28
	jq -e '.result | .resultType == "complete" and .supportedVersions == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
		and .ttlMs >= 0 and .cacheScope == "public" and .capabilities.tools == {}
		and ._meta["io.modelcontextprotocol/serverInfo"].name == "git-checkpoint"' "$T/mcp-opened"
	for list in tools/list resources/list resources/templates/list prompts/list; do
		mcp_ask $list '{}' | jq -e '.result | .resultType == "complete" and .ttlMs >= 0 and .cacheScope == "public"'
	done
	mcp_ask ping '{}' | jq -e '.error.code == -32601'
	mcp_close
}

test_a_client_of_another_revision_is_told() {
	mcp_open 2024-10-07
	jq -e '.result.protocolVersion == "2025-11-25"' "$T/mcp-opened"
	mcp_close
	mcp_begin
	REVISION=2025
	meta='"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}'
	mcp_ask tools/list "{\"_meta\":{$meta}}" |
		jq -e '.error | .code == -32022 and .data.requested == "2099-01-01" and (.data.supported | index("2026-07-28"))'
	# Stateless: what is needed is in every request, whatever came before.
	mcp_ask tools/list '{}' | jq -e '.error.code == -32602'
	mcp_ask server/discover '{}' | jq -e '.error.code == -32602'
	mcp_ask tools/list '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}' |
		jq -e '.error.code == -32602'
	mcp_ask tools/list '{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}' | jq -e '.error.code == -32602'
	mcp_close
}

test_tools_have_all_annotations_and_schemas() {
	mcp_open 2025-11-25
	jq -e '[.tools[].name] == ["checkpoint_save", "checkpoint_list", "checkpoint_show", "checkpoint_diff",
		"checkpoint_patch", "checkpoint_file", "checkpoint_status", "checkpoint_file_history", "checkpoint_turns",
		"checkpoint_preview_restore", "checkpoint_restore", "checkpoint_revert", "checkpoint_undo", "checkpoint_pin",
		"checkpoint_unpin"]' "$T/tools"
	jq -e '.tools | all(.annotations | [.readOnlyHint, .destructiveHint, .idempotentHint, .openWorldHint] | all(type == "boolean"))' "$T/tools"
	jq -e '.tools | all(.inputSchema.additionalProperties == false and .outputSchema.type == "object"
		and .annotations.openWorldHint == false and (.inputSchema.properties | has("directory")))' "$T/tools"
	expect_eq 'diff file file_history list patch preview_restore show status turns' "$(jq -r \
		'[.tools[] | select(.annotations.readOnlyHint) | .name | ltrimstr("checkpoint_")] | sort | join(" ")' "$T/tools")"
	expect_eq 'restore revert undo' "$(jq -r \
		'[.tools[] | select(.annotations.destructiveHint) | .name | ltrimstr("checkpoint_")] | sort | join(" ")' "$T/tools")"
	jq -e '.tools | all(.annotations.destructiveHint == (.inputSchema.required // [] | index("token") != null))' "$T/tools"
	jq -e '[.tools[].inputSchema.properties | keys[]] | unique == ["checkpoint", "cursor", "directory", "path",
		"paths", "reason", "revert", "session", "token", "undo"]' "$T/tools"
	mcp_close
}

# The schemas promise nothing but what git-checkpoint-json(5) has.
test_answers_have_the_keys_of_the_manual() {
	mcp_open 2025-11-25
	tr -d '\\' <"$ROOT_DIR/man/git-checkpoint-json.5" >"$T/manual"
	for key in $(jq -r '[.tools[].outputSchema | .. | objects | .properties? // {} | keys[]] | unique[]' "$T/tools"); do
		case $key in token | total | next_cursor | text | base64) continue ;; esac
		grep -qw "$key" "$T/manual" || fail "the manual does not have '$key'"
	done
	mcp_close
}

# What the server adds, and --json does not print.
printed() {
	jq -S 'del(.worktree, .total, .next_cursor)'
}

# Each answer is what --json prints.
test_tools_answer_as_commands_do() {
	some_project
	for revision in 2025-06-18 2025-11-25 2026-07-28; do
		mcp_open $revision
		echo $revision >file
		mcp_ok checkpoint_save "{\"reason\":\"with $revision\"}" >"$T/saved"
		jq -e ".checkpoint | .reason == \"with $revision\" and .source == \"tester\"" "$T/saved"
		mcp_ok checkpoint_list '{}' >"$T/list"
		git checkpoint list --json | jq -S . >"$T/expected"
		printed <"$T/list" | cmp - "$T/expected"
		id=$(jq -r .checkpoint.id "$T/saved")
		mcp_ok checkpoint_show "{\"checkpoint\":\"$id\"}" | printed >"$T/list"
		git checkpoint show --json "$id" | jq -S . | cmp - "$T/list"
		echo more >>file
		mcp_ok checkpoint_diff '{"paths":["file", "sub"]}' | printed >"$T/list"
		git checkpoint diff --json -- file sub | jq -S . | cmp - "$T/list"
		mcp_ok checkpoint_file_history '{"path":"sub/b c"}' | printed >"$T/list"
		git checkpoint list --json -- 'sub/b c' | jq -S . | cmp - "$T/list"
		mcp_ok checkpoint_pin "{\"checkpoint\":\"$id\"}" | jq -e '.checkpoint.pinned'
		mcp_ok checkpoint_status '{}' | jq -e '.safe == false and .changes.modified == 1'
		mcp_close
	done
}

test_a_save_can_be_of_some_paths_with_any_name() {
	git init -q .
	printf x >"$(printf 'odd\377')"
	echo x >'[ab]'
	echo x >a
	echo x >--force
	mcp_open 2025-11-25
	mcp_ok checkpoint_save '{"paths":["\"odd\\377\"","[ab]","--force"]}' |
		jq -e '.checkpoint.scope.files == ["--force", "[ab]", "\"odd\\377\""]'
	mcp_ok checkpoint_save '{"reason":"--force"}' | jq -e '.checkpoint.reason == "--force"'
	mcp_ok checkpoint_diff '{"paths":["[ab]"]}' | jq -e '.changes == []'
	mcp_close
}

test_a_failure_is_the_answer_of_the_tool() {
	some_project
	mcp_open 2025-11-25
	mcp_refuses checkpoint_show '{"checkpoint":"@"}' 128
	mcp_ok checkpoint_save '{}'
	mcp_refuses checkpoint_show '{"checkpoint":"nope"}' 128 | grep "'nope'"
	mcp_refuses checkpoint_diff '{"paths":["/etc/passwd"]}' 128 | grep outside
	mcp_refuses checkpoint_preview_restore '{"undo":true}' 1 | grep 'no restore to undo'
	mcp_ask tools/call '{"name":"checkpoint_drop","arguments":{}}' | jq -e '.error.code == -32602'
	mcp_close
}

test_resources_are_the_list_and_files() {
	some_project
	for revision in 2025-11-25 2026-07-28; do
		mcp_open $revision
		mcp_ok checkpoint_save '{}' >/dev/null
		mcp_ask resources/list '{}' | jq -e '.result.resources[0].uri == "checkpoint:///list"'
		mcp_ask resources/templates/list '{}' |
			jq -e '.result.resourceTemplates[0].uriTemplate == "checkpoint:///{id}/{+path}"'
		mcp_ask resources/read '{"uri":"checkpoint:///list"}' | jq -e '.result.contents[0] |
			.mimeType == "application/json" and (.text | fromjson.checkpoints | length == 1)'
		mcp_ask resources/read '{"uri":"checkpoint:///@/file"}' | jq -e '.result.contents[0] |
			.text == "one\n" and .uri == "checkpoint:///@/file"'
		mcp_ask resources/read '{"uri":"checkpoint:///@/sub/b%20c"}' |
			jq -r '.result.contents[0].blob' | base64 -d | cmp - 'sub/b c'
		for uri in checkpoint:///@/none checkpoint:///@/ checkpoint:///@ checkpoint:///--json/x checkpoint:///@/a%00b \
			checkpoint:///@/%zz checkpoint:///@//etc/passwd checkpoint:///@/../file file:///etc/passwd checkpoint://x/list; do
			mcp_ask resources/read "{\"uri\":\"$uri\"}" | jq -e --arg uri "$uri" '.error | .data.uri == $uri and
				.code == (if "'$revision'" < "2026" then -32002 else -32602 end)'
		done
		mcp_close
	done
}

test_a_resource_may_be_too_large() {
	git init -q .
	truncate -s 9M large
	mcp_open 2025-11-25
	mcp_ok checkpoint_save '{}' >/dev/null
	mcp_ask resources/read '{"uri":"checkpoint:///@/large"}' | jq -e '.error.code == -32603'
	mcp_ask ping '{}' | jq -e .result
	mcp_close
}

test_there_is_a_prompt() {
	mcp_open 2025-11-25
	mcp_ask prompts/list '{}' | jq -e '.result.prompts | length == 1 and .[0].name == "change_safely"'
	mcp_ask prompts/get '{"name":"change_safely","arguments":{"task":"rename it"}}' |
		jq -e '.result.messages[0] | .role == "user" and (.content.text | test("rename it"))'
	mcp_ask prompts/get '{"name":"change_safely"}' | jq -e '.error.code == -32602'
	mcp_ask prompts/get '{"name":"x","arguments":{"task":"x"}}' | jq -e '.error.code == -32602'
	mcp_close
}

# The lock of the store is held until the client was told that the call goes on.
test_progress_and_cancellation() {
	some_project
	mcp_open 2025-11-25
	mcp_ok checkpoint_save '{}' >/dev/null
	mkfifo "$T/hold"
	(
		flock 9
		: >"$T/held"
		cat "$T/hold" >/dev/null
	) 9<"$(store_dir)/checkpoint/lock" &
	until test -e "$T/held"; do sleep 0.01; done
	echo two >file
	mcp_send '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"checkpoint_save","_meta":{"progressToken":"p"}}}'
	mcp_send '{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"checkpoint_save","arguments":{"reason":"b"}}}'
	mcp_send '{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"checkpoint_status"}}'
	mcp_send '{"jsonrpc":"2.0","id":"a","method":"ping"}'
	mcp_line | jq -e '.id == null and .error.code == -32600'
	mcp_line | jq -e '.method == "notifications/progress" and .params.progressToken == "p" and .params.progress == 1'
	mcp_line | jq -e '.params.progress == 2'
	mcp_send '{"jsonrpc":"2.0","id":"d","method":"ping"}'
	while line=$(mcp_line) && expr "$line" : '.*progress"' >/dev/null; do :; done
	echo "$line" | jq -e '.id == "d"'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"x"}}'
	mcp_send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}'
	: >"$T/hold"
	# Neither the one that ran nor the one that waited is answered.
	while line=$(mcp_line) && expr "$line" : '.*progress"' >/dev/null; do :; done
	echo "$line" | jq -e '.id == "b" and .result.structuredContent.checkpoint.reason == "b"'
	mcp_ask ping '{}' | jq -e .result
	mcp_close
}

test_what_was_asked_for_before_the_input_ended_is_answered() {
	some_project
	{
		echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
		for i in $(seq 40); do
			echo "{\"jsonrpc\":\"2.0\",\"id\":$i,\"method\":\"tools/call\",\"params\":{\"name\":\"checkpoint_status\"}}"
		done
		printf '{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"checkpoint_save"}}'
	} | git checkpoint mcp >answers
	expect_eq 42 "$(wc -l <answers)"
	jq -se '[.[].id] | sort == [range(42)]' answers
	jq -se 'map(select(.result.structuredContent)) | length == 41' answers
}

run_tests
