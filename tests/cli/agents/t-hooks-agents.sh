#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --agent: entries in the settings of coding agents, and what they do when they run.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"

test_every_agent_takes_checkpoints_and_never_notices() {
	agent_repo
	mkdir sub
	n=0
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
		n=$((n + 1))
		expect_eq $n "$(checkpoints)" "checkpoints after the install of $agent"
		n=$((n + 1))
		echo "$agent" >file
		fires "$agent" sh
		expect_eq $n "$(checkpoints)" "checkpoints with $agent"
		expect_eq "$agent pre-tool" "$(git checkpoint list --json |
			jq -r '.checkpoints[0] | .source + " " + .reason')"
		expect_eq "$agent" "$(git --git-dir="$(store_dir)" show \
			"$(git checkpoint list --json | jq -r '.checkpoints[0].commit'):file")"
		fires "$agent" sh
		expect_eq $n "$(checkpoints)" "checkpoints of an unchanged tree with $agent"
		(cd sub && sh -c "$(cat "$T/entry")" </dev/null >/dev/null)
		expect_eq $n "$(checkpoints)" "checkpoints from a directory below with $agent"
	done
}

test_other_shells_run_the_entries_too() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
		for shell in bash zsh fish; do
			command -v $shell >/dev/null || continue
			echo "$agent $shell" >file
			fires "$agent" $shell
			expect_eq "$agent" "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
		done
	done
}

test_an_agent_that_is_elsewhere_saves_its_project() {
	mkdir "my \$project"
	cd "my \$project" || exit
	agent_repo
	printf '{"cwd":"%s","hook_event_name":"PreToolUse","tool_name":"x"}' "$PWD" >"$T/event"
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
		entry "$agent" "$(settings "$agent")" >"$T/entry"
		echo "$agent" >file
		(
			cd /
			CLAUDE_PROJECT_DIR=/none GEMINI_PROJECT_DIR=/none \
				sh -c "$(cat "$T/entry")" <"$T/event" >/dev/null
		)
		expect_eq "$agent" "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	done
	expect_eq 1 "$(git checkpoint stores --json | jq '.stores | length')" 'stores'
}

# Plain words: an agent may split them at the blanks, or give them to any shell.
test_the_entries_of_all_events_are_plain_words() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install -q --agent "$agent" 2>/dev/null
		file=$(settings "$agent")
		expect_eq 4 "$(jq '[.hooks[][].hooks[].command] | length' "$file")"
		jq -e '[.hooks[][].hooks[].command] | all(test("^git-checkpoint agent-hook [a-z-]+( [|][|] exit 1)?$"))' "$file"
		jq -e '[.hooks[][] | keys] | all(. == ["hooks"])' "$file"
	done
	for event in PreToolUse PostToolUse UserPromptSubmit Stop; do
		jq -e ".hooks.$event" .claude/settings.json >/dev/null
		jq -e ".hooks.$event" .codex/hooks.json >/dev/null
	done
	for event in BeforeTool AfterTool BeforeAgent AfterAgent; do
		jq -e ".hooks.$event" .gemini/settings.json >/dev/null
	done
}

test_nothing_that_is_wrong_here_stops_the_agent() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
	done
	# Without the program: any status but 2, which forbids the tool, and nothing that is an answer.
	mkdir "$T/none"
	for tool in sh git; do
		ln -s "$(command -v $tool)" "$T/none/$tool"
	done
	for agent in $agents; do
		entry "$agent" "$(settings "$agent")" >"$T/entry"
		status=127
		test $agent != gemini-cli || status=1
		expect_exit $status env PATH="$T/none" "$T/none/sh" -c "$(cat "$T/entry")" </dev/null >"$T/got" 2>"$T/err"
		expect_eq '' "$(cat "$T/got")"
		GIT_CHECKPOINT_HOME=/dev/null/x sh -c "$(cat "$T/entry")" </dev/null >"$T/got" 2>"$T/err"
		expect_eq '["systemMessage"]' "$(jq -c keys "$T/got")"
		expect_eq '' "$(cat "$T/err")"
		# no directory to work in
		(
			mkdir "$T/gone"
			cd "$T/gone" || exit
			rmdir "$T/gone"
			sh -c "$(cat "$T/entry")" </dev/null >"$T/got" 2>/dev/null
			expect_eq '["systemMessage"]' "$(jq -c keys "$T/got")"
		)
	done
}

