/* SPDX-License-Identifier: MIT */
#include "hooks/config_edit_internal.h"
#include "hooks/hook_file_internal.h"

#include "unit.h"

#define LINES HOOK_FILE_BEGIN "_ckpt_program=''\nx y\n" HOOK_FILE_END

/* ---- hooks ---- */

static void test_which_scripts_take_lines(void **state)
{
	static const struct {
		const char *text;
		bool shell;
	} cases[] = {
		{ "#!/bin/sh\n", true },
		{ "#! /bin/sh\nexit\n", true },
		{ "#!/bin/bash -eu\n", true },
		{ "#!/usr/bin/env bash\n", true },
		{ "#!/usr/bin/env  sh -e\n", true },
		{ "#!/usr/local/bin/zsh\n", true },
		{ "#!/bin/dash\n", true },
		{ "#!ksh\n", true },
		{ "#!/bin/sh", false },          /* nothing can follow */
		{ "#!/bin/sh -x\n", false },     /* would trace us */
		{ "#!/bin/bash --posix\n", false },
		{ "#!/bin/sh\r\nexit\r\n", false },
		{ "#!/usr/bin/python3\n", false },
		{ "#!/usr/bin/env python3\n", false },
		{ "#!/usr/bin/fish\n", false },
		{ "#!/usr/bin/env\n", false },
		{ "#!/bin/csh\n", false },
		{ "echo no first line\n", false },
		{ "#!\n", false },
		{ "\n", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (hook_file_is_shell(cases[i].text, strlen(cases[i].text)) != cases[i].shell)
			fail_msg("%s", cases[i].text);
	assert_false(hook_file_is_shell("#!/bin/sh\n\0x\n", 13));
}

static void test_lines_go_in_and_out(void **state)
{
	static const char *const bodies[] = { "", "exit 0", "exit 0\n", "\n\n",
					      "# >>> git-checkpoint\n",
					      "a # >>> git-checkpoint >>>\nb\n", "\xff\r\nx" };
	static const char begin[] = "#!/bin/sh\n" LINES;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct strbuf text = STRBUF_INIT, with = STRBUF_INIT, again = STRBUF_INIT,
			      bare = STRBUF_INIT;

		strbuf_addf(&text, "#!/bin/sh\n%s", bodies[i]);
		assert_false(hook_file_is_ours(text.buf, text.len));
		hook_file_insert(&with, text.buf, text.len, LINES);
		assert_true(hook_file_is_ours(with.buf, with.len));
		assert_false(hook_file_is_dispatcher(with.buf, with.len));
		assert_int_equal(strncmp(with.buf, begin, strlen(begin)), 0);
		/* a second time is the same as once */
		hook_file_insert(&again, with.buf, with.len, LINES);
		assert_string_equal(again.buf, with.buf);
		assert_true(hook_file_remove(&bare, with.buf, with.len));
		assert_string_equal(bare.buf, text.buf);
		strbuf_release(&text);
		strbuf_release(&with);
		strbuf_release(&again);
		strbuf_release(&bare);
	}
}

static void test_lines_without_an_end_are_not_touched(void **state)
{
	static const char text[] = "#!/bin/sh\n" HOOK_FILE_BEGIN "exit 0\n";
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_false(hook_file_is_ours(text, strlen(text)));
	assert_false(hook_file_remove(&out, text, strlen(text)));
	assert_string_equal(out.buf, text);
	strbuf_release(&out);
}

static void test_a_dispatcher_is_told_from_lines(void **state)
{
	struct strbuf shim = STRBUF_INIT, bare = STRBUF_INIT, lines = STRBUF_INIT;

	(void)state;
	hook_file_shim(&shim, LINES, "pre-rebase", true);
	assert_true(hook_file_is_dispatcher(shim.buf, shim.len));
	assert_non_null(strstr(shim.buf, "${0%/*}/.git-checkpoint/pre-rebase\n"));
	assert_true(hook_file_remove(&bare, shim.buf, shim.len));
	assert_string_equal(bare.buf, HOOK_FILE_FRAME);
	strbuf_reset(&shim);
	hook_file_shim(&shim, LINES, "pre-rebase", false);
	assert_false(hook_file_is_dispatcher(shim.buf, shim.len));
	assert_true(hook_file_lines(&lines, shim.buf, shim.len));
	assert_string_equal(lines.buf, LINES);
	strbuf_release(&shim);
	strbuf_release(&bare);
	strbuf_release(&lines);
}

static void test_values_are_filled_in(void **state)
{
	struct strbuf lines = STRBUF_INIT, out = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&lines, "  _ckpt_x=''\n_ckpt_xy=''\n_ckpt_x='old'\nrest _ckpt_x=''\n");
	assert_true(hook_file_fill(&lines, "_ckpt_x", "/a b/it's"));
	assert_string_equal(lines.buf, "  _ckpt_x=''\n_ckpt_xy=''\n_ckpt_x='/a b/it'\\''s'\n"
				       "rest _ckpt_x=''\n");
	assert_true(hook_file_fill(&lines, "_ckpt_x", "12"));
	assert_non_null(strstr(lines.buf, "\n_ckpt_x='12'\n"));
	assert_false(hook_file_fill(&lines, "_ckpt_z", "12"));
	strbuf_release(&lines);
	strbuf_release(&out);
}

