/* SPDX-License-Identifier: MIT */
#include "agents/agent_entry_internal.h"

#include "agents/jsonedit_internal.h"
#include "base/base.h"

/*
 * A shell that does not find the program exits with 127: most agents let the tool run then, Gemini CLI
 * only after 1, and Copilot only after 0.
 *
 * Timeouts are larger than hookTimeout, so that the hook ends by itself and can say why. "Restart"
 * is for those that read their settings once.
 */
enum { SECONDS = 30, MILLISECONDS = 30000 };

#define CLAUDE_EVENTS                                                   \
	{                                                               \
		"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop" \
	}

const struct agent agent_table[] = {
	{
		.name = "claude-code",
		.format = AGENT_GROUPS,
		.dir = ".claude",
		.file = "settings.json",
		.events = CLAUDE_EVENTS,
		.matcher = "Bash|Edit|MultiEdit|NotebookEdit|Write",
		.timeout = SECONDS,
		.enter = "cd \"${CLAUDE_PROJECT_DIR:-.}\" && ",
		.after = "",
		.variable = "CLAUDE_CONFIG_DIR",
		.note = "restart Claude Code if it is running; it asks once whether you trust the "
			"folder, and /hooks shows the entry",
		.from_root = true,
	},
	{
		.name = "codex",
		.format = AGENT_GROUPS,
		.dir = ".codex",
		.file = "hooks.json",
		.toml = "config.toml",
		.events = CLAUDE_EVENTS,
		.matcher = "Bash|apply_patch",
		.timeout = SECONDS,
		.enter = "",
		.after = "",
		.variable = "CODEX_HOME",
		.note = "Codex runs a new hook only after you have reviewed it: restart Codex, trust "
			"the folder, and type /hooks in Codex",
	},
	{
		.name = "gemini-cli",
		.format = AGENT_GROUPS,
		.dir = ".gemini",
		.file = "settings.json",
		.flags = JSONEDIT_COMMENTS,
		.events = { "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent" },
		.matcher = "run_shell_command|write_file|replace",
		.title = "git-checkpoint",
		.timeout = MILLISECONDS,
		.enter = "cd \"${GEMINI_PROJECT_DIR:-.}\" && ",
		.after = "; echo '{}'",
		.rescue = " || exit 1",
		.note = "restart Gemini CLI if it is running, and trust the folder: hooks of a project "
			"are run in trusted folders only",
		.from_root = true,
	},
	{
		.name = "copilot",
		.format = AGENT_FLAT,
		.dir = ".github/hooks",
		.file = "git-checkpoint.json",
		.user_dir = ".copilot/hooks",
		.events = { "preToolUse", "postToolUse", "userPromptSubmitted", "agentStop" },
		.tells_event = true,
		.rescue = " || true",
		.version = true,
		.typed = true,
		.command_key = "bash",
		.timeout_key = "timeoutSec",
		.timeout = SECONDS,
		.note = "restart Copilot CLI if it is running, and trust the folder when it asks",
		.from_root = true,
	},
	{
		.name = "cursor",
		.format = AGENT_FLAT,
		.dir = ".cursor",
		.file = "hooks.json",
		.events = { "preToolUse", "postToolUse", "beforeSubmitPrompt", "stop" },
		.version = true,
		.timeout = SECONDS,
		.note = "restart Cursor if hooks are not listed under Settings, Hooks; project hooks "
			"run in trusted workspaces only",
	},
	{
		.name = "opencode",
		.format = AGENT_OWN,
		.dir = ".opencode/plugin",
		.file = "git-checkpoint.js",
		.user_dir = ".config/opencode/plugin",
		.own = agent_own_opencode,
		.variable = "XDG_CONFIG_HOME",
		.note = "restart OpenCode if it is running: plugins are loaded when it starts",
	},
	{
		.name = "qwen-code",
		.format = AGENT_GROUPS,
		.dir = ".qwen",
		.file = "settings.json",
		.flags = JSONEDIT_COMMENTS,
		.events = CLAUDE_EVENTS,
		.title = "git-checkpoint",
		.timeout = MILLISECONDS,
		.note = "restart Qwen Code if it is running, and trust the folder if it asks",
		.from_root = true,
	},
	{
		.name = "droid",
		.format = AGENT_GROUPS,
		.dir = ".factory",
		.file = "settings.json",
		.flags = JSONEDIT_COMMENTS,
		.events = CLAUDE_EVENTS,
		.timeout = SECONDS,
		.note = "restart Droid if it is running; /hooks shows the entry",
		.from_root = true,
	},
	{
		.name = "cline",
		.format = AGENT_OWN,
		.dir = ".clinerules/hooks",
		.file = "PreToolUse",
		.user_dir = ".cline/hooks",
		.own = agent_own_cline,
		.note = "in the editor, hooks must be enabled in Cline's settings",
	},
	{
		.name = "windsurf",
		.format = AGENT_FLAT,
		.dir = ".windsurf",
		.file = "hooks.json",
		.user_dir = ".codeium/windsurf",
		.events = { "pre_write_code", "post_write_code", "pre_run_command",
			    "post_run_command", "pre_mcp_tool_use", "post_mcp_tool_use",
			    "pre_user_prompt", "post_cascade_response" },
		.tells_event = true,
		.shows = true,
		.note = "restart Windsurf if it is running",
	},
	{
		.name = "goose",
		.format = AGENT_OWN,
		.dir = ".agents/plugins/git-checkpoint",
		.file = "hooks/hooks.json",
		.own = agent_own_goose,
		.note = "restart goose if it is running: plugins are found when it starts",
		.from_root = true,
	},
	{
		.name = "kiro",
		.format = AGENT_OWN,
		.dir = ".kiro/hooks",
		.file = "git-checkpoint.json",
		.own = agent_own_kiro,
		.note = "restart Kiro if it is running; it must be version 1 of the IDE or 3 of the CLI",
	},
	{
		.name = "amp",
		.format = AGENT_OWN,
		.dir = ".amp/plugins",
		.file = "git-checkpoint.ts",
		.user_dir = ".config/amp/plugins",
		.own = agent_own_amp,
		.variable = "XDG_CONFIG_HOME",
		.note = "restart Amp, or run 'plugins: reload' from its command palette",
	},
	{ .name = "generic" },
	{ .name = NULL },
};
