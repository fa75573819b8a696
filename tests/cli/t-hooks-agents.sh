#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --agent: entries in the settings of coding agents, and what they do when they run.

. "$(dirname "$0")/../lib/harness.sh"

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

test_uninstall_gives_the_same_bytes() {
	agent_repo
	for agent in $agents; do
		file=$(settings "$agent")
		git checkpoint hooks install --agent "$agent" >/dev/null
		jq -e . "$file" >/dev/null
		git checkpoint hooks uninstall --agent "$agent" >/dev/null
		test ! -e "${file%/*}"

		mkdir "${file%/*}"
		printf '{\r\n\t"permissions": { "allow": ["Bash(ls:*)"] },\r\n\t"other": 1}' >"$file"
		chmod 640 "$file"
		cp -p "$file" before
		git checkpoint hooks install --agent "$agent" >/dev/null
		jq -e '.permissions.allow == ["Bash(ls:*)"]' "$file" >/dev/null
		entry "$agent" "$file" >/dev/null
		cp "$file" once
		git checkpoint hooks install --agent "$agent" >/dev/null
		cmp once "$file"
		expect_eq 640 "$(stat -c %a "$file")"
		git checkpoint hooks uninstall --agent "$agent" >/dev/null
		cmp before "$file"
		expect_eq 640 "$(stat -c %a "$file")"
		expect_eq 1 "$(find "${file%/*}" -mindepth 1 | wc -l)" 'files'
	done
	rm before once
	expect_eq '' "$(git status --porcelain -- .git file)"
}

test_malformed_settings_are_refused_and_named() {
	agent_repo
	for agent in $agents; do
		file=$(settings "$agent")
		mkdir "${file%/*}"
		printf '{\n  "hooks": {\n}' >"$file"
		cp "$file" before
		for verb in install uninstall; do
			expect_exit 128 git checkpoint hooks $verb --agent "$agent" 2>err
			expect_grep "$file" err
			expect_grep 'line 3, column 2' err
			cmp before "$file"
		done
		expect_eq 1 "$(find "${file%/*}" -mindepth 1 | wc -l)" 'files'
	done
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

# elsewhere_is <fingerprint>
elsewhere_is() {
	expect_eq "$1" "$(fingerprint "$T/elsewhere")" 'what lies outside of the worktree'
}

test_links_of_a_project_lead_nowhere_else() {
	git init -q
	mkdir -p "$T/elsewhere/.claude" "$T/elsewhere/.codex"
	echo '{"model":"x"}' >"$T/elsewhere/.claude/settings.json"
	printf '[[hooks.PreToolUse]]\nmatcher = "x"\n' >"$T/elsewhere/.codex/config.toml"
	echo 1 >"$T/elsewhere/.claude/tmp_ckpt_1" # looks like one of ours, and is not
	before=$(fingerprint "$T/elsewhere")
	# the directory, there and not there yet
	ln -s "$T/elsewhere/.claude" .claude
	ln -s "$T/elsewhere/.codex" .codex
	ln -s ../elsewhere/none .gemini
	expect_exit 128 git checkpoint hooks install --agent gemini-cli 2>err
	elsewhere_is "$before"
	for agent in claude-code codex; do
		expect_exit 5 git checkpoint hooks install --agent $agent 2>err
		expect_grep 'leads out of the worktree' err
		expect_exit 5 git checkpoint hooks uninstall --agent $agent 2>err
		elsewhere_is "$before"
	done
	# the file
	rm .claude .codex .gemini
	mkdir .claude .codex
	ln -s "$T/elsewhere/.claude/settings.json" .claude/settings.json
	ln -s ../../elsewhere/.codex/config.toml .codex/config.toml
	for agent in claude-code codex; do
		expect_exit 5 git checkpoint hooks install --agent $agent 2>err
		expect_grep 'leads out of the worktree' err
		elsewhere_is "$before"
	done
	# within the worktree they are followed, and in the home directory the user may put them anywhere
	rm .claude/settings.json
	cp "$T/elsewhere/.claude/settings.json" shared.json
	ln -s ../shared.json .claude/settings.json
	git checkpoint hooks install --agent claude-code >/dev/null
	expect_grep 'git checkpoint save' shared.json
	test -h .claude/settings.json
	git checkpoint hooks uninstall --agent claude-code >/dev/null
	expect_same "$T/elsewhere/.claude/settings.json" shared.json
	ln -s "$T/elsewhere/.claude" "$HOME/.claude"
	git checkpoint hooks install --agent claude-code --user >/dev/null
	expect_grep 'git checkpoint save' "$T/elsewhere/.claude/settings.json"
}

test_codex_with_hooks_in_toml() {
	agent_repo
	mkdir .codex
	cat >.codex/config.toml <<-'END'
	# mine
	model = "o"   # the model

	[[hooks.PreToolUse]]
	matcher = "^Bash$"
	hooks = [ { type = "command", command = '''theirs''' } ]
	END
	cp .codex/config.toml before
	git checkpoint hooks install --agent codex >/dev/null 2>err
	expect_grep 'config.toml. has hooks, too' err
	expect_same before .codex/config.toml
	sh -c "$(entry codex .codex/hooks.json)" </dev/null
	expect_eq codex "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	git checkpoint hooks uninstall --agent codex >/dev/null
	test ! -e .codex/hooks.json
	# where an earlier version put it, it is as good as anywhere
	{
		printf '\n# >>> git-checkpoint >>>\n'
		recipe toml codex
		printf '# <<< git-checkpoint <<<\n'
	} >>.codex/config.toml
	git checkpoint hooks install --agent codex >/dev/null 2>&1
	test ! -e .codex/hooks.json
	printf '\n[tui]\nnotifications = true\n' | tee -a before >>.codex/config.toml
	git checkpoint hooks uninstall --agent codex >/dev/null
	expect_same before .codex/config.toml
}

# whole <before> <after>: the settings are the one or the other
whole() {
	cmp -s "$1" .claude/settings.json || cmp -s "$2" .claude/settings.json
}

# stays <file>: install and uninstall, together and uninstall alone, leave it byte for byte
stays() {
	cp "$1" "$T/before"
	git checkpoint hooks uninstall -q --agent "$agent" 2>"$T/err"
	expect_same "$T/before" "$1"
	git checkpoint hooks install -q --agent "$agent" 2>"$T/err" || :
	git checkpoint hooks uninstall --agent "$agent" >"$T/err" 2>&1 || :
	cmp "$T/before" "$1" || fail "'$1' is not what it was"
}

test_what_the_user_wrote_is_the_users() {
	agent_repo
	mkdir .claude .codex
	agent=claude-code
	# another event, our words; our event, another command
	for event in Stop PreToolUse; do
		printf '{"hooks": {"%s": [{"hooks": [{"type": "command", "command": "%s"}]}]}}\n' $event \
			'git checkpoint save --source claude-code -m mine' >.claude/settings.json
		stays .claude/settings.json
	done
	expect_grep 'was not written by' "$T/err"
	# line ends of another age
	printf '{\r  "a": 1,\r  "hooks": {\r  }\r}\r' >.claude/settings.json
	stays .claude/settings.json
	printf '{ "hooks":\r{ "PreToolUse":\r[ ] } }' >.claude/settings.json
	stays .claude/settings.json
	# ours, but for a number that the user changed
	rm .claude/settings.json
	git checkpoint hooks install -q --agent claude-code
	sed -i 's/"timeout": 30/"timeout": 60/' .claude/settings.json
	stays .claude/settings.json
	agent=codex
	for line in '# >>> git-checkpoint >>>' '# <<< git-checkpoint <<<'; do
		printf 'a = 1\n%s\n[[hooks.Stop]]\nmatcher = "x"\n' "$line" >.codex/config.toml
		stays .codex/config.toml
	done
	printf '# >>> git-checkpoint >>>\n[[hooks.Stop]]\nmatcher = "mine"\n# <<< git-checkpoint <<<\n' \
		>.codex/config.toml
	stays .codex/config.toml
}

test_a_full_disk_or_a_kill_leaves_one_of_the_two_files() {
	agent_repo
	mkdir .claude
	printf '{\n  "a": 1\n}' >.claude/settings.json
	cp .claude/settings.json before
	git checkpoint hooks install --agent claude-code >/dev/null
	cp .claude/settings.json after
	git checkpoint hooks uninstall --agent claude-code >/dev/null
	FAULT_PATH=/.claude
	calls=openat-create,write,fsync,rename,close,unlink,mkdir
	with_faults $calls 0 EIO git-checkpoint hooks install --agent claude-code >/dev/null
	total=$(cat "$T/faults")
	test "$total" -ge 4
	for how in ENOSPC kill; do
		at=0
		while test $at -lt "$total"; do
			at=$((at + 1))
			cp before .claude/settings.json
			with_faults $calls $at $how git-checkpoint hooks install --agent claude-code \
				>/dev/null 2>&1 || :
			whole before after
			test $how = kill || expect_eq settings.json "$(ls -A .claude)"
			git checkpoint hooks install --agent claude-code >/dev/null
			cmp after .claude/settings.json
			expect_eq settings.json "$(ls -A .claude)"
			with_faults $calls $at $how git-checkpoint hooks uninstall --agent claude-code \
				>/dev/null 2>&1 || :
			whole before after
			git checkpoint hooks uninstall --agent claude-code >/dev/null
			cmp before .claude/settings.json
			expect_eq settings.json "$(ls -A .claude)"
		done
	done
	rm -r .claude
	for at in 1 2 3 4; do
		expect_exit 128 with_faults openat-create,write,fsync,rename,mkdir $at ENOSPC \
			git-checkpoint hooks install --agent claude-code 2>/dev/null
		test ! -e .claude
	done
}

# People keep their settings elsewhere and link to them, from several projects.
test_who_writes_where_a_link_leads_is_waited_for() {
	agent_repo
	mkdir .claude "$PWD/mine"
	echo '{}' >"$PWD/mine/settings.json"
	ln -s "$PWD/mine/settings.json" .claude/settings.json
	temp=$PWD/mine/tmp_ckpt_0123456789abcdef
	echo 'of one that is at work' >"$temp"
	expect_exit 124 flock "$PWD/mine" timeout 1 git-checkpoint hooks install --agent claude-code
	test -e "$temp"
	expect_eq '{}' "$(cat "$PWD/mine/settings.json")"
	git checkpoint hooks install --agent claude-code >/dev/null
	expect_grep 'git checkpoint save' "$PWD/mine/settings.json"
	expect_eq settings.json "$(ls -A "$PWD/mine")" 'what is left of one that was killed'
	# a link within the directory itself
	rm .claude/settings.json
	echo '{}' >.claude/shared.json
	ln -s shared.json .claude/settings.json
	timeout 20 git-checkpoint hooks install --agent claude-code >/dev/null
	expect_grep 'git checkpoint save' .claude/shared.json
}

# ---- what the manual and the README tell ------------------------------------------

# recipe <kind> <agent>: the block of the manual with that mark
recipe() {
	awk -v mark=".\\\\\" $1 $2" '$0 == mark { on = 1; next } /^\.fi$/ { on = 0 } on && $0 != ".nf"' \
		"$ROOT_DIR/man/git-checkpoint-hooks.1" | sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(ha/^/g' \
		-e 's/\\(ti/~/g' -e 's/\\(ga/`/g' -e 's/\\&//g' -e 's/\\e/\\/g' |
		grep '' || fail "the manual has no recipe '$1 $2'" >&2
}

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

run_tests
