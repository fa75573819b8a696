#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --agent: entries in the settings of coding agents, and what they do when they run.

. "$(dirname "$0")/../lib/harness.sh"
. "$(dirname "$0")/../lib/agents.sh"

test_every_agent_takes_checkpoints_and_never_notices() {
	agent_repo
	mkdir sub
	n=0
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
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
			# The variables of two agents are written as bash does, which they always use.
			test $shell = fish && grep -q '\${' "$(settings "$agent")" && continue
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
	for agent in claude-code gemini-cli; do
		git checkpoint hooks install --agent $agent >/dev/null
		entry $agent "$(settings $agent)" >"$T/entry"
		echo $agent >file
		(
			cd /
			CLAUDE_PROJECT_DIR="$T/work/my \$project" \
				GEMINI_PROJECT_DIR="$T/work/my \$project" \
				sh -c "$(cat "$T/entry")" </dev/null >/dev/null
		)
		expect_eq $agent "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	done
	expect_eq 1 "$(git checkpoint stores --json | jq '.stores | length')" 'stores'
}

test_nothing_that_is_wrong_here_reaches_the_agent() {
	agent_repo
	for agent in $agents; do
		git checkpoint hooks install --agent "$agent" >/dev/null
	done
	git checkpoint save -q
	# No program, one that fails, one that talks, no store to write to, no directory to work in.
	mkdir "$T/none" "$T/two" "$T/loud"
	for tool in sh cat echo test git true; do
		ln -s "$(command -v $tool)" "$T/none/$tool" 2>/dev/null || :
	done
	printf '#!/bin/sh\nexit 2\n' >"$T/two/git-checkpoint"
	printf '#!/bin/sh\necho "{\\"decision\\":\\"block\\"}"; echo no >&2; kill -9 $$\n' \
		>"$T/loud/git-checkpoint"
	chmod +x "$T/two/git-checkpoint" "$T/loud/git-checkpoint"
	for agent in $agents; do
		(fires "$agent" env PATH="$T/none" "$T/none/sh")
		(fires "$agent" env PATH="$T/two:$PATH" sh)
		(fires "$agent" env PATH="$T/loud:$PATH" sh)
		(fires "$agent" env GIT_CHECKPOINT_HOME=/dev/null/x sh)
	done
	mkdir "$T/gone"
	cp -R .claude .codex .gemini "$T/gone"
	(
		cd "$T/gone" || exit
		for agent in $agents; do
			entry "$agent" "$(settings "$agent")" >"$T/entry.$agent"
		done
		rm -r "$T/gone"
		for agent in $agents; do
			sh -c "$(cat "$T/entry.$agent")" </dev/null >"$T/got" 2>/dev/null
			answer "$agent" >"$T/wanted"
			cmp "$T/wanted" "$T/got"
		done
	)
}

test_an_agent_that_is_not_known() {
	agent_repo
	for verb in install uninstall 'install --print'; do
		for name in cursor emacs claude; do
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
		--agent cursor --agent codex >out 2>err
	expect_eq '' "$(cat out)"
	expect_grep "agent 'cursor' is not supported" err
	expect_eq '.git err file out' \
		"$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	expect_exit 128 git checkpoint hooks install --user --agent codex --agent cursor 2>err
	expect_eq '.gitconfig' "$(ls -A "$HOME")"
	expect_exit 128 git checkpoint hooks install --print --agent codex --agent cursor >out 2>err
	expect_eq '' "$(cat out)"

	git checkpoint hooks install --agent claude-code --agent codex >/dev/null
	cat .claude/settings.json .codex/hooks.json >before
	expect_exit 128 git checkpoint hooks uninstall --agent claude-code --agent codex \
		--agent cursor 2>err
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
		expect_grep "git checkpoint save --source $agent " "$T/entry"
		expect_no_grep added: "$T/entry"
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

test_the_instructions_go_where_the_readme_puts_them() {
	sed -n '/^## For agents/,/^## /p' "$ROOT_DIR/README.md" |
		awk '/^```sh skill$/ { on = 1; next } /^```/ { on = 0 } on' >commands
	test "$(wc -l <commands)" = 2
	echo mine >AGENTS.md
	sh -e ./commands
	git checkpoint help agents >text
	expect_same text .claude/skills/git-checkpoint/SKILL.md
	expect_eq mine "$(sed -n 1p AGENTS.md)"
	expect_eq '# git checkpoint, for agents' "$(grep -m 1 '^#' AGENTS.md)"
	expect_no_grep '^name: ' AGENTS.md
}

# What an older version wrote lacks the option: install renews it in its place, uninstall removes it.
test_entries_of_an_older_version() {
	agent_repo
	for agent in $agents; do
		file=$(settings $agent)
		mkdir -p "$(dirname "$file")"
		for there in '' '{"hooks": {"Other": []}, "z": 1}'; do
			rm -f "$file"
			test -z "$there" || echo "$there" >"$file"
			git checkpoint hooks install --agent $agent >"$T/out"
			cp "$file" "$T/new"
			sed 's/ --automatic//' "$T/new" >"$T/old"
			expect_exit 1 cmp -s "$T/new" "$T/old"
			cp "$T/old" "$file"
			git checkpoint hooks install --agent $agent >"$T/out"
			expect_same "$T/new" "$file"
			# once more changes nothing
			git checkpoint hooks install --agent $agent >"$T/out"
			expect_same "$T/new" "$file"
			cp "$T/old" "$file"
			git checkpoint hooks uninstall --agent $agent >"$T/out"
			if test -n "$there"; then
				expect_eq "$there" "$(cat "$file")"
			else
				expect_missing "$file"
			fi
		done
		# one that somebody changed is theirs
		mkdir -p "$(dirname "$file")"
		sed 's/ --automatic//; s/-m pre-tool/-m mine/' "$T/new" >"$file"
		cp "$file" "$T/theirs"
		git checkpoint hooks install --agent $agent >"$T/out"
		expect_same "$T/theirs" "$file"
		rm "$file"
	done
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
	expect_eq 4 "$(git checkpoint list | wc -l | tr -d ' ')"
	git checkpoint log --json | jq -e '.entries | all(.action != "evict")' >"$T/out"
}

run_tests
