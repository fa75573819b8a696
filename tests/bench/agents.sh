# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# For run.sh: what the hook adds to each tool call of a coding agent.

AGENT_ROUNDS=21

# event <name> [<members>]: what an agent tells
event() {
	printf '{"session_id":"s","cwd":"%s","hook_event_name":"%s"%s}\n' "$TREE" "$1" "${2:-}" >"$SCRATCH/event"
}

# fired <key>: one sample of the event
fired() {
	ours "$1" git-checkpoint agent-hook codex <"$SCRATCH/event"
}

# against <key>: what a save takes that finds nothing changed
against() {
	(cd "$TREE" && measure "$SAMPLES/$1.git" git-checkpoint save -q)
}

# agent_calls <key> <rounds>: before and after a tool, nothing changed; in the tree, which is saved
agent_calls() {
	(cd "$TREE" && git-checkpoint save -q)
	event UserPromptSubmit ',"prompt":"x"'
	(cd "$TREE" && git-checkpoint agent-hook codex <"$SCRATCH/event")
	i=0
	while test $i -lt "$2"; do
		i=$((i + 1))
		event PreToolUse ',"tool_name":"Bash","tool_input":{"command":"make"}'
		fired "$1"
		against "$1"
		event PostToolUse ',"tool_name":"Bash","tool_input":{"command":"make"}'
		against "$1"
		fired "$1"
	done
	event UserPromptSubmit ',"prompt":"y"'
	fired "$1-prompt"
	fired "$1-prompt"
	fired "$1-prompt"
}

# In the large tree, as the rounds left it.
agents_in_large() {
	test -n "$HAVE_OURS" || return 0
	say 'calls of an agent'
	agent_calls agent-large 7
}

agents_in_small() {
	test -n "$HAVE_OURS" || return 0
	new_away
	test ! -e "$TREE" || mv "$TREE" "$SCRATCH/away/$AWAY"
	mktree --files 100 --dirs 10 "$TREE"
	git init -q "$TREE"
	git -C "$TREE" add -A
	git -C "$TREE" commit -q -m x
	agent_calls agent-small $AGENT_ROUNDS
}

rows_agents() {
	row_millis 'hook of an agent, nothing changed, 100 files' agent-small 15 8
	row_millis 'the same at a prompt, which begins a turn' agent-small-prompt 15 8
	row_time 'the same, large tree: an unchanged save' agent-large 1.3 1.1
	row_millis 'the same, in milliseconds' agent-large 1000 250
}
