#!/bin/sh
# SPDX-License-Identifier: MIT
# Where an agent is: in repositories within the project, in other worktrees of it, and with sub-agents.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"

# fire <directory> <session> <event> [<members>]
fire() {
	printf '{"cwd":"%s","session_id":"%s","hook_event_name":"%s"%s}' "$1" "$2" "$3" "${4:+,$4}" |
		git-checkpoint agent-hook claude-code >"$T/got" 2>"$T/err"
	expect_eq '' "$(cat "$T/got" "$T/err")" "what the hook says"
}

# ask <directory> <session> <id>
ask() {
	fire "$1" "$2" UserPromptSubmit "\"prompt\":\"prompt $3\",\"prompt_id\":\"$3\""
}

# tool <directory> <session> <event> <id>
tool() {
	fire "$1" "$2" "$3" "\"tool_name\":\"Bash\",\"prompt_id\":\"$4\""
}

# turns <directory> <session>
turns() {
	git -C "$1" checkpoint list --session "$2" --json |
		jq -r '[.turns[] | "\(.turn) \(.turn_id) \(.prompt) \(.tools)"] | reverse | join(", ")'
}

# nest <directory>: a repository in this one
nest() {
	git init -q "$1"
	echo inner >"$1/file"
	git -C "$1" add file
	git -C "$1" commit -qm one
}

test_a_repository_within_is_not_left_for() {
	agent_repo
	nest deep/inner
	nest deep/inner/more
	here=$PWD
	for inner in deep/inner deep/inner/more; do
		ask "$here" "s$inner" p
		tool "$here/$inner" "s$inner" PreToolUse p
		echo "$inner" >file
		echo "$inner" >"$inner/file"
		tool "$here/$inner" "s$inner" PostToolUse p
		expect_eq "$inner" "$(git checkpoint show @:file)"
		expect_eq "$inner" "$(git checkpoint show "@:$inner/file")"
		expect_eq "1 p prompt p 1" "$(turns . "s$inner")"
		git checkpoint status --json | jq -e .safe
		git -C "$inner" checkpoint status --json | jq -e .safe
	done
}

# What is ignored around it is in no checkpoint there.
test_a_repository_within_that_is_ignored_is_saved_too() {
	agent_repo
	nest inner
	echo inner >.gitignore
	ask "$PWD" s p
	echo two >inner/file
	echo two >file
	tool "$PWD/inner" s PreToolUse p
	expect_eq two "$(git -C inner checkpoint show @:file)"
	expect_eq two "$(git checkpoint show @:file)"
}

test_a_session_that_began_within_stays_there() {
	agent_repo
	nest inner
	git checkpoint save -q
	ask "$PWD" other p
	count=$(checkpoints)
	ask "$PWD/inner" s p
	echo two >inner/file
	tool "$PWD/inner" s PreToolUse p
	expect_eq "$count" "$(checkpoints)"
	expect_eq two "$(git -C inner checkpoint show @:file)"
}

# A project that git does not know, with a repository in it.
test_a_repository_within_a_plain_directory() {
	mkdir plain
	cd plain || exit
	echo one >file
	ask "$PWD" s p
	nest inner
	echo two >file
	tool "$PWD/inner" s PreToolUse p
	expect_eq two "$(git checkpoint show @:file)"
}

test_a_turn_goes_on_in_another_worktree() {
	agent_repo
	for place in .claude/worktrees/task ../beside; do
		git worktree add -q "$place"
		there=$(cd "$place" && pwd -P)
		s=s$(basename "$place")
		ask "$PWD" "$s" p1
		tool "$PWD" "$s" PreToolUse p1
		# The agent goes there by itself, and comes back two prompts later.
		tool "$there" "$s" PreToolUse p1
		echo two >"$there/file"
		tool "$there" "$s" PostToolUse p1
		expect_eq '1 p1 prompt p1 1' "$(turns "$there" "$s")"
		expect_eq "two one" "$(git -C "$there" checkpoint show session:"$s":file) $(git -C "$there" checkpoint show session:"$s"/turn:1:file)"
		ask "$there" "$s" p2
		ask "$there" "$s" p3
		tool "$PWD" "$s" PreToolUse p3
		expect_eq '1 p1 prompt p1 1, 3 p3 prompt p3 1' "$(turns . "$s")"
		expect_eq one "$(git checkpoint show @:file)"
		tool "$there" "$s" PreToolUse p3
		expect_eq '1 p1 prompt p1 1, 2 p2 prompt p2 0, 3 p3 prompt p3 1' "$(turns "$there" "$s")"
	done
}

test_a_session_of_another_worktree_says_nothing_of_this_one() {
	agent_repo
	git worktree add -q ../beside
	ask "$PWD" s p1
	there=$(cd ../beside && pwd -P)
	tool "$there" other PreToolUse p1
	expect_eq '' "$(turns "$there" other)"
	git config checkpoint.agentPrompts false
	tool "$there" s PreToolUse p1
	expect_eq '1 p1 null 1' "$(turns "$there" s)"
}

# In OpenCode it has a session of its own, whose parent only the plugin knows.
test_a_sub_agent_belongs_to_the_turn_of_its_parent() {
	command -v node >/dev/null || skip 'there is no node'
	agent_repo
	git checkpoint hooks install -q --agent opencode 2>/dev/null
	cp .opencode/plugin/git-checkpoint.js "$T/plugin.mjs"
	cat >"$T/run.mjs" <<-'END'
		import { GitCheckpoint } from "./plugin.mjs"
		import { writeFileSync } from "node:fs"
		const plugin = await GitCheckpoint({ directory: process.cwd() })
		const say = (session, text) =>
		  plugin["chat.message"]({ sessionID: session }, { message: { id: text }, parts: [{ type: "text", text }] })
		const born = (id, parentID) =>
		  plugin.event({ event: { type: "session.created", properties: { sessionID: id, info: { id, parentID } } } })
		await born("top")
		await say("top", "one")
		await born("child", "top")
		await born("grandchild", "child")
		for (const session of ["child", "grandchild"]) {
		  await say(session, "look at it")
		  writeFileSync("file", session)
		  await plugin["tool.execute.before"]({ tool: "bash", sessionID: session, callID: session }, { args: {} })
		  await plugin.event({ event: { type: "session.idle", properties: { sessionID: session } } })
		}
		await say("top", "two")
	END
	node "$T/run.mjs"
	expect_eq top "$(git checkpoint list --session --json | jq -r '[.sessions[].session] | join(" ")')"
	expect_eq '1 one, 2 two' "$(git checkpoint list --session --json | jq -r '[.turns[] | "\(.turn) \(.prompt)"] | reverse | join(", ")')"
	expect_eq 'child grandchild' "$(git checkpoint list --json |
		jq -r '[.checkpoints[] | select(.agent.tool) | select(.agent.turn == 1) | .agent.sub_agent] | reverse | join(" ")')"
}

run_tests
