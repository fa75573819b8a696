#!/bin/bash
# SPDX-License-Identifier: MIT
# drive.sh <agent> <directory> <script> [<script of a sub-agent>]: run a real agent, without a person, against the
# model of this folder, in a network of its own, with an empty environment and a home of its own.
# drive.sh --home <agent>: only make its home.
# KIT_HOME: where agents are installed and where their homes are; KIT_PATH: the PATH of the agent.
set -eu
kit=$(cd "$(dirname "$0")" && pwd)
home_only=
test "$1" != --home || { home_only=1; set -- "$2" / ''; }
agent=$1 dir=$(cd "$2" && pwd -P) script=$3 sub=${4:-}
home=$KIT_HOME/home/$agent
url=http://127.0.0.1:9999
prompt='MAINTASK please do it'
bin=$KIT_HOME/npm/$agent/node_modules/.bin
mkdir -p "$home" "$KIT_HOME/tmp"

mcp_servers='{"mcpServers":{"kit":{"command":"node","args":["'$kit'/mcp.mjs"]'
env=(HOME="$home" USER=tester SHELL=/bin/bash TERM=dumb TMPDIR="$KIT_HOME/tmp" LANG=C.UTF-8
	PATH="$KIT_PATH" GIT_CHECKPOINT_HOME="$KIT_STORES")

case $agent in
claude-code)
	echo "$mcp_servers}}}" >"$KIT_HOME/mcp.json"
	env+=(ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=sk-ant-dummy)
	run=("$bin/claude" -p "$prompt" --permission-mode acceptEdits --mcp-config "$KIT_HOME/mcp.json"
		--allowedTools Bash mcp__kit__touch Agent EnterWorktree ExitWorktree)
	;;
codex)
	mkdir -p "$home/.codex"
	cat >"$home/.codex/config.toml" <<-END
	model = "gpt-6.1-sol"
	model_provider = "kit"
	[model_providers.kit]
	name = "kit"
	base_url = "$url/v1"
	wire_api = "responses"
	env_key = "KIT_KEY"
	[mcp_servers.kit]
	command = "node"
	args = ["$kit/mcp.mjs"]
	[projects."$dir"]
	trust_level = "trusted"
	[projects."${KIT_TRUSTED:-$dir/x}"]
	trust_level = "trusted"
	END
	env+=(KIT_KEY=dummy)
	# Nobody is there to review the hook with /hooks.
	run=("$bin/codex" exec --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust "$prompt")
	;;
gemini-cli)
	mkdir -p "$home/.gemini"
	test -e "$home/.gemini/settings.json" ||
		echo "$mcp_servers,\"trust\":true}},\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},\"general\":{\"disableAutoUpdate\":true}}" \
			>"$home/.gemini/settings.json"
	env+=(GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL="$url" GEMINI_CLI_TRUST_WORKSPACE=true)
	run=("$bin/gemini" --yolo -p "$prompt")
	;;
copilot)
	mkdir -p "$home/.copilot"
	echo "$mcp_servers,\"type\":\"local\",\"tools\":[\"*\"]}}}" >"$home/.copilot/mcp-config.json"
	echo "{\"trusted_folders\":[\"$dir\"],\"trustedFolders\":[\"$dir\"]}" >"$home/.copilot/config.json"
	env+=(COPILOT_PROVIDER_BASE_URL="$url/v1" COPILOT_PROVIDER_API_KEY=dummy COPILOT_MODEL=kit COPILOT_OFFLINE=true
		COPILOT_AUTO_UPDATE=false)
	run=("$bin/copilot" --allow-all-tools --allow-all-paths -p "$prompt")
	;;
qwen-code)
	mkdir -p "$home/.qwen"
	test -e "$home/.qwen/settings.json" || echo "$mcp_servers,\"trust\":true}}}" >"$home/.qwen/settings.json"
	env+=(OPENAI_API_KEY=dummy OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=kit)
	run=("$bin/qwen" --yolo --auth-type openai -p "$prompt")
	;;
opencode)
	mkdir -p "$home/.config/opencode"
	cat >"$home/.config/opencode/opencode.json" <<-END
	{"autoupdate":false,"share":"disabled","permission":{"*":"allow"},
	"mcp":{"kit":{"type":"local","command":["node","$kit/mcp.mjs"],"enabled":true}},
	"provider":{"kit":{"npm":"@ai-sdk/openai-compatible","name":"kit",
	"options":{"baseURL":"$url/v1","apiKey":"dummy"},
	"models":{"kit":{"name":"kit","tool_call":true,"limit":{"context":100000,"output":1000}}}}}}
	END
	# It looks for updates of what plugins may use, and there is no network.
	env+=(OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 npm_config_fetch_retries=0
		npm_config_offline=true)
	run=("$bin/opencode" run -m kit/kit "$prompt")
	;;
esac

test -z "$home_only" || exit 0
: >"$KIT_HOME/model.log"
export KIT_AGENT=$agent KIT_SCRIPT=$script KIT_SUB=$sub KIT_DIR=${KIT_DIR:-$dir} KIT_PORT=9999 KIT_LOG=$KIT_HOME/model.log
cd "$dir"
exec unshare -n bash -c '
	ip link set lo up
	model=$1
	shift
	node "$model" &
	pid=$!
	for i in $(seq 100); do
		grep -q listening "$KIT_LOG" && break
		sleep 0.1
	done
	timeout 180 env -i "$@" </dev/null
	status=$?
	kill $pid
	wait $pid 2>/dev/null
	exit $status' _ "$kit/model.mjs" "${env[@]}" "${run[@]}"