static void test_what_shims_share_is_pasted(void **state)
{
	static const char home[] = "a\n# @xy begins\n# @x begins, and so on\nrun() {\n}\n# @x ends\nb\n";
	struct strbuf shim = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&shim, "a # @x: no\n# @x: here\nb\n");
	assert_true(hook_file_paste(&shim, home, "x"));
	assert_string_equal(shim.buf, "a # @x: no\nrun() {\n}\nb\n");
	assert_true(hook_file_paste(&shim, home, "x"));
	assert_string_equal(shim.buf, "a # @x: no\nrun() {\n}\nb\n");
	assert_false(hook_file_paste(&shim, home, "xy"));
	assert_false(hook_file_paste(&shim, home, "z"));
	strbuf_release(&shim);
}

/* ---- configuration ---- */

static void check_cycle(const char *before, const char *key, const char *value)
{
	struct strbuf text = STRBUF_INIT, got = STRBUF_INIT;
	struct config_edit edits[2];

	strbuf_addstr(&text, before);
	config_edit_set(&text, &edits[0], "core", key, value);
	config_edit_set(&text, &edits[1], "core", "another", "1");
	assert_true(config_edit_get(&got, &text, "core", key));
	assert_string_equal(got.buf, value);
	/* as git reads it, too */
	put_text(in_scratch("config"), text.buf);
	strbuf_reset(&got);
	ask(&got, "git config -f config --includes core.%s", key);
	strbuf_trim(&got);
	assert_string_equal(got.buf, value);
	assert_true(config_edit_undo(&text, &edits[1]));
	assert_true(config_edit_undo(&text, &edits[0]));
	assert_string_equal(text.buf, before);
	/* once is enough, twice does no harm */
	config_edit_undo(&text, &edits[0]);
	assert_string_equal(text.buf, before);
	config_edit_release(&edits[0]);
	config_edit_release(&edits[1]);
	strbuf_release(&text);
	strbuf_release(&got);
}

