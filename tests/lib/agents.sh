# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# For the tests of hooks install --agent; sourced after harness.sh.

agents='claude-code codex gemini-cli'

# settings <agent>: its file, below the worktree or the home directory
settings() {
	case $1 in
	claude-code) echo .claude/settings.json ;;
	codex) echo .codex/hooks.json ;;
	gemini-cli) echo .gemini/settings.json ;;
	esac
}

# entry <agent> <file>: the command that the agent would run, taken from where it looks
entry() {
	case $1 in
	claude-code | codex) jq -er '.hooks.PreToolUse[-1].hooks[0].command' "$2" ;;
	gemini-cli) jq -er '.hooks.BeforeTool[-1].hooks[0].command' "$2" ;;
	esac
}

# answer <agent>: what the agent has to read from the command
answer() {
	case $1 in
	gemini-cli) echo '{}' ;;
	esac
}

agent_repo() {
	git init -q
	echo one >file
	git add file
	git commit -qm one
}

# A tool call of the size that a written file has.
payload() {
	printf '{"tool_name":"Write","tool_input":{"content":"'
	head -c 200000 /dev/zero | tr '\0' x
	printf '"}}'
}

# fires <agent> <shell>...: run the entry as the agent does; it must not be noticed
fires() {
	agent=$1
	shift
	entry "$agent" "$(settings "$agent")" >"$T/entry"
	answer "$agent" >"$T/wanted"
	test -e "$T/payload" || payload >"$T/payload"
	# The status of the left side is what an agent sees that writes to a hook.
	{
		cat "$T/payload" || echo broken >"$T/broken"
	} | "$@" -c "$(cat "$T/entry")" >"$T/got" 2>"$T/err" || {
		echo "status $?"
		return 1
	}
	cmp "$T/wanted" "$T/got"
	expect_eq '' "$(cat "$T/err")" 'messages'
	test ! -e "$T/broken"
}

checkpoints() {
	git checkpoint list --json | jq '.checkpoints | length'
}

# recipe <kind> <agent>: the block of the manual with that mark
recipe() {
	awk -v mark=".\\\\\" $1 $2" '$0 == mark { on = 1; next } /^\.fi$/ { on = 0 } on && $0 != ".nf"' \
		"$ROOT_DIR/man/git-checkpoint-hooks.1" | sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(ha/^/g' \
		-e 's/\\(ti/~/g' -e 's/\\(ga/`/g' -e 's/\\&//g' -e 's/\\e/\\/g' |
		grep '' || fail "the manual has no recipe '$1 $2'" >&2
}
