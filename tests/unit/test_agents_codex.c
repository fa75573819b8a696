/* SPDX-License-Identifier: MIT */
/* Codex reads two files: its entry is in hooks.json, and config.toml stays the user's. */
#include "agents/agents.h"

#include "base/error.h"

#include "unit.h"

#include "agentsprobe.h"

#define COMMAND "cat >/dev/null; git checkpoint save --source codex -q -m pre-tool >/dev/null 2>&1 || true"

/* What an earlier version appended, with another end of lines and without the last one. */
#define WRITTEN(eol)                                                                      \
	"# >>> git-checkpoint >>>" eol "[[hooks.PreToolUse]]" eol                            \
	"matcher = \"Bash|apply_patch\"" eol eol "[[hooks.PreToolUse.hooks]]" eol            \
	"type = \"command\"" eol "command = \"" COMMAND "\"" eol "timeout = 30" eol          \
	"# <<< git-checkpoint <<<"

static const char toml_hooks[] = "# top\nmodel = \"o\"\n\n[[hooks.Stop]]\n"
				 "[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = 'x'";

static void put_toml(const char *text)
{
	remove_all();
	mkdir(in_scratch(".codex"), 0755);
	put_text(in_scratch(".codex/config.toml"), text);
}

static void expect_toml(const char *expected)
{
	struct strbuf text = STRBUF_INIT;

	get_bytes(&text, in_scratch(".codex/config.toml"));
	assert_string_equal(text.buf, expected);
	strbuf_release(&text);
}

/* Whatever is in it, Codex would not start with a mistake in it. */
static void test_codex_settings_in_toml_are_left_alone(void **state)
{
	static const struct {
		const char *text;
		bool hooks;
	} rows[] = {
		{ "model = \"o\" # mine\n\n[hooks.state.\"x\"]\nenabled = true\n", false },
		{ "# [[hooks.Stop]]\nhooks_dir = 1\n[webhooks]\nx = 'hooks.'\n", false },
		{ "hooks", false },
		{ toml_hooks, true },
		{ "hooks = { Stop = [] }\n", true },
		{ "[hooks]\nPreToolUse = []\n", true },
		{ "a = 1\n  [[ hooks . Stop ]]\r\n", true },
		{ "hooks.PreToolUse = [", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct agents_result result = AGENTS_RESULT_INIT;
		struct agents_opts opts = { .agent = "codex", .root = scratch };

		put_toml(rows[i].text);
		assert_int_equal(agents_install(&result, &opts), 0);
		assert_int_equal(result.change, AGENTS_CREATED);
		assert_int_equal(result.notes.nr, rows[i].hooks ? 2 : 1);
		expect_toml(rows[i].text);
		agents_result_release(&result);
		install("codex", AGENTS_UNCHANGED);
		uninstall("codex", AGENTS_REMOVED);
		expect_toml(rows[i].text);
	}
}

static void test_codex_entry_of_an_earlier_version_goes(void **state)
{
	static const struct {
		const char *with, *without;
	} rows[] = {
		{ WRITTEN("\n") "\n", "" },
		{ "a = 1\n\n" WRITTEN("\n") "\n", "a = 1\n" },
		{ "a = 1\n\n" WRITTEN("\n"), "a = 1" },
		{ "a = 1\r\n\r\n" WRITTEN("\r\n") "\r\n", "a = 1\r\n" },
		{ "a = 1\r\nb = 2\r\n\r\n" WRITTEN("\r\n"), "a = 1\r\nb = 2" },
		{ "a = 1\n\n" WRITTEN("\n") "\n\n[t]\nb = 2\n", "a = 1\n\n[t]\nb = 2\n" },
		/* Malformed, but not by us. */
		{ "a = \n\n" WRITTEN("\n") "\n", "a = \n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_toml(rows[i].with);
		/* It moves into the other file. */
		install("codex", AGENTS_CREATED);
		expect_toml(rows[i].without);
		assert_true(is_there(in_scratch(".codex/hooks.json")));
		install("codex", AGENTS_UNCHANGED);
		uninstall("codex", AGENTS_REMOVED);
		expect_toml(rows[i].without);
		uninstall("codex", AGENTS_UNCHANGED);
	}
	/* Also as it was. */
	put_toml(rows[1].with);
	uninstall("codex", AGENTS_EDITED);
	expect_toml(rows[1].without);
	/* What is malformed keeps the other file from being edited. */
	put_toml(rows[1].with);
	put_text(in_scratch(".codex/hooks.json"), "{");
	assert_int_equal(act(UNINSTALL, "codex", false, 0), CKPT_ERROR);
	expect_toml(rows[1].with);
}

static void test_codex_lines_that_somebody_changed_stay(void **state)
{
	static const char *const texts[] = {
		"# >>> git-checkpoint >>>\nx = 1\n# <<< git-checkpoint <<<\n",
		" " WRITTEN("\n") "\n",
		WRITTEN("\n") " \n",
		"# >>> git-checkpoint >>>\ncommand = \"" COMMAND "\"\n# <<< git-checkpoint <<<\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put_toml(texts[i]);
		uninstall("codex", AGENTS_UNCHANGED);
		expect_toml(texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codex_settings_in_toml_are_left_alone),
		cmocka_unit_test(test_codex_entry_of_an_earlier_version_goes),
		cmocka_unit_test(test_codex_lines_that_somebody_changed_stay),
	};

	return cmocka_run_group_tests_name("agents: codex", tests, unit_setup, unit_teardown);
}