test_an_agent_that_is_not_known() {
	agent_repo
	for verb in install uninstall 'install --print'; do
		for name in aider emacs claude; do
			# shellcheck disable=SC2086
			expect_exit 128 git checkpoint hooks $verb --agent $name >out 2>err
			expect_eq '' "$(cat out)"
			expect_grep "agent '$name' is not supported" err
			for agent in $agents generic; do
				expect_grep "$agent" err
			done
		done
	done
	expect_eq '.git err file out' \
		"$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
}

test_one_of_several_that_is_not_known_stops_all() {
	agent_repo
	expect_exit 128 git checkpoint hooks install --agent claude-code --agent generic \
		--agent aider --agent codex >out 2>err
	expect_eq '' "$(cat out)"
	expect_grep "agent 'aider' is not supported" err
	expect_eq '.git err file out' \
		"$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	expect_exit 128 git checkpoint hooks install --user --agent codex --agent aider 2>err
	expect_eq '.gitconfig' "$(ls -A "$HOME")"
	expect_exit 128 git checkpoint hooks install --print --agent codex --agent aider >out 2>err
	expect_eq '' "$(cat out)"

	git checkpoint hooks install --agent claude-code --agent codex >/dev/null
	cat .claude/settings.json .codex/hooks.json >before
	expect_exit 128 git checkpoint hooks uninstall --agent claude-code --agent codex \
		--agent aider 2>err
	cat .claude/settings.json .codex/hooks.json >after
	cmp before after
	git checkpoint hooks uninstall --agent claude-code --agent codex >/dev/null
	test ! -e .claude
	test ! -e .codex
}

test_print_touches_nothing() {
	agent_repo
	mkdir "$T/made"
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" --print >"$T/made/$agent"
		entry "$agent" "$T/made/$agent" >"$T/entry"
		expect_eq "git-checkpoint agent-hook $agent" "$(sed 's/ || exit 1$//' "$T/entry")"
	done
	for flag in '' --print; do
		# shellcheck disable=SC2086
		git checkpoint hooks install --agent generic $flag >"$T/line"
		echo "generic$flag" >file
		sh "$T/line" >"$T/got"
		expect_eq '' "$(cat "$T/got")"
		expect_eq generic "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	done
	expect_eq '.git file' "$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	expect_eq '.gitconfig' "$(ls -A "$HOME")"
}

test_the_home_directory() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" --user >/dev/null
		entry "$agent" "$HOME/$(settings "$agent")" >"$T/entry"
		echo "$agent" >file
		sh -c "$(cat "$T/entry")" </dev/null >/dev/null
		expect_eq "$agent" "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	done
	expect_eq '.git file' "$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	expect_eq 1 "$(git checkpoint stores --json | jq '.stores | length')" 'stores'
	for agent in $agents; do
		git checkpoint hooks uninstall --agent "$agent" --user >/dev/null
	done
	expect_eq '.gitconfig' "$(ls -A "$HOME")"
}

test_from_a_directory_below_and_in_a_linked_worktree() {
	agent_repo
	mkdir sub
	(cd sub && git checkpoint hooks install --agent claude-code >/dev/null)
	test -f .claude/settings.json
	test ! -e sub/.claude
	git worktree add -q ../linked
	(cd ../linked && git checkpoint hooks install --agent gemini-cli >/dev/null)
	test -f ../linked/.gemini/settings.json
	test ! -e .gemini
	(cd sub && git checkpoint hooks uninstall --agent claude-code >/dev/null)
	test ! -e .claude
}

# ---- what the manual and the README tell ------------------------------------------

