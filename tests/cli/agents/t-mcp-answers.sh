#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp: how an answer begins, answers in parts, what a model is never told, and whose restore it was.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/mcp.sh"

some_project() {
	git init -q .
	echo one >file
}

# states <n>
states() {
	for i in $(seq "$1"); do
		echo "$i" >file
		git checkpoint save -q -m "state $i"
	done
}

# begins <keys>: the first members of the last answer, as they were sent
begins() {
	jq -r '.content[0].text' "$T/result" | jq -r --argjson n "$(echo "$1" | wc -w)" 'keys_unsorted[:$n] | join(" ")' >"$T/keys"
	expect_eq "$1" "$(cat "$T/keys")"
}

test_the_worktree_and_the_token_come_first() {
	some_project
	for i in $(seq 300); do echo "$i" >"f$i"; done
	git checkpoint save -q
	rm f*
	mcp_open 2025-11-25
	mcp_ok checkpoint_preview_restore '{"checkpoint":"@"}' |
		jq -e --arg here "$PWD" '.worktree == $here and .total == 301 and (.changes_reverted | length == 301)'
	begins 'worktree token total'
	for call in 'list {}' 'diff {}' 'patch {}' 'show {"checkpoint":"@"}' 'file_history {"path":"f1"}' \
		'file {"checkpoint":"@","path":"f1"}'; do
		mcp_ok "checkpoint_${call%% *}" "${call#* }" >/dev/null
		begins 'worktree total next_cursor'
	done
	for call in 'save {}' 'status {}' 'pin {"checkpoint":"@"}' 'unpin {"checkpoint":"@"}'; do
		mcp_ok "checkpoint_${call%% *}" "${call#* }" >/dev/null
		begins worktree
	done
	mcp_refuses checkpoint_show '{"checkpoint":"none"}' 128
	begins 'worktree error'
	mcp_close
}

# all_parts <tool> <arguments> <filter>: its rows, part by part
all_parts() {
	cursor=null
	until test "$cursor" = none; do
		mcp_ok "$1" "$(echo "$2" | jq -c --argjson cursor "$cursor" '. + {cursor: $cursor}')" >"$T/part"
		jq -c "$3" "$T/part"
		cursor=$(jq -c '.next_cursor // "none"' "$T/part")
		test "$cursor" != '"none"' || cursor=none
	done
}

test_lists_come_in_parts() {
	some_project
	states 45
	mcp_open 2025-11-25
	mcp_ok checkpoint_list '{}' | jq -e '(.checkpoints | length == 20) and .total == 45 and .next_cursor == "20"'
	all_parts checkpoint_list '{}' '.checkpoints[].id' >got
	git checkpoint list --json | jq -c '.checkpoints[].id' | cmp - got
	all_parts checkpoint_file_history '{"path":"file"}' '.checkpoints[].id' >got
	git checkpoint list --json -- file | jq -c '.checkpoints[].id' | cmp - got
	for i in $(seq 450); do echo "$i" >"f$i"; done
	all_parts checkpoint_diff '{}' '.changes[].file' >got
	git checkpoint diff --json | jq -c '.changes[].file' | cmp - got
	mcp_ask resources/read '{"uri":"checkpoint:///list"}' |
		jq -e '.result.contents[0].text | fromjson.checkpoints | length == 20'
	for cursor in '""' '"x"' '"-1"' '20' '"99999999999999999999"' '[]'; do
		mcp_refuses checkpoint_list "{\"cursor\":$cursor}" 129
	done
	mcp_ok checkpoint_list '{"cursor":"4000"}' | jq -e '.checkpoints == [] and .next_cursor == null'
	mcp_close
}

test_contents_are_exact_whatever_is_in_them() {
	some_project
	perl -e 'print "x", "\xe2\x82\xac" x 60000' >euro
	perl -e 'srand($ARGV[0]); print pack "C*", map { int rand 256 } 1 .. 150000' "$TEST_SEED" >bytes
	perl -e 'print "\x80" x 70000' >tails
	: >empty
	mkdir sub
	echo two >'sub/a b'
	git checkpoint save -q
	mcp_open 2025-11-25
	for file in file euro bytes tails empty 'sub/a b'; do
		all_parts checkpoint_file "$(jq -cn --arg path "$file" '{checkpoint: "@", path: $path}')" \
			'if .text then (.text | @base64) else .base64 end' | jq -r . >"$T/parts"
		while read -r part; do echo "$part" | base64 -d; done <"$T/parts" | cmp - "$file"
	done
	mcp_refuses checkpoint_file '{"checkpoint":"@","path":"none"}' 128 | grep none
	mcp_refuses checkpoint_file '{"checkpoint":"@","path":"../file"}' 128
	mcp_refuses checkpoint_file '{"checkpoint":"@"}' 129
	mcp_close
}

