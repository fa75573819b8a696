#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --agent for every agent: what is written, where, and that nothing of it stays.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/agents.sh"

every() {
	git-checkpoint --complete git-checkpoint hooks install --agent '' | cut -c 2- | grep -v generic
}

# files: all that is not git's, with modes and contents
files() {
	find "${1:-.}" -name .git -prune -o -printf '%P %m %y\n' | sort
	find "${1:-.}" -name .git -prune -o -type f -print0 | sort -z | xargs -0 cat
}

test_the_names() {
	expect_eq 'amp claude-code cline codex copilot cursor droid gemini-cli goose kiro opencode qwen-code windsurf' \
		"$(every | xargs)"
}

test_installed_and_removed_without_a_trace() {
	agent_repo
	mkdir "$T/empty"
	files >"$T/before"
	for agent in $(every); do
		git checkpoint hooks install --agent "$agent" >"$T/out" 2>"$T/err"
		expect_grep '^hint: ' "$T/err"
		git checkpoint hooks install --agent "$agent" >"$T/out" 2>&1
		expect_grep "^$agent: unchanged " "$T/out"
		# one plain command for each event
		git ls-files -o | xargs grep -h 'agent-hook' >"$T/lines"
		expect_no_grep "[\`\$;&]" "$T/lines"
		git checkpoint hooks status --json >"$T/json"
		jq -e --arg agent "$agent" '[.agents[] | select(.agent == $agent)] |
			length == 1 and .[0].state == "installed" and .[0].works' "$T/json" >/dev/null
		git checkpoint hooks uninstall -q --agent "$agent"
		files >"$T/after"
		expect_same "$T/before" "$T/after"
		# in the home directory
		files "$HOME" >"$T/home.before"
		git checkpoint hooks install -q --user --agent "$agent" 2>/dev/null
		git checkpoint hooks uninstall -q --user --agent "$agent"
		files "$HOME" >"$T/after"
		expect_same "$T/home.before" "$T/after"
		files >"$T/after"
		expect_same "$T/before" "$T/after"
	done
}

test_directories_that_were_there_stay() {
	agent_repo
	mkdir -p .github/hooks .opencode .clinerules/hooks .agents/plugins .kiro .windsurf
	echo mine >.clinerules/rule.md
	files >"$T/before"
	for agent in copilot opencode cline goose kiro windsurf; do
		git checkpoint hooks install -q --agent "$agent" 2>/dev/null
		git checkpoint hooks uninstall -q --agent "$agent"
		files >"$T/after"
		expect_same "$T/before" "$T/after"
	done
}

test_files_of_the_user_are_never_overwritten() {
	agent_repo
	mkdir -p .clinerules/hooks .opencode/plugin
	echo '#!/bin/sh' >.clinerules/hooks/PostToolUse
	echo '// mine' >.opencode/plugin/git-checkpoint.js
	files >"$T/before"
	for agent in cline opencode; do
		expect_exit 5 git checkpoint hooks install --agent $agent 2>"$T/err"
		expect_grep "exists and was not written by 'hooks install'" "$T/err"
		git checkpoint hooks uninstall -q --agent $agent
		files >"$T/after"
		expect_same "$T/before" "$T/after"
	done
	# one of ours that was changed
	git checkpoint hooks install -q --agent kiro 2>/dev/null
	echo >>.kiro/hooks/git-checkpoint.json
	git checkpoint hooks uninstall --agent kiro >"$T/out" 2>"$T/err"
	expect_grep 'was changed since' "$T/err"
	expect_exists .kiro/hooks/git-checkpoint.json
}

test_what_they_run_takes_checkpoints() {
	agent_repo
	git checkpoint save -q
	while IFS='|' read -r agent json reason title; do
		git checkpoint hooks install -q --agent "$agent" 2>/dev/null
		echo "$agent $reason" >file
		event=$(echo "$json" | sed -n 's/^\([a-zA-Z_.]*\) .*/\1/p')
		echo "$json" | sed "s#^[a-zA-Z_.]* ##; s#@CWD@#$PWD#g" >"$T/event"
		git-checkpoint agent-hook "$agent" ${event:+"$event"} <"$T/event" >"$T/got" 2>"$T/err"
		expect_eq '' "$(cat "$T/got" "$T/err")"
		expect_eq "$agent $reason $title" \
			"$(git checkpoint list --json | jq -r '.checkpoints[0] | "\(.source) \(.reason) \(.title)"')"
	done <<-'END'
	cursor|{"conversation_id":"c","generation_id":"g","workspace_roots":["@CWD@"],"hook_event_name":"preToolUse","tool_name":"Write","tool_input":{"file_path":"@CWD@/x"}}|pre-tool|before: Write x
	cursor|{"conversation_id":"c","workspace_roots":["@CWD@"],"hook_event_name":"stop","status":"completed"}|stop|after: a turn of cursor
	windsurf|pre_run_command {"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e","tool_info":{"command_line":"make","cwd":"@CWD@"}}|pre-tool|before: a tool of windsurf
	windsurf|pre_user_prompt {"agent_action_name":"pre_user_prompt","trajectory_id":"t","tool_info":{"user_prompt":"do it"}}|prompt|before: prompt "do it"
	goose|PreToolUse {"event":"PreToolUse","session_id":"s","tool_name":"developer__shell","tool_input":{"command":"make"},"working_dir":"@CWD@"}|pre-tool|before: developer__shell "make"
	goose|UserPromptSubmit {"event":"UserPromptSubmit","session_id":"s","message":"do it"}|prompt|before: prompt "do it"
	kiro|PreToolUse {"hook_event_name":"PreToolUse","cwd":"@CWD@","tool_name":"fs_write","tool_input":{"path":"@CWD@/x"}}|pre-tool|before: fs_write x
	cline|PreToolUse {"hookName":"PreToolUse","taskId":"k","workspaceRoots":["@CWD@"],"preToolUse":{"toolName":"write_to_file","parameters":{"path":"x"}}}|pre-tool|before: write_to_file x
	opencode|tool.execute.before {"cwd":"@CWD@","session_id":"s","tool_name":"bash","tool_input":{"command":"make"}}|pre-tool|before: bash "make"
	amp|tool.call {"cwd":"@CWD@","session_id":"s","tool_name":"Bash","tool_input":{"cmd":"make"}}|pre-tool|before: Bash "make"
	copilot|preToolUse {"sessionId":"s","cwd":"@CWD@","toolName":"bash","toolArgs":"{\"command\":\"make\"}"}|pre-tool|before: bash "make"
	END
}