static void test_a_value_comes_and_goes(void **state)
{
	static const char *const texts[] = {
		"",
		"[core]",
		"[core]\n",
		"[core]\n\tbare = false",
		"[core]\r\n\tbare = false\r\n[a]\r\n\tb = c\r\n",
		"[CoRe] bare = false # c\n[a]\n\tb = \"[core]\"\n",
		"[core]\n\tFsMonitor = /bin/x ; why\n\tbare = false\n",
		"[core]\n\tfsmonitor\n",
		"[core] fsmonitor = a \\\n  b\n[core]\n",
		"[a \"core\"]\n\tfsmonitor = no\n# [core]\n",
		"[a]\n\tb",
		"\n\n; only comments\n",
		"[core]\n\tx = \"a;b\" # [core]\n\n\n[include]\n\tpath = nowhere\n\n",
		"\xef\xbb\xbf[core]\n\tbare = false\n",
	};
	static const char *const values[] = { "/bin/x", "a b", "it's; # \"q\" \\ $x", "2" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			check_cycle(texts[i], "fsmonitor", values[k]);
}

static void test_what_others_wrote_stays(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct config_edit edit;

	(void)state;
	strbuf_addstr(&text, "[a]\n\tb = 1\n");
	config_edit_set(&text, &edit, "core", "fsmonitor", "x");
	assert_true(edit.header);
	/* git puts a new key into our section */
	strbuf_addstr(&text, "\tpager = cat\n");
	assert_true(config_edit_undo(&text, &edit));
	assert_string_equal(text.buf, "[a]\n\tb = 1\n[core]\n\tpager = cat\n");
	config_edit_release(&edit);
	config_edit_set(&text, &edit, "core", "fsmonitor", "x");
	strbuf_addstr(&text, "\tfsmonitor = y\n");
	assert_false(config_edit_undo(&text, &edit));
	assert_non_null(strstr(text.buf, "fsmonitor = y"));
	config_edit_release(&edit);
	strbuf_release(&text);
}

static void test_sections_with_a_name(void **state)
{
	static const char before[] = "[hook \"other\"]\n\tevent = x\n";
	struct strbuf text = STRBUF_INIT;
	struct config_edit event, command;

	(void)state;
	strbuf_addstr(&text, before);
	config_edit_set(&text, &event, "hook.checkpoint-pre-rebase", "event", "pre-rebase");
	config_edit_set(&text, &command, "hook.checkpoint-pre-rebase", "command", "a b");
	assert_string_equal(text.buf, "[hook \"other\"]\n\tevent = x\n"
				      "[hook \"checkpoint-pre-rebase\"]\n\tevent = pre-rebase\n"
				      "\tcommand = \"a b\"\n");
	config_edit_undo(&text, &command);
	config_edit_undo(&text, &event);
	assert_string_equal(text.buf, before);
	config_edit_release(&event);
	config_edit_release(&command);
	strbuf_release(&text);
}

/* Whatever is in a file, taking back gives back. */
static void test_random_texts(void **state)
{
	static const char *const parts[] = { "[core]", "[a]", "[core \"x\"]", "\n", "\r\n",
					     "\tk = v", "fsmonitor = 1", "# c", " ", "\\", "\"",
					     "]", "=", "\t" };

	(void)state;
	for (int i = 0; i < rounds(3000); i++) {
		struct strbuf text = STRBUF_INIT, before = STRBUF_INIT;
		struct config_edit edit;

		for (unsigned n = rnd(12); n--;)
			strbuf_addstr(&text, parts[rnd(sizeof(parts) / sizeof(parts[0]))]);
		strbuf_addstr(&before, text.buf);
		config_edit_set(&text, &edit, "core", "fsmonitor", "/x y");
		/* in a file that git cannot read it may be after an open quote: it is left */
		if (config_edit_undo(&text, &edit))
			assert_string_equal(text.buf, before.buf);
		config_edit_release(&edit);
		strbuf_release(&text);
		strbuf_release(&before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_scripts_take_lines),
		cmocka_unit_test(test_lines_go_in_and_out),
		cmocka_unit_test(test_lines_without_an_end_are_not_touched),
		cmocka_unit_test(test_a_dispatcher_is_told_from_lines),
		cmocka_unit_test(test_values_are_filled_in),
		cmocka_unit_test(test_what_shims_share_is_pasted),
		cmocka_unit_test(test_a_value_comes_and_goes),
		cmocka_unit_test(test_what_others_wrote_stays),
		cmocka_unit_test(test_sections_with_a_name),
		cmocka_unit_test(test_random_texts),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