test_a_patch_is_what_diff_prints() {
	some_project
	git checkpoint save -q
	seq 30000 >large
	printf 'odd \377\n' >>file
	mcp_open 2025-11-25
	all_parts checkpoint_patch '{"paths":["large"]}' .text | jq -rj . >got
	git checkpoint diff -p -- large | cmp - got
	mcp_ok checkpoint_patch '{"checkpoint":"@","paths":["file"]}' | jq -e '.text | test("\n\\+odd")'
	mcp_close
}

test_turns_and_unpin() {
	some_project
	mcp_open 2025-11-25
	mcp_refuses checkpoint_turns '{}' 128
	for i in 1 2; do
		echo "$i" >file
		jq -cn --arg id "p$i" --arg cwd "$PWD" '{session_id: "s", prompt_id: $id, cwd: $cwd,
			hook_event_name: "UserPromptSubmit", prompt: "do \($id)"}' | git checkpoint agent-hook claude-code
	done
	mcp_ok checkpoint_turns '{}' | jq -e '.total == 2 and [.turns[].prompt] == ["do p2", "do p1"] and .session == "s"'
	mcp_ok checkpoint_turns '{"session":"s"}' | jq -e '.turns | length == 2'
	mcp_refuses checkpoint_turns '{"session":"--json"}' 128
	git checkpoint pin -q @
	mcp_ok checkpoint_unpin '{"checkpoint":"@"}' | jq -e '.checkpoint.pinned == false'
	mcp_close
}

test_what_is_left_out_may_be_null() {
	some_project
	states 2
	mcp_open 2025-11-25
	mcp_ok checkpoint_save '{"reason":null,"paths":null,"directory":null}' >/dev/null
	mcp_ok checkpoint_list '{"cursor":null}' >/dev/null
	mcp_ok checkpoint_preview_restore '{"checkpoint":"@~1","revert":null,"undo":false,"paths":null}' | jq -e .token
	mcp_ok checkpoint_preview_restore '{"checkpoint":"@~1","undo":null}' | jq -e .token
	mcp_refuses checkpoint_preview_restore '{"undo":"yes","checkpoint":null}' 129
	# Nothing is not everything.
	for tool in save diff patch; do
		mcp_refuses checkpoint_$tool '{"paths":[]}' 129 | grep "'paths' is empty"
	done
	mcp_refuses checkpoint_preview_restore '{"checkpoint":"@~1","paths":[]}' 129
	mcp_close
}

# What a person may do with --force is not for a model.
test_no_answer_offers_force() {
	some_project
	states 2
	git checkpoint restore -q --yes @~1
	mcp_open 2025-11-25
	mcp_refuses checkpoint_preview_restore '{"undo":true}' 5 >said
	expect_grep "^the last restore was asked for by 'cli', not by 'tester/[0-9a-f]*'$" said
	mcp_close
	git checkpoint config maxFiles 1
	echo x >x
	mcp_open 2025-11-25
	mcp_refuses checkpoint_save '{}' 5 >said
	expect_eq "more than 1 files below '$PWD'" "$(cat said)"
	mcp_close
}

# call_as <name>: a connection of a client that calls itself so
open_as() {
	mcp_begin
	REVISION=2025
	mcp_ask initialize "{\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"$1\"}}" >/dev/null
	mcp_ask tools/list '{}' | jq -c .result >"$T/tools"
}

test_a_name_is_not_who_one_is() {
	some_project
	states 2
	git checkpoint restore -q --yes @~1
	for name in cli flow hook watch checkpoint CLI cli-mcp-client; do
		open_as "$name"
		mcp_refuses checkpoint_preview_restore '{"undo":true}' 5 | grep "asked for by 'cli'"
		mcp_close
	done
	expect_eq 1 "$(cat file)"
	# Nor does another connection of the same name undo what this one did, and tokens are not shared.
	open_as tester
	restore=$(mcp_ok checkpoint_preview_restore '{"checkpoint":"@"}' | jq -r .token)
	mcp_ok checkpoint_restore "{\"checkpoint\":\"@\",\"token\":\"$restore\"}" >/dev/null
	token=$(mcp_ok checkpoint_preview_restore '{"undo":true}' | jq -r .token)
	mcp_close
	open_as tester
	mcp_refuses checkpoint_undo "{\"token\":\"$token\"}" 5 | grep 'not valid'
	mcp_refuses checkpoint_preview_restore '{"undo":true}' 5 | grep "asked for by 'tester/"
	asker=$(git checkpoint log --json | jq -r '[.. | .source? // empty | select(startswith("tester/"))][0]')
	mcp_close
	open_as "$asker"
	mcp_refuses checkpoint_preview_restore '{"undo":true}' 5
	mcp_close
}

# Their saves are not taken for the user's, or a program's that is part of this one.
test_no_client_saves_as_somebody_else() {
	some_project
	for name in cli flow hook watch checkpoint; do
		echo $name >file
		open_as $name
		mcp_ok checkpoint_save '{}' | jq -e '.checkpoint.source == "mcp"'
		mcp_close
	done
}