test_the_plugins_are_valid() {
	require node
	agent_repo
	git checkpoint hooks install -q --agent opencode 2>/dev/null
	cp .opencode/plugin/git-checkpoint.js "$T/plugin.mjs"
	cat >"$T/use.mjs" <<-END
	import { GitCheckpoint } from "$T/plugin.mjs"
	const said = []
	const client = { tui: { showToast: async ({ body }) => said.push(body.message) } }
	const hooks = await GitCheckpoint({ client, directory: process.cwd() })
	const input = { tool: "bash", sessionID: "s", callID: "c" }
	await hooks["tool.execute.before"](input, { args: { command: "make" } })
	await hooks["tool.execute.after"]({ ...input, args: { command: "make" } })
	await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts: [{ type: "text", text: "do it" }] })
	await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
	console.log(JSON.stringify(said))
	END
	echo 2 >file
	node "$T/use.mjs" >"$T/out"
	expect_eq '[]' "$(cat "$T/out")"
	expect_eq 'opencode before: bash "make" s c' \
		"$(git checkpoint list --json | jq -r '.checkpoints[0] | "\(.source) \(.title) \(.agent.session) \(.agent.tool_call)"')"
	# without our program the tool runs, and the user hears of it once
	mkdir "$T/none"
	PATH=$T/none "$(command -v node)" "$T/use.mjs" >"$T/out"
	jq -e 'length == 1 and (.[0] | startswith("git-checkpoint: not saved: "))' "$T/out"
}

test_without_the_program_a_hook_of_cline_is_no_answer() {
	agent_repo
	git checkpoint hooks install -q --agent cline 2>/dev/null
	mkdir "$T/none"
	expect_exit 127 env PATH="$T/none" .clinerules/hooks/PreToolUse </dev/null >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/got")"
	test -s "$T/err"
}

# ---- what is still needed ----------------------------------------------------------

test_install_says_what_is_still_needed() {
	agent_repo
	git checkpoint hooks install --agent codex >"$T/out" 2>"$T/err"
	expect_grep 'type /hooks in Codex' "$T/err"
	for agent in claude-code gemini-cli copilot; do
		git checkpoint hooks install --agent $agent >"$T/out" 2>"$T/err"
		expect_grep 'restart ' "$T/err"
		expect_grep "started in a subdirectory; 'git checkpoint hooks install --user --agent $agent'" "$T/err"
		git checkpoint hooks install --user --agent $agent >"$T/out" 2>"$T/err"
		expect_no_grep subdirectory "$T/err"
	done
	# the program that they run must be found
	program=$(command -v git-checkpoint)
	PATH=/usr/bin:/bin "$program" hooks install --agent kiro >"$T/out" 2>"$T/err"
	expect_grep "'git-checkpoint' is not in PATH" "$T/err"
	PATH=/usr/bin:/bin "$program" hooks status >"$T/out" 2>&1
	expect_grep '^agent kiro: installed: .*; does not work here: .*PATH' "$T/out"
}

test_codex_in_a_linked_worktree() {
	agent_repo
	main=$PWD
	git worktree add -q ../linked
	cd ../linked || exit
	files . >"$T/here"
	files "$main" >"$T/there"
	git checkpoint hooks install --agent codex >"$T/out" 2>"$T/err"
	expect_grep 'Codex reads the hooks of the primary one' "$T/err"
	expect_exists "$main/.codex/hooks.json" .codex/hooks.json
	git checkpoint hooks status --json | jq -e '.agents[] | select(.agent == "codex") | .works' >/dev/null
	git checkpoint hooks uninstall -q --agent codex
	files . >"$T/after"
	expect_same "$T/here" "$T/after"
	files "$main" >"$T/after"
	expect_same "$T/there" "$T/after"
	# an entry that was there before stays
	(cd "$main" && git checkpoint hooks install -q --agent codex) 2>/dev/null
	files "$main" >"$T/there"
	git checkpoint hooks status --json | jq -e '.agents[] | select(.agent == "codex") |
		(.works | not) and (.why_not | test("only if there is a directory"))' >/dev/null
	git checkpoint hooks install -q --agent codex 2>/dev/null
	git checkpoint hooks uninstall -q --agent codex
	files "$main" >"$T/after"
	expect_same "$T/there" "$T/after"
}

run_tests
