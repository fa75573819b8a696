#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp --install, --uninstall and --print: the server in the settings of agents.

. "$(dirname "$0")/../../lib/harness.sh"

# Agents that have a file in the project, with it and the way to the entry.
agents() {
	cat <<-'END'
		claude-code .mcp.json .mcpServers
		gemini-cli .gemini/settings.json .mcpServers
		copilot .github/mcp.json .mcpServers
		cursor .cursor/mcp.json .mcpServers
		opencode opencode.json .mcp
		qwen-code .qwen/settings.json .mcpServers
		droid .factory/mcp.json .mcpServers
		kiro .kiro/settings/mcp.json .mcpServers
	END
}

test_what_is_installed_starts_the_server() {
	git init -q .
	agents | while read -r agent file key; do
		git checkpoint mcp --install -q "$agent"
		jq -r "${key}[\"git-checkpoint\"] | if .command | type == \"array\" then .command[] else .command, .args[] end" \
			"$file" | tr '\n' ' ' >"$T/command"
		echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}' |
			sh -c "$(cat "$T/command")" | jq -e '.result.serverInfo.name == "git-checkpoint"'
	done
	git checkpoint mcp --install -q codex
	expect_grep '^\[mcp_servers.git-checkpoint\]$' .codex/config.toml
	git checkpoint mcp --install --json codex droid | jq -e '[.agents[].change] == ["unchanged", "unchanged"]'
}

