/* SPDX-License-Identifier: MIT */
/*
 * base/tomledit: which texts are TOML, which keys and tables are in them, and blocks that leave no
 * trace.
 */
#include "agents/tomledit_internal.h"

#include "base/error.h"

#include "unit.h"

static void set(struct strbuf *text, const char *str)
{
	strbuf_reset(text);
	strbuf_addstr(text, str);
}

static void list(void *data, enum tomledit_kind kind, const struct strlist *path)
{
	static const char *const open[] = { "", "[", "[[" };
	struct strbuf *out = data;

	strbuf_addstr(out, open[kind]);
	for (size_t i = 0; i < path->nr; i++)
		strbuf_addf(out, "%s%s", i ? "/" : "", path->items[i]);
	strbuf_addch(out, ' ');
}

static void test_keys_and_tables_are_told_with_their_paths(void **state)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{ "", "" },
		{ "# only this", "" },
		{ "a = 1\nb.c = 2\n", "a b/c " },
		{ "\"a b\" . 'c\\d'.e = 'x'", "a b/c\\d/e " },
		{ "\"h\\u006foks\" = 1", "hooks " },
		{ "[a]\nb = 1\n[ c . d ] # e\n[[f]]\ng = true", "[a a/b [c/d [[f f/g " },
		{ "a = { b = 1, c.d = [ { e = 2 } ] }", "a a/b a/c/d a/c/d/e " },
		{ "a = [ # one\n  1,\n  2, # two\n]\nb = 1", "a b " },
		{ "a = \"\"\"\n[not.a.table]\n\\\"\"\" x\"\"\"\"\"\nb = 1", "a b " },
		{ "a = '''\n[x]\n'''''\nb = 1", "a b " },
		{ "a = \"\"\"x \\\n   y\"\"\"\nb = 1", "a b " },
		{ "a = 1979-05-27 07:32:00Z\nb = 0xdead_beef\nc = -inf\nd = 1e-3\ne = 07:32:00\n",
		  "a b c d e " },
		{ "\xef\xbb\xbf" "a = 1\r\n\r\n[b]\r\nc = '''\r\n'''\r\n", "a [b b/c " },
		{ "a = \"# no comment\" # one\n", "a " },
	};
	struct strbuf text = STRBUF_INIT, told = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(&text, cases[i].text);
		strbuf_reset(&told);
		if (tomledit_scan(&text, list, &told))
			fail_msg("%s: %s", cases[i].text, ckpt_error_last());
		assert_string_equal(told.buf, cases[i].told);
	}
	strbuf_release(&text);
	strbuf_release(&told);
}

static void test_what_is_no_toml_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "a", "line 1, column 2: " },
		{ "a = ", "line 1, column 5: " },
		{ "a = 1 b = 2", "line 1, column 7: " },
		{ "x = 1\na = maybe", "line 2, column 5: " },
		{ "[a", "line 1, column 3: " },
		{ "[a]]", "line 1, column 4: " },
		{ "[[a]", "line 1, column 4: " },
		{ "[]", "line 1, column 2: " },
		{ "a = \"x", "line 1, column 7: " },
		{ "a = \"x\ny\"", "line 1, column 7: " },
		{ "a = \"\\q\"", "line 1, column 7: " },
		{ "a = '''x", "line 1, column 9: " },
		{ "a = [1, 2", "line 1, column 10: " },
		{ "a = [1 2]", "line 1, column 8: " },
		{ "a = { b = 1", "line 1, column 12: " },
		{ "= 1", "line 1, column 1: " },
		{ "a. = 1", "line 1, column 4: " },
		{ "{ \"json\": 1 }", "line 1, column 1: " },
		{ "a = 30x", "line 1, column 5: " },
		{ "a = 1__0", "line 1, column 5: " },
		{ "a = 1.", "line 1, column 5: " },
		{ "a = truex", "line 1, column 5: " },
		{ "a = 1979-05", "line 1, column 5: " },
		{ "a = \"\\ud800\"", "line 1, column 12: " },
	};
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set(&text, bad[i].text);
		if (tomledit_scan(&text, NULL, NULL) != CKPT_ERROR ||
		    strncmp(ckpt_error_last(), bad[i].place, strlen(bad[i].place)))
			fail_msg("%s: %s", bad[i].text, ckpt_error_last());
	}
	strbuf_reset(&text);
	for (int i = 0; i < 100000; i++)
		strbuf_addstr(&text, i ? "[" : "a = ");
	assert_int_equal(tomledit_scan(&text, NULL, NULL), CKPT_ERROR);
	strbuf_release(&text);
}

static void test_a_block_leaves_no_trace(void **state)
{
	static const char *const texts[] = {
		"", "\n", "\n\n", "a", "a\n", "a\n\n", "a\r\nb\r\n", "a\r\nb", "# <<< n <<<\n", "# >>> n >>>\n",
		"# >>> n >>>\nmine = 1\n# <<< n <<<\n", "# >>> n >>>\n\n# <<< n <<<", "a\n\r", "\r",
		"\xef\xbb\xbf", ("\xef\xbb\xbf" "a = 1\n"),
	};
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		set(&text, texts[i]);
		assert_false(tomledit_remove_block(&text, "n", "x = 1\ny = 2\n"));
		tomledit_add_block(&text, "n", "x = 1\ny = 2\n");
		assert_true(tomledit_has_block(&text, "n", "x = 1\ny = 2\n"));
		assert_false(tomledit_has_block(&text, "n", "x = 1\n"));
		assert_int_equal(strncmp(text.buf, texts[i], strlen(texts[i])), 0);
		assert_true(tomledit_remove_block(&text, "n", "x = 1\ny = 2\n"));
		assert_string_equal(text.buf, texts[i]);
		assert_false(tomledit_remove_block(&text, "n", "x = 1\ny = 2\n"));
	}
	set(&text, "a\n");
	tomledit_add_block(&text, "n", "x\n");
	assert_string_equal(text.buf, "a\n\n# >>> n >>>\nx\n# <<< n <<<\n");
	set(&text, "a\r\n");
	tomledit_add_block(&text, "n", "x\n");
	assert_string_equal(text.buf, "a\r\n\r\n# >>> n >>>\r\nx\r\n# <<< n <<<\r\n");
	strbuf_release(&text);
}

static void test_what_was_written_around_a_block_stays(void **state)
{
	struct strbuf text = STRBUF_INIT;

	(void)state;
	set(&text, "a = 1");
	tomledit_add_block(&text, "n", "x = 1\n");
	strbuf_addstr(&text, "\nb = 2\n");
	assert_true(tomledit_remove_block(&text, "n", "x = 1\n"));
	assert_string_equal(text.buf, "a = 1\nb = 2\n");

	set(&text, "a = 1\n# >>> n >>>\nx\n# <<< n <<<\nb = 2\n");
	assert_true(tomledit_remove_block(&text, "n", "x\n"));
	assert_string_equal(text.buf, "a = 1\nb = 2\n");

	/* One that does not end is none. */
	set(&text, "a = 1\n# >>> n >>>\nx\n");
	assert_false(tomledit_remove_block(&text, "n", "x\n"));
	assert_string_equal(text.buf, "a = 1\n# >>> n >>>\nx\n");
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_and_tables_are_told_with_their_paths),
		cmocka_unit_test(test_what_is_no_toml_is_refused_with_its_place),
		cmocka_unit_test(test_a_block_leaves_no_trace),
		cmocka_unit_test(test_what_was_written_around_a_block_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
