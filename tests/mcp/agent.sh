#!/bin/bash
# SPDX-License-Identifier: MIT
# A real coding agent, headless, against model.mjs on the loopback of a network namespace of its own,
# calls checkpoint_save and checkpoint_preview_restore of the server that `mcp --install` added.
# usage: agent.sh <agent> <directory for npm> <scratch directory>; needs root
set -eu

agent=$1 npm=$2 scratch=$3
here=$(cd "$(dirname "$0")" && pwd -P)
home=$scratch/agents/$agent/home repo=$scratch/agents/$agent/repo
url=http://127.0.0.1:9999
save=mcp__git-checkpoint__checkpoint_save preview=mcp__git-checkpoint__checkpoint_preview_restore
namespace=
case $agent in
claude-code) package=@anthropic-ai/claude-code program=claude ;;
codex)
	package=@openai/codex program=codex
	save=checkpoint_save preview=checkpoint_preview_restore namespace=mcp__git_checkpoint
	;;
gemini-cli)
	package=@google/gemini-cli program=gemini
	save=mcp_git-checkpoint_checkpoint_save preview=mcp_git-checkpoint_checkpoint_preview_restore
	;;
*)
	echo "agent.sh: how to run '$agent' is not known" >&2
	exit 2
	;;
esac
program=$npm/$agent/node_modules/.bin/$program
test -x "$program" || npm install --silent --no-fund --no-audit --prefix "$npm/$agent" "$package"
mkdir -p "$home" "$repo"
cd "$repo"
git init -q .
echo one >file

# What it is started in: nothing of the caller's environment.
clean() {
	env -i HOME="$home" USER=tester SHELL=/bin/bash TERM=dumb TMPDIR="$scratch" LANG=C.UTF-8 \
		PATH="$BUILD_DIR:/usr/local/bin:/usr/bin:/bin" "$@"
}

clean git-checkpoint mcp --install -q "$agent"
case $agent in
claude-code)
	mkdir "$home/.claude"
	echo '{"enableAllProjectMcpServers":true,"permissions":{"allow":["mcp__git-checkpoint"]}}' \
		>"$home/.claude/settings.json"
	set -- ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=none "$program" -p 'please do it'
	;;
codex)
	mkdir "$home/.codex"
	cat >"$home/.codex/config.toml" <<-END
		model = "stub"
		model_provider = "stub"
		[model_providers.stub]
		name = "stub"
		base_url = "$url/v1"
		wire_api = "responses"
		env_key = "STUB_KEY"
		[projects."$repo"]
		trust_level = "trusted"
	END
	set -- STUB_KEY=none "$program" exec --dangerously-bypass-approvals-and-sandbox 'please do it'
	;;
gemini-cli)
	mkdir "$home/.gemini"
	echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true}}' \
		>"$home/.gemini/settings.json"
	set -- GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=$url GEMINI_CLI_TRUST_WORKSPACE=true \
		"$program" --yolo -p 'please do it'
	;;
esac
jq -n --arg save "$save" --arg preview "$preview" --arg space "$namespace" --arg agent "$agent" \
	'[{name: $save, space: $space, arguments: {reason: ("by " + $agent)}},
	{name: $preview, space: $space, arguments: {checkpoint: "@"}}]' >"$scratch/calls.json"

export -f clean
export home scratch BUILD_DIR
rm -f "$scratch/heard" "$scratch/listening"
unshare -n bash -eu -c '
	ip link set lo up
	node "$1/model.mjs" 9999 "$2/calls.json" "$2/heard" >"$2/listening" &
	model=$!
	trap "kill $model" EXIT
	until test -s "$2/listening"; do sleep 0.05; done
	shift 2
	clean timeout 180 env "$@" </dev/null
' _ "$here" "$scratch" "$@" >"$scratch/$agent.log" 2>&1 || {
	tail -n 20 "$scratch/$agent.log" >&2
	exit 1
}

# The checkpoint is there, under the agent's name, and the model was told the token.
clean git-checkpoint list --json | jq -e --arg agent "$agent" \
	'.checkpoints[0] | .reason == "by " + $agent and .source == $agent' >/dev/null
grep -q 'token[\\"]*:[\\"]*[0-9a-f]\{32\}' "$scratch/heard"
clean git-checkpoint mcp --uninstall -q "$agent"
expected='.git file'
test "$(find . -mindepth 1 -maxdepth 1 | sed 's|^./||' | LC_ALL=C sort | xargs)" = "$expected"
echo "ok - $agent"