test_an_agent_has_the_same_name_as_in_hooks() {
	some_project
	for pair in claude-code:claude-code codex-mcp-client:codex gemini-cli-mcp-client:gemini-cli \
		qwen-cli-mcp-client-x:qwen-code github-copilot-developer:copilot opencode:opencode Cline:cline cursor-vscode:cursor; do
		echo "$pair" >file
		open_as "${pair%:*}"
		mcp_ok checkpoint_save '{}' | jq -e --arg name "${pair#*:}" '.checkpoint.source == $name'
		mcp_close
	done
}

# The place was found once: neither configuration nor a repository around it leads on.
test_a_server_stays_where_it_was_started() {
	mkdir -p around/project/sub
	cd around || exit
	git init -q .
	echo secret >above
	cd project || exit
	some_project
	cd sub || exit
	mcp_open 2025-11-25
	here=$T/work/around/project
	mcp_ok checkpoint_save '{}' | jq -e --arg here "$here" '.worktree == $here and .stats.files == 1'
	git config core.worktree ../..
	mcp_ok checkpoint_status '{}' | jq -e --arg here "$here" '.worktree == $here and .safe'
	mv ../.git ../gone
	mcp_ok checkpoint_save '{}' | jq -e --arg here "$here" '.worktree == $here'
	mcp_ask resources/read '{"uri":"checkpoint:///@/above"}' | jq -e .error
	mcp_ask resources/read '{"uri":"checkpoint:///@/file"}' | jq -e '.result.contents[0].text == "one\n"'
	mv "$here" "$here.moved"
	ln -s .. "$here"
	mcp_call checkpoint_status '{}' | jq -e --arg here "$here.moved" '.content[0].text | fromjson.worktree == $here'
	mcp_close
}

# asked <answer>: the server asks where the client is, and hears that
asked() {
	mcp_line | jq -e '.method == "roots/list" and .id == "where"'
	mcp_send "$1"
}

# is_in <directory> <answer>: the place of a call without one
is_in() {
	mcp_send '{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"checkpoint_status"}}'
	asked "$2"
	mcp_line | jq -e --arg there "$1" '.id == "c" and .result.structuredContent.worktree == $there'
}

test_the_place_follows_the_client_into_a_worktree() {
	some_project
	git add file
	git commit -qm one
	git worktree add -q -b task '.trees/a task'
	git worktree add -q ../beside
	git init -q nested
	mcp_begin
	REVISION=2025
	mcp_ask initialize '{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}' >/dev/null
	is_in "$PWD/.trees/a task" \
		"{\"jsonrpc\":\"2.0\",\"id\":\"where\",\"result\":{\"roots\":[{\"uri\":\"file://$PWD/.trees/a%20task\"}]}}"
	# Not where it may not go, nor to a directory that is not one.
	for uri in "file://$PWD" "file://${PWD%/*}/beside" "file://$PWD/nested" "file://$PWD/.trees" file:///etc x file://%00 ''; do
		is_in "$PWD" "{\"jsonrpc\":\"2.0\",\"id\":\"where\",\"result\":{\"roots\":[{\"uri\":\"$uri\"},{}]}}"
	done
	is_in "$PWD" '{"jsonrpc":"2.0","id":"where","error":{"code":-32601,"message":"no"}}'
	is_in "$PWD" '{"jsonrpc":"2.0","id":"where","result":[]}'
	# Whoever names a place is not asked, and an answer that nobody waits for says nothing.
	mcp_send '{"jsonrpc":"2.0","id":"where","result":{"roots":[{"uri":"file:///etc"}]}}'
	mcp_ask tools/call "{\"name\":\"checkpoint_status\",\"arguments\":{\"directory\":\"$PWD\"}}" | jq -e .result
	# Two calls at once, and a client that is gone.
	mcp_send '{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"checkpoint_status"}}'
	mcp_send '{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"checkpoint_status"}}'
	asked '{"jsonrpc":"2.0","id":"where","result":{"roots":[]}}'
	mcp_line | jq -e '.id == "d" and .result'
	mcp_line | jq -e '.method == "roots/list"'
	exec 3>&-
	mcp_line | jq -e '.id == "e" and .result'
	wait $mcp_pid
	exec 4<&-
}

test_what_is_too_long_is_answered_with_its_id() {
	some_project
	mcp_open 2025-11-25
	perl -e 'print q({"method":"tools/call","params":{"name":"checkpoint_save","arguments":{"reason":"a\"{[),
		"x" x 5e6, q("}},"jsonrpc":"2.0","id":"last"}), "\n"' >&3 &
	mcp_line | jq -e '.id == "last" and .error.code == -32600'
	wait $!
	perl -e 'print q({"jsonrpc":"2.0","id":7,"method":"), "\\u0041" x 1e6, q("}), "\n"' >&3 &
	mcp_line | jq -e '.id == 7 and .error.code == -32600'
	wait $!
	# A notification has none, and nobody waits.
	perl -e 'print q({"jsonrpc":"2.0","method":"x","params":{"id":1,"x":[), "[]," x 2e6, "1]}}\n"' >&3
	mcp_ask ping '{}' | jq -e .result
	mcp_close
}

run_tests
