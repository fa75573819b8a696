/* SPDX-License-Identifier: MIT */
/* Codex reads two files: its entry is in hooks.json, and config.toml stays the user's. */
#include "agents/agents.h"

#include "base/error.h"

#include "unit.h"

#include "agentsprobe.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codex_settings_in_toml_are_left_alone),
	};

	return cmocka_run_group_tests_name("agents: codex", tests, unit_setup, unit_teardown);
}
