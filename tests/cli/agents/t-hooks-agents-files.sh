#!/bin/sh
# SPDX-License-Identifier: MIT
# hooks install --agent: the settings of agents stay the user's, byte for byte, whatever happens.

. "$(dirname "$0")/../../lib/harness.sh"
. "$(dirname "$0")/../../lib/agents.sh"

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
			expect_grep 'line 3, column ' err
			cmp before "$file"
		done
		expect_eq 1 "$(find "${file%/*}" -mindepth 1 | wc -l)" 'files'
	done
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
		expect_grep 'leads out of ' err
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
		expect_grep 'leads out of ' err
		elsewhere_is "$before"
	done
	# within the worktree they are followed, and in the home directory the user may put them anywhere
	rm .claude/settings.json
	cp "$T/elsewhere/.claude/settings.json" shared.json
	ln -s ../shared.json .claude/settings.json
	git checkpoint hooks install --agent claude-code >/dev/null
	expect_grep 'agent-hook claude-code' shared.json
	test -h .claude/settings.json
	git checkpoint hooks uninstall --agent claude-code >/dev/null
	expect_same "$T/elsewhere/.claude/settings.json" shared.json
	ln -s "$T/elsewhere/.claude" "$HOME/.claude"
	git checkpoint hooks install --agent claude-code --user >/dev/null
	expect_grep 'agent-hook claude-code' "$T/elsewhere/.claude/settings.json"
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
	echo 2 >file
	sh -c "$(entry codex .codex/hooks.json)" </dev/null
	expect_eq codex "$(git checkpoint list --json | jq -r '.checkpoints[0].source')"
	git checkpoint hooks uninstall --agent codex >/dev/null
	test ! -e .codex/hooks.json
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
	expect_grep 'agent-hook claude-code' "$PWD/mine/settings.json"
	expect_eq settings.json "$(ls -A "$PWD/mine")" 'what is left of one that was killed'
	# a link within the directory itself
	rm .claude/settings.json
	echo '{}' >.claude/shared.json
	ln -s shared.json .claude/settings.json
	timeout 20 git-checkpoint hooks install --agent claude-code >/dev/null
	expect_grep 'agent-hook claude-code' .claude/shared.json
}

run_tests
