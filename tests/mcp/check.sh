#!/bin/sh
# SPDX-License-Identifier: MIT
# Real clients of the Model Context Protocol, and real coding agents, as clients of our server. npm
# installs them in $MCP_HOME; without one that is a directory which is removed afterwards.
set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/git-checkpoint-mcp.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
home=${MCP_HOME:-$scratch/npm}
mkdir -p "$home" "$scratch/work" "$scratch/home"
PATH=$BUILD_DIR:$PATH
HOME_BEFORE=$HOME
HOME=$scratch/home GIT_CHECKPOINT_HOME=$scratch/stores
export PATH HOME GIT_CHECKPOINT_HOME

for package in @modelcontextprotocol/sdk @modelcontextprotocol/client @modelcontextprotocol/inspector; do
	test -d "$home/clients/node_modules/$package" ||
		HOME=$HOME_BEFORE npm install --silent --no-fund --no-audit --prefix "$home/clients" $package
done
git init -q "$scratch/work"
node "$here/clients.mjs" "$home/clients" "$BUILD_DIR/git-checkpoint" "$scratch/work"

inspect() {
	(cd "$scratch/work" && "$home/clients/node_modules/.bin/mcp-inspector" --cli \
		"$BUILD_DIR/git-checkpoint" mcp "$@")
}
inspect --method tools/list | jq -e '.tools | length == 15' >/dev/null
inspect --method resources/list | jq -e '.resources[0].uri == "checkpoint:///list"' >/dev/null
inspect --method resources/templates/list | jq -e '.resourceTemplates | length == 1' >/dev/null
inspect --method prompts/list | jq -e '.prompts | length == 1' >/dev/null
echo inspected >"$scratch/work/file"
inspect --method tools/call --tool-name checkpoint_save --tool-arg reason=inspected |
	jq -e '.structuredContent.checkpoint.reason == "inspected"' >/dev/null
inspect --method tools/call --tool-name checkpoint_preview_restore --tool-arg checkpoint=@~1 |
	jq -e '.structuredContent.token' >/dev/null
echo 'ok - inspector'

for agent in ${MCP_AGENTS-claude-code codex gemini-cli}; do
	HOME=$HOME_BEFORE "$here/agent.sh" "$agent" "$home" "$scratch"
done
