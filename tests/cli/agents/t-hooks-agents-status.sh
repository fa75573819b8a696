#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks status: whether the settings of coding agents have our entry, and what it last took.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"

# state <agent>: as hooks status has it
state() {
	git checkpoint hooks status --json >"$T/json" || :
	json "[.agents[] | select(.agent == \"$1\") | .state] | join(\" \")" "$T/json"
}

last() {
	git checkpoint hooks status --json >"$T/json" || :
	json ".agents[] | select(.agent == \"$1\") | .last" "$T/json"
}

test_every_agent_is_told() {
	agent_repo
	git checkpoint hooks status >"$T/out"
	expect_no_grep '^agent' "$T/out"
	for agent in $agents; do
		expect_eq absent "$(state "$agent")"
		expect_eq "$(settings "$agent")" \
			"$(json ".agents[] | select(.agent == \"$agent\") | .path" "$T/json")"
		git checkpoint hooks install -q --agent "$agent" 2>/dev/null
		expect_eq installed "$(state "$agent")"
		expect_eq null "$(last "$agent")"
		git checkpoint hooks status >"$T/out"
		expect_grep "^agent $agent: installed: .*; no checkpoint yet$" "$T/out"
		echo "$agent" >file
		fires "$agent" sh
		id=$(git checkpoint list --json | jq -r '.checkpoints[0].id')
		expect_eq "$id" "$(last "$agent")"
		git checkpoint hooks status >"$T/out"
		expect_grep "^agent $agent: installed: .*; last checkpoint $id, " "$T/out"
	done
	# the newest of each, whatever came later
	id=$(last claude-code)
	echo more >file
	git checkpoint save -q
	expect_eq "$id" "$(last claude-code)"
	for agent in $agents; do
		git checkpoint hooks uninstall -q --agent "$agent"
		expect_eq absent "$(state "$agent")"
	done
	expect_eq "$id" "$(last claude-code)"
}

test_settings_in_the_home_directory() {
	agent_repo
	git checkpoint hooks install -q --agent claude-code --user
	expect_eq 'absent installed' "$(state claude-code)"
	expect_eq "$HOME/.claude/settings.json" "$(json '.agents[] | select(.state == "installed") | .path' "$T/json")"
	git checkpoint hooks install -q --agent claude-code
	expect_eq 'installed installed' "$(state claude-code)"
	echo 2 >file
	fires claude-code sh
	expect_eq 1 "$(git checkpoint hooks status --json | jq '[.agents[].last // empty] | unique | length')"
}

test_entries_that_are_not_all_there() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install -q --agent $agent 2>/dev/null
		file=$(settings $agent)
		jq 'del(.hooks[.hooks | keys[0]])' "$file" >"$T/less"
		cp "$T/less" "$file"
		expect_eq outdated "$(state $agent)"
		git checkpoint hooks status >"$T/out"
		expect_grep "^agent $agent: outdated: .*; 'git checkpoint hooks install --agent $agent' renews it" "$T/out"
		git checkpoint hooks install --agent $agent >/dev/null 2>&1
		expect_eq installed "$(state $agent)"
	done
}

test_codex_with_its_hooks_in_toml() {
	agent_repo
	mkdir .codex
	printf '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\n%s\n' \
		'command = "git-checkpoint agent-hook codex"' >.codex/config.toml
	expect_eq installed "$(state codex)"
	expect_eq .codex/config.toml "$(json '.agents[] | select(.agent == "codex") | .path' "$T/json")"
	git checkpoint hooks install --agent codex >"$T/out" 2>&1
	expect_grep 'codex: unchanged .*config.toml' "$T/out"
	expect_missing .codex/hooks.json
}

test_settings_that_cannot_be_read() {
	agent_repo
	mkdir .claude .gemini
	echo '{"hooks": [' >.claude/settings.json
	echo '{"hooks": []}' >.gemini/settings.json
	expect_eq unreadable "$(state claude-code)"
	expect_eq unreadable "$(state gemini-cli)"
	git checkpoint hooks status >"$T/out"
	expect_grep '^agent claude-code: unreadable: .*settings.json: line' "$T/out"
	rm .claude/settings.json
	mkfifo .claude/settings.json
	expect_eq unreadable "$(state claude-code)"
}

test_an_entry_that_a_person_wrote() {
	agent_repo
	mkdir .claude
	cat >.claude/settings.json <<-'END'
	{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command",
	"command":"git checkpoint save --source claude-code --automatic -q"}]}]}}
	END
	expect_eq installed "$(state claude-code)"
}

# git takes nothing else into the worktrees that it makes.
test_an_entry_that_git_does_not_track() {
	agent_repo
	git checkpoint hooks install --agent claude-code >"$T/out" 2>&1
	expect_grep "git does not track '.claude/settings.json', so a worktree that an agent makes lacks it" "$T/out"
	git checkpoint hooks status >"$T/out"
	expect_grep '^  git does not track it, so a worktree' "$T/out"
	expect_eq true "$(git checkpoint hooks status --json | jq '.agents[] | select(.agent == "claude-code") | .untracked')"
	git add .claude
	git checkpoint hooks status >"$T/out"
	expect_no_grep 'does not track' "$T/out"
	git checkpoint hooks install --user --agent codex >"$T/out" 2>&1
	expect_no_grep 'does not track' "$T/out"
	git checkpoint hooks status --json | jq -e '.agents | all(.untracked == false)'
}

test_linked_worktrees_have_the_same_answer() {
	agent_repo
	git checkpoint hooks install -q --agent claude-code
	git add .
	git commit -q -m settings
	git worktree add -q ../linked
	git checkpoint hooks status --json >"$T/main"
	(cd ../linked && git checkpoint hooks status --json) >"$T/there"
	expect_same "$T/main" "$T/there"
}

test_without_git() {
	expect_exit 128 git checkpoint hooks status 2>"$T/err"
	expect_grep 'is not in a git worktree' "$T/err"
	git checkpoint hooks install -q --agent claude-code
	git checkpoint hooks status >"$T/out"
	expect_grep '^agent claude-code: installed' "$T/out"
	expect_eq installed "$(state claude-code)"
}

run_tests
