/* SPDX-License-Identifier: MIT */
#include "ui/table.h"

#include "base/alloc.h"
#include "ui/term.h"

#include "unit.h"

#include "onterminal.h"

static const struct table_column columns[] = {
	{ "id", TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
	{ "files", TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
	{ "reason", TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP },
	{ "source", TABLE_LEFT, 20, TERM_RESET, TABLE_KEEP },
};

static struct table *sample(void)
{
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	table_add(table, "chk_1");
	table_addf(table, "%d", 12345);
	table_add(table, "before the big change of everything");
	table_add(table, "cli");
	table_add(table, "chk_22");
	table_add(table, "7");
	table_add(table, "\xc3\xa4\n\x1b[2J\xe6\xbc\xa2\xff\xc2\x9b|");
	table_add(table, NULL);
	return table;
}

static void expect_table(const struct table *table, unsigned width, const char *want)
{
	struct strbuf out = STRBUF_INIT;

	table_format(&out, table, width);
	assert_string_equal(out.buf, want);
	strbuf_release(&out);
}

static void test_table(void **state)
{
	struct table *table = sample();

	(void)state;
	term_set_color("never");
	expect_table(table, 0,
		     "id      files  reason                               source\n"
		     "chk_1   12345  before the big change of everything  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	expect_table(table, 58,
		     "id      files  reason                               source\n"
		     "chk_1   12345  before the big change of everything  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	/* Eight too many: the reason is over its share and pays alone. */
	expect_table(table, 50,
		     "id      files  reason                       source\n"
		     "chk_1   12345  before the big change of e…  cli\n"
		     "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
	/* A wide character that would be cut in half goes whole. */
	expect_table(table, 31,
		     "id      files  reason    source\n"
		     "chk_1   12345  before …  cli\n"
		     "chk_22      7  \xc3\xa4  [2J…\n");
	table_free(table);
}

static void test_table_too_narrow(void **state)
{
	struct table *table = sample();
	struct strbuf out = STRBUF_INIT;

	(void)state;
	term_set_color("never");
	table_format(&out, table, 5);
	/* What may not be cut stays whole. */
	assert_non_null(strstr(out.buf, "chk_22      7  "));
	assert_non_null(strstr(out.buf, "bef…"));
	strbuf_release(&out);
	table_free(table);
}

/* The end of a path tells most; the ellipsis is in the middle, at every width. */
static void test_table_cuts_paths_in_the_middle(void **state)
{
	static const struct table_column two[] = {
		{ "id", TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, NULL, false },
		{ "path", TABLE_LEFT, 60, TERM_RESET, TABLE_KEEP, NULL, true },
	};
	static const char path[] = "/home/me/projects/\xc3\xa4/\xe6\xbc\xa2/engine";
	struct table *table = table_new(two, 2);

	(void)state;
	term_set_color("never");
	table_add(table, "x");
	table_add(table, path);
	for (unsigned width = 14; width < 40; width++) {
		struct strbuf out = STRBUF_INIT;
		char *line;

		table_format(&out, table, width);
		line = strchr(out.buf, '\n') + 1;
		line[strcspn(line, "\n")] = '\0';
		assert_true(term_text_width(line) <= width);
		assert_non_null(strstr(line, "engine"));
		assert_true(!strstr(line, path) == (term_text_width(path) + 4 > width));
		strbuf_release(&out);
	}
	table_free(table);
}

static void test_table_untitled(void **state)
{
	static const struct table_column plain[] = {
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_GREEN, TABLE_KEEP },
	};
	struct table *table = table_new(plain, 2);

	(void)state;
	term_set_color("always");
	table_add(table, "1");
	table_add(table, "one");
	table_add(table, "10");
	table_add(table, "");
	expect_table(table, 0, " 1  \x1b[32mone\x1b[m\n10\n");
	term_set_color("never");
	table_free(table);
	table_free(NULL);
}

/* A table of one row. */
static struct table *row_of(const struct table_column *of, size_t nr, const char *const *cells)
{
	struct table *table = table_new(of, nr);

	term_set_color("never");
	for (size_t i = 0; i < nr; i++)
		table_add(table, cells[i]);
	return table;
}

static void test_table_spares_columns(void **state)
{
	static const struct table_column some[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_SPARE },
		{ NULL, TABLE_LEFT, 50, TERM_RESET, TABLE_KEEP },
	};
	static const char *const cells[] = { "chk", "first", "second", "a reason of twenty-seven co" };
	struct table *table = row_of(some, ARRAY_SIZE(some), cells);

	(void)state;
	expect_table(table, 0, "chk  first  second  a reason of twenty-seven co\n");
	/* The last column can have its half of 40: shortening it is enough. */
	expect_table(table, 40, "chk  first  second  a reason of twenty-…\n");
	/* Not of 38: then the last that can be spared goes, and leaves more room than that. */
	expect_table(table, 38, "chk  first  a reason of twenty-seven …\n");
	expect_table(table, 22, "chk  a reason of twen…\n");
	expect_table(table, 10, "chk  a re…\n");
	table_free(table);
}

static void test_table_spares_the_last(void **state)
{
	static const struct table_column some[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_LAST },
		{ NULL, TABLE_LEFT, 50, TERM_RESET, TABLE_KEEP },
	};
	static const char *const cells[] = { "chk", "first", "a reason" };
	struct table *table = row_of(some, ARRAY_SIZE(some), cells);

	(void)state;
	/* There is room as long as beginnings can be shown. */
	expect_table(table, 16, "chk  first  a r…\n");
	expect_table(table, 15, "chk  a reason\n");
	expect_table(table, 9, "chk  a r…\n");
	table_free(table);
}

static void test_table_headings_and_dim_rows(void **state)
{
	static const struct table_column three[] = {
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(three, ARRAY_SIZE(three));

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (i != 1)
			table_add_heading(table, i ? "second" : "first");
		table_addf(table, "%d", i);
		table_add(table, ""); /* a column of nothing takes no room */
		table_add(table, "x");
		if (i)
			table_dim_row(table);
	}
	term_set_color("never");
	expect_table(table, 0, "first\n0  x\n1  x\nsecond\n2  x\n");
	expect_table(table, 3, "first\n0  x\n1  x\nsecond\n2  x\n");
	term_set_color("always");
	expect_table(table, 0,
		     "\x1b[1mfirst\x1b[m\n"
		     "\x1b[33m0\x1b[m  x\n"
		     "\x1b[2m1\x1b[m  \x1b[2mx\x1b[m\n"
		     "\x1b[1msecond\x1b[m\n"
		     "\x1b[2m2\x1b[m  \x1b[2mx\x1b[m\n");
	table_free(table);
}

static void print_table(void)
{
	struct table *table = sample();

	term_set_color("never");
	table_print(table);
	table_free(table);
}

static void test_table_fits_terminal(void **state)
{
	(void)state;
	expect_on_terminal(50, print_table,
			   "id      files  reason                       source\n"
			   "chk_1   12345  before the big change of e…  cli\n"
			   "chk_22      7  \xc3\xa4  [2J\xe6\xbc\xa2\xef\xbf\xbd |\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_too_narrow),
		cmocka_unit_test(test_table_cuts_paths_in_the_middle),
		cmocka_unit_test(test_table_untitled),
		cmocka_unit_test(test_table_spares_columns),
		cmocka_unit_test(test_table_spares_the_last),
		cmocka_unit_test(test_table_headings_and_dim_rows),
		cmocka_unit_test(test_table_fits_terminal),
	};

	return cmocka_run_group_tests_name("table", tests, terminal_setup, unit_teardown);
}
