#!/bin/sh
# SPDX-License-Identifier: MIT
# A restore never removes or rolls back the entry of an agent without saying so.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/agents.sh"

# restored <command>...: its warnings are in $T/warnings
restored() {
	git checkpoint "$@" --json >"$T/json" || fail "$* failed: $(cat "$T/json")"
	jq -e '.verification.match != false' "$T/json" >/dev/null
	jq -r '.warnings[]' "$T/json" >"$T/warnings"
}

state() {
	git checkpoint hooks status --json | jq -r --arg agent "$1" '.agents[] | select(.agent == $agent) | .state'
}

# all_stay: the entry of each agent is there
all_stay() {
	for agent in $every; do expect_eq "installed $agent" "$(state "$agent") $agent"; done
}

test_the_entry_stays_where_the_checkpoint_is_older() {
	every='claude-code codex gemini-cli copilot cursor opencode qwen-code droid cline windsurf goose kiro amp'
	agent_repo
	git checkpoint save -q -m old
	old=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	# shellcheck disable=SC2046,SC2086
	git checkpoint hooks install -q $(printf -- '--agent %s ' $every) 2>/dev/null
	echo 2 >file
	restored restore --yes "$old"
	expect_eq one "$(cat file)"
	all_stay
	for agent in $every; do
		path=$(git checkpoint hooks status --json | jq -r --arg agent "$agent" '.agents[] | select(.agent == $agent) | .path')
		expect_grep "^Kept: $path (it has the entry of 'hooks install --agent'" "$T/warnings"
	done
	# again, back and forth
	restored undo --yes
	expect_eq 2 "$(cat file)"
	all_stay
	restored redo --yes
	expect_eq one "$(cat file)"
	all_stay
	git checkpoint verify -q --all
}

test_settings_without_the_entry_do_not_replace_it() {
	agent_repo
	mkdir .claude
	echo '{"a": 1}' >.claude/settings.json
	git checkpoint save -q -m old
	old=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	git checkpoint hooks install -q --agent claude-code 2>/dev/null
	cp .claude/settings.json "$T/installed"
	echo 2 >file
	git checkpoint restore --dry-run "$old" >"$T/out" 2>&1
	expect_grep 'Kept: .claude/settings.json' "$T/out"
	restored restore --yes "$old"
	expect_eq one "$(cat file)"
	expect_same "$T/installed" .claude/settings.json
	expect_grep '^Kept: .claude/settings.json ' "$T/warnings"
	# by name, too
	restored restore --yes "$old" .claude/settings.json
	expect_same "$T/installed" .claude/settings.json
	expect_grep '^Kept: .claude/settings.json ' "$T/warnings"
	# with the entry in both, it is a file like any other
	sed 's/"a": 1/"a": 2/' "$T/installed" >.claude/settings.json
	git checkpoint save -q -m new
	cp "$T/installed" .claude/settings.json
	restored restore --yes @
	expect_grep '"a": 2' .claude/settings.json
	expect_no_grep 'Kept' "$T/warnings"
	# uninstalled, nothing is kept
	git checkpoint hooks uninstall -q --agent claude-code
	restored restore --yes "$old"
	expect_eq '{"a": 1}' "$(cat .claude/settings.json)"
}

test_killed_in_the_middle() {
	agent_repo
	git checkpoint save -q -m old
	old=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
	git checkpoint hooks install -q --agent claude-code 2>/dev/null
	echo 2 >file
	with_faults write,fsync,rename 0 kill git-checkpoint restore -q --yes --dry-run "$old" || :
	for at in 5 15 25 35 45; do
		echo 2 >file
		with_faults write,fsync,rename $at kill git-checkpoint restore -q --yes "$old" 2>/dev/null || :
		expect_eq installed "$(state claude-code)"
		git checkpoint restore -q --continue --yes 2>/dev/null || :
		expect_eq installed "$(state claude-code)"
	done
}

run_tests
