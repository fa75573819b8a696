/* SPDX-License-Identifier: MIT */
/* What agents tell their hooks: who, where, when and what; and whether that needs a checkpoint. */
#include "agents/agents_internal.h"

#include "unit.h"

static struct agent_event event;

static void read_event(const char *entry, const char *name, const char *json)
{
	struct strbuf text = STRBUF_INIT;

	agent_event_release(&event);
	strbuf_addstr(&text, json);
	agent_event_read(&event, &text, entry, name);
	strbuf_release(&text);
}

static void check(const char *expected, const char *actual)
{
	assert_string_equal(actual ? actual : "(none)", expected);
}

static void test_names_of_events(void **state)
{
	static const struct {
		const char *name;
		bool tool;
		enum agent_moment moment;
	} rows[] = {
		{ "PreToolUse", true, AGENT_BEFORE },	 { "preToolUse", true, AGENT_BEFORE },
		{ "BeforeTool", true, AGENT_BEFORE },	 { "tool.execute.before", true, AGENT_BEFORE },
		{ "tool_call", true, AGENT_BEFORE },	 { "PostToolUse", true, AGENT_AFTER },
		{ "AfterTool", true, AGENT_AFTER },	 { "PostToolUseFailure", true, AGENT_AFTER },
		{ "pre_run_command", true, AGENT_BEFORE }, { "post_run_command", true, AGENT_AFTER },
		{ "UserPromptSubmit", false, AGENT_PROMPT },
		{ "userPromptSubmitted", false, AGENT_PROMPT },
		{ "BeforeAgent", false, AGENT_PROMPT },	 { "Stop", false, AGENT_STOP },
		{ "agentStop", false, AGENT_STOP },	 { "AfterAgent", false, AGENT_STOP },
		{ "SessionStart", false, AGENT_OTHER },	 { "PreCompress", false, AGENT_OTHER },
		{ "permissionRequest", true, AGENT_OTHER }, { "PostToolBatch", false, AGENT_OTHER },
		{ "", true, AGENT_OTHER },		 { "Notification", true, AGENT_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (agent_moment_of("mine", rows[i].name, rows[i].tool) != rows[i].moment)
			fail_msg("'%s' is another moment", rows[i].name);
}

static void test_tools_that_read(void **state)
{
	static const struct {
		const char *agent, *tool;
		bool reads;
	} rows[] = {
		{ "claude-code", "Read", true },
		{ "claude-code", "Grep", true },
		{ "claude-code", "Bash", false },
		{ "claude-code", "Edit", false },
		{ "claude-code", "ExitWorktree", false },
		{ "claude-code", "read", false },
		{ "claude-code", "Reader", false },
		{ "claude-code", "", false },
		{ "claude-code", "mcp__files__Read", false },
		{ "claude-code", "mcp__git-checkpoint__checkpoint_restore", true },
		{ "claude-code", "mcp__git-checkpoint-x__checkpoint_restore", false },
		{ "claude-code", "mcp__git-checkpoint__other", false },
		{ "claude-code", "mcp__x__git-checkpoint-checkpoint_save", false },
		{ "gemini-cli", "mcp_git-checkpoint_checkpoint_save", true },
		{ "copilot", "git-checkpoint-checkpoint_list", true },
		{ "gemini-cli", "read_file", true },
		{ "gemini-cli", "replace", false },
		{ "gemini-cli", "save_memory", false },
		{ "codex", "view_image", true },
		{ "codex", "apply_patch", false },
		{ "codex", "Read", false },
		{ "unheard-of", "Read", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (agent_tool_reads(rows[i].agent, rows[i].tool) != rows[i].reads)
			fail_msg("%s of %s", rows[i].tool, rows[i].agent);
}

static void test_what_is_told(void **state)
{
	(void)state;
	read_event("claude-code", NULL,
		   "{\"session_id\":\"s\",\"prompt_id\":\"p\",\"cwd\":\"/w/t\",\"transcript_path\":"
		   "\"/u/.claude/x\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Edit\","
		   "\"tool_input\":{\"old\":[1],\"file_path\":\"/w/t/a\\tb\"},\"tool_use_id\":\"c\","
		   "\"agent_id\":\"sub\",\"m\":123456789012345678901234567890}");
	assert_true(event.readable);
	assert_int_equal(event.moment, AGENT_BEFORE);
	check("claude-code", event.labels.name);
	check("s", event.labels.session);
	check("p", event.labels.turn_id);
	check("Edit", event.labels.tool);
	check("c", event.labels.tool_call);
	check("sub", event.labels.sub_agent);
	check("(none)", event.labels.prompt);
	check("/w/t", event.cwd);
	check("/w/t/a\tb", event.path);
	assert_true(agent_event_saves(&event));
	/* a string that holds JSON, as Copilot may send it */
	read_event("copilot", "preToolUse",
		   "{\"toolName\":\"bash\",\"toolArgs\":\"{\\\"command\\\":\\\"ls -l\\\"}\"}");
	check("ls -l", event.command);
	read_event("codex", NULL,
		   "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"shell\",\"tool_input\":"
		   "{\"command\":[\"bash\",\"-lc\",7,\"ls\"]}}");
	check("bash -lc ls", event.command);
	read_event("codex", NULL,
		   "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"apply_patch\",\"tool_input\":"
		   "{\"command\":\"*** Begin Patch\\n*** Add File: n\\n+x\\n*** Update File: b\\n\"}}");
	check("n", event.path);
	/* no names at all: what it brings tells */
	read_event("copilot", NULL, "{\"toolName\":\"edit\",\"toolResult\":{}}");
	assert_int_equal(event.moment, AGENT_AFTER);
	read_event("copilot", NULL, "{\"toolName\":\"edit\"}");
	assert_int_equal(event.moment, AGENT_BEFORE);
	read_event("copilot", NULL, "{\"stopReason\":\"end_turn\"}");
	assert_int_equal(event.moment, AGENT_STOP);
	/* what the event says counts more than what the entry says */
	read_event("copilot", "preToolUse", "{\"hookName\":\"permissionRequest\",\"toolName\":\"x\"}");
	assert_int_equal(event.moment, AGENT_OTHER);
	assert_false(agent_event_saves(&event));
}

static void test_prompts_are_one_short_line(void **state)
{
	struct strbuf json = STRBUF_INIT;

	(void)state;
	read_event("codex", "UserPromptSubmit", "{\"prompt\":\"\\n  first\\u001b line\\r\\nsecond\"}");
	check("first  line", event.labels.prompt);
	assert_int_equal(event.moment, AGENT_PROMPT);
	read_event("qwen-code", "UserPromptSubmit", "{\"prompt\":\"\"}");
	assert_int_equal(event.moment, AGENT_OTHER);
	read_event("qwen-code", "UserPromptSubmit", "{\"prompt\":\" \\n \"}");
	assert_int_equal(event.moment, AGENT_OTHER);
	/* half a character, and bytes that are none */
	read_event("codex", "UserPromptSubmit", "{\"prompt\":\"a\\ud83d b \\ud83d\\ude00 \\ude00\xff\"}");
	check("a\xef\xbf\xbd b \xf0\x9f\x98\x80 \xef\xbf\xbd\xef\xbf\xbd", event.labels.prompt);
	read_event("codex", "UserPromptSubmit", "{\"prompt\":\"a\\u0000b\"}");
	check("a b", event.labels.prompt);
	/* not the directory before it */
	read_event("codex", "PreToolUse", "{\"cwd\":\"/tmp\\u0000/x\"}");
	check("/tmp /x", event.cwd);
	strbuf_addstr(&json, "{\"prompt\":\"");
	for (int i = 0; i < 500; i++)
		strbuf_addstr(&json, "\xc3\xa4");
	strbuf_addstr(&json, "\"}");
	read_event("codex", "UserPromptSubmit", json.buf);
	assert_true(strlen(event.labels.prompt) <= 200 && strlen(event.labels.prompt) > 190);
	strbuf_release(&json);
}

static void test_who_called(void **state)
{
	static const struct {
		const char *entry, *json, *who;
	} rows[] = {
		{ "claude-code", "{\"session_id\":\"s\",\"transcript_path\":\"/u/.claude/p/s\"}",
		  "claude-code" },
		{ "claude-code", "{\"session_id\":\"s\",\"timestamp\":\"2026-11-18T01:25:09Z\"}",
		  "copilot" },
		{ "claude-code", "{\"sessionId\":\"s\",\"timestamp\":1794930220464}", "copilot" },
		{ "claude-code",
		  "{\"session_id\":\"s\",\"timestamp\":\"t\",\"transcript_path\":\"/u/.copilot/s\"}",
		  "copilot" },
		{ "claude-code",
		  "{\"session_id\":\"s\",\"timestamp\":\"t\",\"transcript_path\":\"/u/.qwen/s\"}",
		  "qwen-code" },
		{ "claude-code", "{\"session_id\":\"s\",\"transcript_path\":\"/u/.factory/s\"}",
		  "droid" },
		/* a user who works on Copilot */
		{ "claude-code",
		  "{\"session_id\":\"s\",\"transcript_path\":\"/u/.claude/p/-u-.copilot-/.copilot/s\"}",
		  "claude-code" },
		{ "claude-code", "{}", "claude-code" },
		{ "codex", "{\"sessionId\":\"s\",\"timestamp\":1}", "codex" },
		{ "mine", "{\"transcript_path\":\"/u/.qwen/s\"}", "mine" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		read_event(rows[i].entry, "Stop", rows[i].json);
		check(rows[i].who, event.labels.name);
	}
}

static void test_what_cannot_be_read_may_change_something(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "null", "{\"a\":}", "\xff\xfe{" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		read_event("codex", NULL, texts[i]);
		assert_false(event.readable);
		check("codex", event.labels.name);
		assert_int_equal(event.moment, AGENT_BEFORE);
		assert_true(agent_event_saves(&event));
	}
	read_event("codex", NULL, "{}");
	assert_true(event.readable);
	assert_false(agent_event_saves(&event));
}

/* ---- the stream ---- */

static void test_an_object_is_enough(void **state)
{
	static const char begin[] = "\xef\xbb\xbf\n{\"cwd\":\"/}\\\"{\\\\\",", end[] = "\"b\":[{}]} more";
	struct strbuf text = STRBUF_INIT;
	int pipes[2];

	(void)state;
	/* The writer stays: nobody waits for the end of the stream. */
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], begin, strlen(begin)), strlen(begin));
	assert_false(agent_input_read(&text, pipes[0], 0.05, 1000));
	assert_int_equal(write(pipes[1], end, strlen(end)), strlen(end));
	assert_true(agent_input_read(&text, pipes[0], 600, 1000));
	agent_event_release(&event);
	agent_event_read(&event, &text, "codex", NULL);
	assert_true(event.readable);
	assert_string_equal(event.cwd, "/}\"{\\");
	close(pipes[0]);
	close(pipes[1]);
	strbuf_release(&text);
}

static void test_a_stream_has_limits(void **state)
{
	struct strbuf text = STRBUF_INIT;
	int pipes[2], zero = open("/dev/zero", O_RDONLY | O_CLOEXEC),
		      none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_false(agent_input_read(&text, zero, 600, 1 << 20));
	assert_true(text.len <= 2 << 20);
	strbuf_reset(&text);
	assert_false(agent_input_read(&text, none, 600, 1000));
	assert_int_equal(pipe(pipes), 0);
	assert_false(agent_input_read(&text, pipes[0], 0.05, 1000)); /* nobody writes */
	assert_int_equal(write(pipes[1], "{\"a\":", 5), 5);
	assert_false(agent_input_read(&text, pipes[0], 0.05, 1000)); /* nobody goes on */
	close(pipes[1]);
	assert_false(agent_input_read(&text, pipes[0], 600, 1000));
	close(pipes[0]);
	close(zero);
	close(none);
	assert_false(agent_input_read(&text, pipes[0], 600, 1000));
	strbuf_release(&text);
}

static int done(void **state)
{
	agent_event_release(&event);
	return unit_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_events),
		cmocka_unit_test(test_tools_that_read),
		cmocka_unit_test(test_what_is_told),
		cmocka_unit_test(test_prompts_are_one_short_line),
		cmocka_unit_test(test_who_called),
		cmocka_unit_test(test_what_cannot_be_read_may_change_something),
		cmocka_unit_test(test_an_object_is_enough),
		cmocka_unit_test(test_a_stream_has_limits),
	};

	return cmocka_run_group_tests_name("agent events", tests, unit_setup, done);
}
