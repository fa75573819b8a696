/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_AGENTSPROBE_H
#define CKPT_TESTS_AGENTSPROBE_H

/* The settings of each agent, put, changed and looked at. After unit.h. */

#include "agents/agents.h"
#include "base/error.h"

static const struct {
	const char *name, *dir, *file, *event;
	const char *more[3]; /* events */
} agents[] = {
	{ "claude-code", ".claude", "settings.json", "PreToolUse",
	  { "PostToolUse", "UserPromptSubmit", "Stop" } },
	{ "codex", ".codex", "hooks.json", "PreToolUse",
	  { "PostToolUse", "UserPromptSubmit", "Stop" } },
	{ "gemini-cli", ".gemini", "settings.json", "BeforeTool",
	  { "AfterTool", "BeforeAgent", "AfterAgent" } },
};

enum { AGENTS = ARRAY_SIZE(agents) };

UNUSED static int act(int which, const char *agent, bool user, enum agents_change expected)
{
	static int (*const acts[])(struct agents_result *, const struct agents_opts *) = {
		agents_install, agents_uninstall, agents_print
	};
	struct agents_result result = AGENTS_RESULT_INIT;
	struct agents_opts opts = { .agent = agent, .root = scratch, .user = user };
	int err = acts[which](&result, &opts);

	if (!err && result.change != expected)
		fail_msg("%s: change %d instead of %d", agent, result.change, expected);
	agents_result_release(&result);
	return err;
}

enum { INSTALL, UNINSTALL, PRINT };

UNUSED static void install(const char *agent, enum agents_change expected)
{
	if (act(INSTALL, agent, false, expected))
		fail_msg("install: %s", ckpt_error_last());
}

UNUSED static void uninstall(const char *agent, enum agents_change expected)
{
	if (act(UNINSTALL, agent, false, expected))
		fail_msg("uninstall: %s", ckpt_error_last());
}

UNUSED static const char *file_of(int a)
{
	return in_scratch("%s/%s", agents[a].dir, agents[a].file);
}

UNUSED static void put_settings(int a, const char *text)
{
	mkdir(in_scratch("%s", agents[a].dir), 0755);
	put_text(file_of(a), text);
}

UNUSED static void expect_settings(int a, const char *expected)
{
	struct strbuf text = STRBUF_INIT;

	get_bytes(&text, file_of(a));
	assert_string_equal(text.buf, expected);
	strbuf_release(&text);
}

UNUSED static void remove_all(void)
{
	sh("rm -rf .claude .codex .gemini real");
}

#endif