test_the_recipes_of_the_manual_are_what_is_installed() {
	agent_repo
	git-checkpoint --complete git-checkpoint hooks install --agent '' | cut -c 2- >known
	while read -r agent; do
		git checkpoint hooks install --agent "$agent" --print >printed 2>/dev/null
		case " $agents generic " in *" $agent "*) ;; *) continue ;; esac
		if test "$agent" = generic; then
			recipe sh generic >written
			sh -n written
		else
			recipe json "$agent" >written
			jq -e .hooks written >/dev/null
		fi
		expect_same printed written
	done <known
}

test_the_recipes_say_the_same_in_both_languages() {
	require python3
	python3 -c 'import tomllib' 2>/dev/null || skip 'needs tomllib of Python 3.11'
	recipe toml codex >written.toml
	python3 -c 'import json, sys, tomllib; json.dump(tomllib.load(sys.stdin.buffer), sys.stdout)' \
		<written.toml | jq -S . >toml
	recipe json codex | jq -S . >json
	expect_same json toml
}

test_the_instructions_go_where_the_manual_puts_them() {
	sed -n '/^\.ft B$/,/^\.ft R$/{/^\./d;s/\\(aq/'"'"'/g;s/\\-/-/g;p}' \
		"$ROOT_DIR/man/git-checkpoint-help.1" >commands
	test "$(wc -l <commands)" = 3
	echo mine >AGENTS.md
	sh -e ./commands
	git checkpoint help agents >text
	expect_same text .claude/skills/git-checkpoint/SKILL.md
	expect_eq mine "$(sed -n 1p AGENTS.md)"
	expect_eq '# git checkpoint, for agents' "$(grep -m 1 '^#' AGENTS.md)"
	expect_no_grep '^name: ' AGENTS.md
}

# ---- the first checkpoint ----------------------------------------------------------

test_install_takes_the_first_checkpoint() {
	agent_repo
	git checkpoint hooks install --agent claude-code --print >/dev/null
	git checkpoint hooks install --agent generic >/dev/null
	expect_eq 0 "$(git checkpoint stores --json | jq '.stores | length')" 'stores'
	git checkpoint hooks install --agent claude-code >"$T/out"
	expect_grep '^Saved chk_' "$T/out"
	expect_eq 'agent installed cli true' \
		"$(git checkpoint list --json | jq -r '.checkpoints[0] | "\(.reason) \(.source) \(.automatic)"')"
	expect_eq 1 "$(checkpoints)"
	# with the entry in it
	git checkpoint show --files @ >"$T/out"
	expect_grep '.claude/settings.json' "$T/out"
	# once is enough
	git checkpoint hooks install --agent claude-code --json >"$T/out"
	expect_eq 1 "$(checkpoints)"
	expect_eq "$(git checkpoint list --json | jq -r '.checkpoints[0].id')" "$(jq -r .checkpoint "$T/out")"
	# in the home directory's settings it is for all projects: only where there is one
	git checkpoint hooks install -q --agent codex --user 2>/dev/null
	expect_eq 1 "$(checkpoints)"
	mkdir "$T/plain"
	(cd "$T/plain" && git checkpoint hooks install -q --agent gemini-cli --user)
	expect_eq 1 "$(git checkpoint stores --json | jq '.stores | length')" 'stores'
	# a failure to save is told, and the entry stays
	GIT_CHECKPOINT_HOME=/dev/null/x git checkpoint hooks install --agent gemini-cli >"$T/out" 2>"$T/err"
	expect_grep 'warning: no checkpoint was taken: ' "$T/err"
	expect_exists .gemini/settings.json
}

test_what_agents_take_is_automatic() {
	agent_repo
	export GIT_CHECKPOINT_MAX_COUNT=1
	git checkpoint save -q -m mine
	for agent in $agents; do
		git checkpoint hooks install --agent $agent >"$T/out"
		echo $agent >file
		fires $agent sh
	done
	expect_eq 7 "$(git checkpoint list | wc -l | tr -d ' ')"
	git checkpoint log --json | jq -e '.entries | all(.action != "evict")' >"$T/out"
}

run_tests
