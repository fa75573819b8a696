#!/bin/sh
# SPDX-License-Identifier: MIT
# agent-hook: what the entries in the settings of coding agents run, with the events of real agents.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"

EVENTS=$LIB_DIR/agent-events

# newest <filter>: of the newest checkpoint
newest() {
	git checkpoint list --json | jq -r ".checkpoints[0] | $1"
}

# tell <agent> <json> [<event>]: the hook must exit 0 and say nothing; @CWD@ is here
tell() {
	printf '%s' "$2" | sed "s#@CWD@#$PWD#g" >"$T/event"
	git-checkpoint agent-hook "$1" ${3:+"$3"} <"$T/event" >"$T/got" 2>"$T/err"
	answer "$1" >"$T/wanted"
	expect_same "$T/wanted" "$T/got"
	expect_eq '' "$(cat "$T/err")" 'messages'
}

# event_of <line>: what happens with it, from its own words
event_of() {
	printf '%s' "$1" | jq -r '
		def reads: IN("Read", "read_file", "view");
		(.hook_event_name // .hookName // "") as $e |
		(.tool_name // .toolName // (.tool_call // .tool_result // {}).name) as $t |
		if ($t // "" | reads) then "-"
		elif $e | IN("PreToolUse", "BeforeTool", "tool_call") then "pre-tool"
		elif $e | IN("PostToolUse", "AfterTool", "tool_result") then "post-tool"
		elif ($e | IN("UserPromptSubmit", "BeforeAgent")) and .prompt == "" then "-"
		elif $e | IN("UserPromptSubmit", "BeforeAgent", "agent_start") then "prompt"
		elif $e | IN("Stop", "AfterAgent", "agent_end", "SubagentStop", "SessionEnd") then "stop"
		elif $e != "" then "-"
		elif .toolResult then "post-tool"
		elif .toolName then "pre-tool"
		elif .prompt then "prompt"
		elif .stopReason then "stop"
		else "-" end'
}

# Every line that was recorded, with a change before each.
test_every_event_of_real_agents() {
	agent_repo
	n=0
	for file in "$EVENTS"/*.jsonl; do
		agent=$(basename "$file" .jsonl)
		entry=$agent
		case $agent in *-by-claude)
			agent=${agent%-by-claude}
			entry=claude-code
			;;
		esac
		while IFS= read -r line; do
			n=$((n + 1))
			echo "$n" >file
			before=$(git checkpoint list --json | jq '.checkpoints | length')
			tell "$entry" "$line"
			expected=$(event_of "$line")
			if test "$expected" = -; then
				expect_eq "$before" "$(checkpoints)" "checkpoints after $line"
				continue
			fi
			expect_eq "$((before + 1))" "$(checkpoints)" "checkpoints after $line"
			expect_eq "$expected $agent true $agent" "$(newest '"\(.reason) \(.source) \(.automatic) \(.agent.name)"')"
			newest . >"$T/row"
			printf '%s' "$line" | jq --slurpfile row "$T/row" -e '
				$row[0] as $r | (.tool_call // .tool_result // {}) as $n |
				$r.agent.session == (.session_id // .sessionId // .taskId) and $r.session == $r.agent.session and
				$r.agent.turn_id == (.prompt_id // .turn_id) and
				$r.agent.tool == (.tool_name // .toolName // $n.name) and
				$r.agent.tool_call == (.tool_use_id // $n.id) and
				$r.agent.sub_agent == (if has("parent_agent_id") then null else .agent_id end) and
				(.prompt == null or $r.agent.prompt == .prompt)' >/dev/null || {
				cat "$T/row"
				fail "labels of $line"
			}
			# nothing changed, whatever the labels are
			tell "$entry" "$line"
			expect_eq "$((before + 1))" "$(checkpoints)" "checkpoints after $line again"
		done <"$file"
	done
	test $n -gt 90
}

test_titles_name_the_tool_and_what_it_works_on() {
	agent_repo
	mkdir src
	n=0
	while IFS='|' read -r json title; do
		n=$((n + 1))
		echo $n >file
		tell claude-code "{\"cwd\":\"@CWD@/src\",\"transcript_path\":\"/h/.claude/x\",$json}"
		expect_eq "$title" "$(newest .title)"
	done <<-'END'
	"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"@CWD@/src/parser.c"}|before: Edit src/parser.c
	"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"@CWD@/src/parser.c"}|after: Edit src/parser.c
	"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/elsewhere/x"}|before: Write /elsewhere/x
	"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make test"}|before: Bash "make test"
	"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"API_TOKEN=abc curl https://me:pw@x/y"}|before: Bash "API_TOKEN=*** curl https://x/y"
	"hook_event_name":"PreToolUse","tool_name":"mcp__db__drop","tool_input":{"table":"x"}|before: mcp__db__drop
	"hook_event_name":"UserPromptSubmit","prompt":"rename the parser\nand more"|before: prompt "rename the parser"
	"hook_event_name":"Stop"|after: a turn of claude-code
	END
	git checkpoint list >"$T/out"
	expect_grep 'before: Edit src/parser.c' "$T/out"
}

test_prompts_can_be_left_out() {
	agent_repo
	prompt='{"cwd":"@CWD@","session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"my secret plan"}'
	tell codex "$prompt"
	expect_eq 'my secret plan' "$(newest .agent.prompt)"
	git config checkpoint.agentPrompts false
	echo 2 >file
	tell codex "$prompt"
	expect_eq 'null s before: a prompt' "$(newest '"\(.agent.prompt) \(.agent.session) \(.title)"')"
	git --git-dir="$(store_dir)" log -1 --format=%B "$(newest .commit)" >"$T/out"
	expect_no_grep secret "$T/out"
}

# ---- where ------------------------------------------------------------------------

# The agent went into a linked worktree, and its hook still runs in the main one.
test_the_tree_that_the_event_names_is_saved() {
	agent_repo
	git worktree add -q "$T/linked"
	git checkpoint save -q
	(cd "$T/linked" && echo changed >file)
	export CLAUDE_PROJECT_DIR="$PWD" GEMINI_PROJECT_DIR="$PWD"
	for agent in claude-code codex gemini-cli; do
		echo "$agent" >"$T/linked/file"
		tell $agent "{\"cwd\":\"$T/linked\",\"transcript_path\":\"/h/.claude/x\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Run\"}"
		expect_eq 1 "$(checkpoints)" 'checkpoints of the main worktree'
		expect_eq $agent "$(cd "$T/linked" && newest .source)"
		expect_eq $agent "$(cd "$T/linked" && git --git-dir="$(store_dir)" show "$(newest .commit):file")"
	done
	# a directory that is gone: its workspace, then where the hook runs
	rm -f "$T/linked/file"
	tell cline "{\"cwd\":\"/none\",\"workspaceRoots\":[\"/none\",7,\"$T/linked\"],\"hookName\":\"tool_call\",\"tool_call\":{\"name\":\"x\"}}"
	expect_eq cline "$(cd "$T/linked" && newest .source)"
	echo here >file
	tell codex '{"cwd":"/none","hook_event_name":"PreToolUse","tool_name":"x"}'
	expect_eq codex "$(newest .source)"
	echo there >file
	tell codex '{"hook_event_name":"PreToolUse","tool_name":"x"}'
	expect_eq 3 "$(checkpoints)"
}

test_no_second_process_and_no_work_for_tools_that_read() {
	require strace
	agent_repo
	git checkpoint save -q
	strace -f -e trace=process -o "$T/trace" true 2>/dev/null || skip 'strace cannot trace here'
	echo '{"cwd":"'"$PWD"'","hook_event_name":"PreToolUse","tool_name":"Bash"}' >"$T/event"
	strace -f -e trace=execve -o "$T/trace" git-checkpoint agent-hook claude-code <"$T/event"
	expect_eq 1 "$(grep -c 'execve(' "$T/trace")" 'programs'
	echo 2 >file
	strace -f -e trace=execve -o "$T/trace" git-checkpoint agent-hook claude-code <"$T/event"
	expect_eq 1 "$(grep -c 'execve(' "$T/trace")" 'programs, with a change'
	sed s/Bash/Read/ "$T/event" >"$T/read"
	strace -f -e trace=openat,chdir -o "$T/trace" git-checkpoint agent-hook claude-code <"$T/read"
	expect_no_grep 'chdir(' "$T/trace"
	expect_no_grep 'git-checkpoint/' "$T/trace"
}

# ---- input of all kinds -------------------------------------------------------------

test_damaged_events_do_no_harm() {
	agent_repo
	mkdir "$T/odd"
	"$LIB_DIR/mutate.pl" "$TEST_SEED" 2000 "$T/odd" "$EVENTS"/*.jsonl
	n=0
	while test $n -lt 2000; do
		n=$((n + 1))
		sed "s#@CWD@#$PWD#g" "$T/odd/$n" >"$T/event"
		git-checkpoint agent-hook claude-code <"$T/event" >"$T/got" 2>"$T/err" ||
			fail "event $n of seed $TEST_SEED: exit status $?"
		expect_eq '' "$(cat "$T/got" "$T/err")" "what is said about event $n of seed $TEST_SEED"
	done
	git checkpoint verify -q --all
	expect_eq one "$(cat file)"
}

test_input_that_is_none() {
	agent_repo
	n=0
	for input in '' '[]' 'null' 'garbage' '{' '{"cwd":' '{}}'; do
		n=$((n + 1))
		echo $n >file
		tell codex "$input"
		test "$input" = '{}}' || expect_eq "before: a tool of codex" "$(newest .title)"
	done
	expect_eq 6 "$(checkpoints)" # '{}' is whole, and tells nothing
	echo closed >file
	git-checkpoint agent-hook codex <&-
	expect_eq 7 "$(checkpoints)"
}

test_an_object_that_is_whole_is_enough() {
	agent_repo
	mkfifo "$T/pipe"
	exec 8<>"$T/pipe"
	# the writer stays, and nobody waits for its end
	printf '{"cwd":"%s","hook_event_name":"PreToolUse","tool_name":"x","x":"}{\\""} rest' "$PWD" >&8
	git-checkpoint agent-hook codex <"$T/pipe"
	expect_eq 'before: x' "$(newest .title)"
	# half of it, and never more: after a while without it
	echo 2 >file
	printf '{"cwd":"%s' "$PWD" >&8
	git-checkpoint agent-hook codex <"$T/pipe"
	expect_eq 'before: a tool of codex' "$(newest .title)"
	exec 8<&-
}

test_input_without_end_and_of_any_size() {
	agent_repo
	git-checkpoint agent-hook codex </dev/zero
	expect_eq 1 "$(checkpoints)"
	echo 2 >file
	# larger than any pipe, and with the place at its end
	{
		printf '{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"'
		head -c 8000000 /dev/zero | tr '\0' x
		printf '","file_path":"%s/big"},"cwd":"%s"}' "$PWD" "$PWD"
	} >"$T/large"
	(cd / && git-checkpoint agent-hook codex <"$T/large")
	expect_eq 'before: Write big' "$(newest .title)"
	# more than is read
	echo 3 >file
	{
		printf '{"x":"'
		head -c 40000000 /dev/zero | tr '\0' x
		printf '"}'
	} | git-checkpoint agent-hook codex
	expect_eq 'before: a tool of codex' "$(newest .title)"
}

# ---- what goes wrong ----------------------------------------------------------------

test_the_person_hears_what_went_wrong_and_the_tool_does_not() {
	agent_repo
	git checkpoint save -q
	export GIT_CHECKPOINT_HOME=/dev/null/x
	event='{"cwd":"'"$PWD"'","session_id":"s","hook_event_name":"PreToolUse","tool_name":"x"}'
	for agent in claude-code codex gemini-cli; do
		echo "$event" | git-checkpoint agent-hook $agent >"$T/got" 2>"$T/err"
		expect_eq '' "$(cat "$T/err")"
		jq -e 'keys == ["systemMessage"] and (.systemMessage | startswith("git-checkpoint: not saved: "))' "$T/got"
	done
	echo "$event" | git-checkpoint agent-hook cline >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/got")"
	expect_grep 'git-checkpoint: not saved: ' "$T/err"
}

test_a_store_that_another_process_holds() {
	agent_repo
	git checkpoint save -q
	git config checkpoint.hookTimeout 1s
	echo 2 >file
	echo '{"cwd":"'"$PWD"'","hook_event_name":"PreToolUse","tool_name":"x"}' >"$T/event"
	flock "$(store_dir)/checkpoint/lock" git-checkpoint agent-hook claude-code <"$T/event" >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/err")"
	expect_eq '["systemMessage"]' "$(jq -c keys "$T/got")"
	tell claude-code "$(cat "$T/event")"
	expect_eq 2 "$(checkpoints)"
}

test_usage() {
	expect_exit 129 git checkpoint agent-hook 2>"$T/err"
	expect_grep 'takes the name of an agent' "$T/err"
	git checkpoint agent-hook -h >"$T/out"
	expect_grep 'agent-hook <agent>' "$T/out"
	# internal: not among the commands
	git checkpoint -h >"$T/out"
	expect_no_grep 'agent-hook' "$T/out"
}

run_tests