# Codex passes few variables to a server, which must not keep checkpoints elsewhere for that.
test_the_server_has_the_home_of_the_user() {
	git init -q .
	export GIT_CHECKPOINT_HOME="$T/odd \"home\""
	for agent in $(agents | cut -d' ' -f1) codex; do
		git checkpoint mcp --install -q "$agent"
	done
	agents | while read -r agent file key; do
		jq -e --arg home "$GIT_CHECKPOINT_HOME" "${key}[\"git-checkpoint\"] |
			(.env // .environment) == {GIT_CHECKPOINT_HOME: \$home}" "$file"
	done
	expect_grep '^env = { GIT_CHECKPOINT_HOME = ".*odd \\"home\\"" }$' .codex/config.toml
	# What is there is ours, whatever is set now.
	unset GIT_CHECKPOINT_HOME
	agents | cut -d' ' -f1 | xargs git checkpoint mcp --uninstall -q codex
	expect_eq .git "$(ls -A)"
	XDG_STATE_HOME=$T/state git checkpoint mcp --print codex 2>/dev/null >"$T/out"
	expect_grep "^env = { GIT_CHECKPOINT_HOME = \"$T/state/git-checkpoint\" }\$" "$T/out"
}

test_nothing_is_left_of_what_was_created() {
	git init -q .
	for agent in $(agents | cut -d' ' -f1) codex; do
		git checkpoint mcp --install -q "$agent"
		git checkpoint mcp --uninstall -q "$agent"
		expect_eq .git "$(ls -A)"
	done
	mkdir -p .kiro/settings .codex
	git checkpoint mcp --install -q kiro codex
	git checkpoint mcp --uninstall -q codex kiro
	expect_eq '.codex .git .kiro ' "$(ls -A | tr '\n' ' ')"
	rmdir .kiro/settings .codex
}

# Every text comes back byte by byte, whatever is in it.
test_uninstall_is_byte_exact() {
	git init -q .
	n=0
	mkdir "$T/texts"
	for text in '{}' '{ }' '{\n}\n' '{"a":1}' '{"a": 1, "KEY": {}}\n' '{\n  "KEY": {\n  }\n}' '{"KEY":{"x":{"command":"y"}}}' \
		'{\n\t"KEY": {\n\t\t"x": {"command": "y"}\n\t},\n\t"z": []\n}\n' '{\r\n  "a": [1,\r\n 2]\r\n}\r\n' \
		'\357\273\277{"a":"\\u0022"}' '  {"KEY":{ }}  \n\n'; do
		n=$((n + 1))
		# shellcheck disable=SC2059
		printf "$text" >"$T/texts/$n"
	done
	agents | while read -r agent file key; do
		mkdir -p "$(dirname "$file")"
		for text in "$T"/texts/*; do
			sed "s/KEY/${key#.}/" "$text" >"$file"
			cp "$file" "$T/before"
			git checkpoint mcp --install -q "$agent"
			if cmp -s "$file" "$T/before"; then fail 'nothing was installed'; fi
			git checkpoint mcp --uninstall -q "$agent"
			cmp "$file" "$T/before"
		done
	done
	mkdir -p .codex
	for text in '' 'model = "x"' 'model = "x"\n' 'model = "x"\n\n' '[a]\r\nb = 1\r\n' '[mcp_servers.x]\ncommand = "y"\n' '\n'; do
		# shellcheck disable=SC2059
		printf "$text" >.codex/config.toml
		cp .codex/config.toml "$T/before"
		git checkpoint mcp --install -q codex
		git checkpoint mcp --install --json codex | jq -e '.agents[0].change == "unchanged"'
		git checkpoint mcp --uninstall -q codex
		cmp .codex/config.toml "$T/before"
	done
}

test_what_others_add_stays() {
	git init -q .
	git checkpoint mcp --install -q claude-code codex gemini-cli
	jq '.mcpServers.other = {command: "x"}' .mcp.json >"$T/new" && cp "$T/new" .mcp.json
	git checkpoint hooks install -q --agent gemini-cli
	printf '[other]\nx = 1\n' >>.codex/config.toml
	git checkpoint mcp --uninstall -q claude-code codex gemini-cli
	jq -e '.mcpServers | keys == ["other"]' .mcp.json
	jq -e 'has("hooks") and (has("mcpServers") | not)' .gemini/settings.json
	expect_eq '[other] x = 1' "$(xargs <.codex/config.toml)"
	# A last line without an end keeps what came after it apart.
	printf 'a = 1' >.codex/config.toml
	git checkpoint mcp --install -q codex
	printf 'b = 2\n' >>.codex/config.toml
	git checkpoint mcp --uninstall -q codex
	expect_eq 'a = 1|b = 2|' "$(tr '\n' '|' <.codex/config.toml)"
}

test_an_entry_of_somebody_else_is_left_alone() {
	git init -q .
	echo '{"mcpServers":{"git-checkpoint":{"command":"mine","args":["mcp"]}}}' >.mcp.json
	mkdir .codex
	printf '[mcp_servers."git-checkpoint"]\ncommand = "mine"\n' >.codex/config.toml
	cp .mcp.json "$T/json"
	cp .codex/config.toml "$T/toml"
	for way in --install --uninstall; do
		git checkpoint mcp $way --json claude-code codex |
			jq -e '.agents | all(.change == "unchanged" and (.warnings[0] | test("left as it is")))'
		cmp .mcp.json "$T/json"
		cmp .codex/config.toml "$T/toml"
	done
}

test_what_cannot_be_edited_is_refused() {
	git init -q .
	mkdir .codex
	for text in '{' '[]' '{"mcpServers":[]}' '{"mcpServers":{}}x' '' 'nonsense'; do
		printf '%s' "$text" >.mcp.json
		cp .mcp.json "$T/before"
		expect_exit 128 git checkpoint mcp --install claude-code 2>"$T/err"
		expect_grep "'.*mcp.json' cannot be edited" "$T/err"
		cmp .mcp.json "$T/before"
	done
	echo 'mcp_servers = { x = { command = "y" } }' >.codex/config.toml
	expect_exit 128 git checkpoint mcp --install codex 2>"$T/err"
	expect_grep 'on one line' "$T/err"
	expect_exit 128 git checkpoint mcp --install droid amp
	expect_exit 128 git checkpoint mcp --install droid windsurf
	expect_missing .factory
	expect_exit 128 git checkpoint mcp --install --user claude-code 2>"$T/err"
	expect_grep 'claude mcp add' "$T/err"
	expect_exit 129 git checkpoint mcp --install
	expect_exit 129 git checkpoint mcp --install --uninstall droid
	expect_exit 129 git checkpoint mcp --root . --install droid
	expect_exit 129 git checkpoint mcp --user </dev/null
	expect_exit 129 git checkpoint mcp droid </dev/null
}

test_links_lead_nowhere_else() {
	git init -q .
	mkdir "$T/elsewhere"
	ln -s "$T/elsewhere" .factory
	echo '{}' >"$T/x.json"
	ln -s "$T/x.json" .mcp.json
	expect_exit 5 git checkpoint mcp --install droid
	expect_exit 5 git checkpoint mcp --install claude-code
	expect_eq '{}' "$(cat "$T/x.json")$(ls "$T/elsewhere")"
}

test_the_settings_of_the_user() {
	git checkpoint mcp --install --user -q codex windsurf copilot
	expect_exists "$HOME/.codex/config.toml" "$HOME/.codeium/windsurf/mcp_config.json" "$HOME/.copilot/mcp-config.json"
	expect_eq '' "$(ls -A)"
	git checkpoint mcp --uninstall --user -q codex windsurf copilot
	expect_missing "$HOME/.codex" "$HOME/.codeium" "$HOME/.copilot"
}

test_print_shows_and_touches_nothing() {
	git init -q .
	for agent in $(agents | cut -d' ' -f1); do
		git checkpoint mcp --print "$agent" 2>/dev/null | jq -e .
		git checkpoint mcp --print --install "$agent" 2>/dev/null | jq -e .
	done
	git checkpoint mcp --print codex 2>/dev/null >"$T/out"
	expect_grep '^command = "git-checkpoint"$' "$T/out"
	expect_eq .git "$(ls -A)"
}

test_a_kill_leaves_the_old_file_or_the_new_one() {
	git init -q .
	printf '{\n  "a": 1\n}\n' >.mcp.json
	cp .mcp.json "$T/before"
	git checkpoint mcp --install -q claude-code
	cp .mcp.json "$T/after"
	cp "$T/before" .mcp.json
	with_faults write,fsync,rename 0 kill git-checkpoint mcp --install -q claude-code
	cp "$T/before" .mcp.json
	total=$(cat "$T/faults")
	test "$total" -gt 0
	for at in $(seq "$total"); do
		expect_exit 137 with_faults write,fsync,rename "$at" kill git-checkpoint mcp --install -q claude-code
		cmp -s .mcp.json "$T/before" || cmp .mcp.json "$T/after"
		cp "$T/before" .mcp.json
	done
	git checkpoint mcp --install -q claude-code
	git checkpoint mcp --uninstall -q claude-code
	expect_eq '.git .mcp.json ' "$(ls -A | tr '\n' ' ')"
}

run_tests
