/* SPDX-License-Identifier: MIT */
#include "agents/agent_event_internal.h"

#include "base/base.h"

/*
 * Tools that read only, as the agents call them. What starts another agent, talks to a running
 * shell or writes notes into the project is not among them.
 */
#define CLAUDE_TOOLS                                                                              \
	"Read", "Glob", "Grep", "LS", "LSP", "NotebookRead", "WebFetch", "WebSearch", "TodoRead", \
		"TodoWrite", "TaskGet", "TaskList", "AskUserQuestion", "ToolSearch",              \
		"ListMcpResourcesTool", "ReadMcpResourceTool"
#define GEMINI_TOOLS                                                                               \
	"read_file", "read_many_files", "list_directory", "glob", "grep_search",                   \
		"search_file_content", "web_fetch", "google_web_search", "web_search", "ask_user", \
		"write_todos", "todo_write", "get_internal_docs"

enum { TOOLS_MAX = 20 };

static const struct {
	const char *agent;
	const char *tools[TOOLS_MAX];
} readers[] = {
	{ "claude-code", { CLAUDE_TOOLS } },
	{ "codex",
	  { "view_image", "update_plan", "web_search", "request_user_input", "list_mcp_resources",
	    "list_mcp_resource_templates", "read_mcp_resource" } },
	{ "gemini-cli", { GEMINI_TOOLS } },
	{ "qwen-code", { GEMINI_TOOLS } },
	/* Through an entry of Claude it uses Claude's names. */
	{ "copilot",
	  { "view", "glob", "grep", "web_fetch", "web_search", "ask_user", "report_intent",
	    "update_todo", "Read", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite" } },
	{ "droid", { "Read", "LS", "Grep", "Glob", "WebSearch", "FetchUrl", "TodoWrite" } },
	{ "opencode",
	  { "read", "grep", "glob", "list", "webfetch", "websearch", "codesearch", "todoread",
	    "todowrite", "lsp" } },
	{ "cursor", { "Read", "Grep", "Glob", "LS", "WebSearch", "WebFetch", "SemanticSearch" } },
	{ "goose", { "developer__tree", "developer__read_image" } },
	{ "kiro", { "fs_read", "read", "grep", "glob", "web_search", "web_fetch" } },
	{ "amp",
	  { "Read", "Grep", "glob", "finder", "read_web_page", "web_search", "todo_read",
	    "todo_write", "look_at", "librarian" } },
	{ "cline",
	  { "read_file", "read_files", "list_files", "search_files", "search_codebase",
	    "list_code_definition_names", "ask_followup_question", "ask_question", "web_fetch",
	    "web_search", "fetch_web_content" } },
};

/* How agents write the name of our server before that of a tool. */
static const char *const servers[] = { "mcp__git-checkpoint__", "mcp__git_checkpoint__",
				       "mcp_git-checkpoint_",	"mcp_git_checkpoint_",
				       "git-checkpoint-",	"git-checkpoint_",
				       "git_checkpoint_",	"git-checkpoint__" };

static bool is_our_tool(const char *tool)
{
	for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
		size_t len = strlen(servers[i]);

		if (!strncmp(tool, servers[i], len) && !strncmp(tool + len, "checkpoint_", 11))
			return true;
	}
	return false;
}

bool agent_tool_reads(const char *agent, const char *tool)
{
	if (is_our_tool(tool))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (strcmp(readers[i].agent, agent) != 0)
			continue;
		for (size_t k = 0; k < TOOLS_MAX && readers[i].tools[k]; k++)
			if (!strcmp(readers[i].tools[k], tool))
				return true;
	}
	return false;
}

/* Without what separates words, in lower case: "PreToolUse", "preToolUse", "pre_tool_use". */
static const struct {
	const char *event;
	enum agent_moment moment;
} moments[] = {
	{ "pretooluse", AGENT_BEFORE },
	{ "beforetool", AGENT_BEFORE },
	{ "toolcall", AGENT_BEFORE },
	{ "toolexecutebefore", AGENT_BEFORE },
	{ "posttooluse", AGENT_AFTER },
	{ "posttoolusefailure", AGENT_AFTER },
	{ "aftertool", AGENT_AFTER },
	{ "toolresult", AGENT_AFTER },
	{ "toolexecuteafter", AGENT_AFTER },
	{ "userpromptsubmit", AGENT_PROMPT },
	{ "userpromptsubmitted", AGENT_PROMPT },
	{ "beforesubmitprompt", AGENT_PROMPT },
	{ "beforeagent", AGENT_PROMPT },
	{ "agentstart", AGENT_PROMPT },
	{ "chatmessage", AGENT_PROMPT },
	{ "stop", AGENT_STOP },
	{ "agentstop", AGENT_STOP },
	{ "subagentstop", AGENT_STOP },
	{ "afteragent", AGENT_STOP },
	{ "agentend", AGENT_STOP },
	{ "sessionidle", AGENT_STOP },
	{ "sessionend", AGENT_STOP },
	/* Cline's editor; Windsurf, which has one for each kind of tool */
	{ "taskstart", AGENT_PROMPT },
	{ "taskcomplete", AGENT_STOP },
	{ "prewritecode", AGENT_BEFORE },
	{ "preruncommand", AGENT_BEFORE },
	{ "premcptooluse", AGENT_BEFORE },
	{ "postwritecode", AGENT_AFTER },
	{ "postruncommand", AGENT_AFTER },
	{ "postmcptooluse", AGENT_AFTER },
	{ "preuserprompt", AGENT_PROMPT },
	{ "postcascaderesponse", AGENT_STOP },
};

enum agent_moment agent_moment_of(const char *event, bool has_tool)
{
	char plain[40];
	size_t len = 0;

	for (const char *p = event; *p && len < sizeof(plain) - 1; p++)
		if (isalnum((unsigned char)*p))
			plain[len++] = (char)tolower((unsigned char)*p);
	plain[len] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
		if (!strcmp(moments[i].event, plain))
			return moments[i].moment;
	if (has_tool && (!strncmp(plain, "pre", 3) || !strncmp(plain, "before", 6)))
		return AGENT_BEFORE;
	if (has_tool && (!strncmp(plain, "post", 4) || !strncmp(plain, "after", 5)))
		return AGENT_AFTER;
	return AGENT_OTHER;
}

bool agent_event_saves(const struct agent_event *event)
{
	switch (event->moment) {
	case AGENT_BEFORE:
	case AGENT_AFTER:
		return !event->labels.tool ||
		       !agent_tool_reads(event->labels.name, event->labels.tool);
	case AGENT_PROMPT:
	case AGENT_STOP:
		return true;
	case AGENT_OTHER:
		break;
	}
	return false;
}
