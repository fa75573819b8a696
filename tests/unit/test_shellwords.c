/* SPDX-License-Identifier: MIT */
#include "base/shellwords.h"

#include "unit.h"

/* What bash has, where names of hosts are completed. */
#define BREAKS " \t\n\"'@><=;|&(:"

/* The words in brackets; what readline replaces follows a "^". */
static void check(const char *line, const char *expected)
{
	struct strbuf got = STRBUF_INIT;
	struct shellwords split;

	shellwords_split(&split, line, BREAKS);
	for (size_t i = 0; i + 1 < split.words.nr; i++)
		strbuf_addf(&got, "[%s]", split.words.items[i]);
	strbuf_addf(&got, "[%.*s^%s]%s", (int)split.fixed, split.words.items[split.words.nr - 1],
		    split.words.items[split.words.nr - 1] + split.fixed,
		    split.redirected ? ">" : "");
	if (split.open)
		strbuf_addch(&got, split.open);
	assert_string_equal(got.buf, expected);
	shellwords_release(&split);
	strbuf_release(&got);
}

static void test_shellwords_separates(void **state)
{
	(void)state;
	check("", "[^]");
	check("a", "[^a]");
	check(" a  b\tc ", "[a][b][c][^]");
	check("a b", "[a][^b]");
}

static void test_shellwords_takes_quotes_away(void **state)
{
	(void)state;
	check("'a b' \"c d\" e\\ f g", "[a b][c d][e f][^g]");
	check("'' x", "[][^x]");
	check("a'b c'\"d e\"f", "[^ab cd ef]");
	check("\"a\\\"b\\$c\\d\"", "[^a\"b$c\\d]");
	check("'a\\'b", "[^a\\b]");
	check("a\\", "[^a\\]");
	check("$(x) `y` $z *", "[$(x)][`y`][$z][^*]");
}

static void test_shellwords_knows_what_readline_replaces(void **state)
{
	(void)state;
	check("x --events=re", "[x][--events=^re]");
	check("x step:1", "[x][step:^1]");
	check("x a=b:c", "[x][a=b:^c]");
	check("x a=b y", "[x][a=b][^y]");
	check("x @~", "[x][^@~]");
	check("x a@b", "[x][a^@b]");
	/* quoted ones are part of the word */
	check("x a\\:b", "[x][^a:b]");
	check("x 'a:b'c", "[x][^a:bc]");
	check("x 'my dir/'su:b", "[x][my dir/su:^b]");
	/* in an open quote, what follows it */
	check("x 'my d", "[x][^my d]'");
	check("x dir/'my d", "[x][dir/^my d]'");
	check("x a:\"b:c", "[x][a:^b:c]\"");
	check("x '", "[x][^]'");
}

static void test_shellwords_leaves_redirections_out(void **state)
{
	(void)state;
	check("x a >out b", "[x][a][^b]");
	check("x 2>/dev/null b", "[x][^b]");
	check("x a2>out b", "[x][a2][^b]");
	check("x <in >>out b", "[x][^b]");
	check("x > fi", "[x][^fi]>");
	check("x 2>&1 a", "[x][^a]");
	check("x >", "[x][^]>");
}

static void test_shellwords_knows_where_words_begin(void **state)
{
	struct shellwords split;

	(void)state;
	shellwords_split(&split, " a  'b c'  >o d ", BREAKS);
	assert_int_equal(split.words.nr, 4);
	assert_int_equal(split.starts[0], 1);
	assert_int_equal(split.starts[1], 4);
	assert_int_equal(split.starts[2], 14);
	assert_int_equal(split.starts[3], 16);
	shellwords_release(&split);
}

static void check_quoted(const char *word, char open, const char *expected)
{
	struct strbuf got = STRBUF_INIT;

	shellwords_quote(&got, word, open);
	assert_string_equal(got.buf, expected);
	strbuf_release(&got);
}

static void test_shellwords_quotes(void **state)
{
	(void)state;
	check_quoted("plain/a-b_c.d", 0, "plain/a-b_c.d");
	check_quoted("a b$(c)`d`", 0, "a\\ b\\$\\(c\\)\\`d\\`");
	check_quoted("~a'\"\\!\xc3\xbc", 0, "\\~a\\'\\\"\\\\\\!\xc3\xbc");
	check_quoted("a b$(c)'d\\", '\'', "a b$(c)'\\''d\\");
	check_quoted("a b$(c)'`\\\"", '"', "a b\\$(c)'\\`\\\\\\\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shellwords_separates),
		cmocka_unit_test(test_shellwords_takes_quotes_away),
		cmocka_unit_test(test_shellwords_knows_what_readline_replaces),
		cmocka_unit_test(test_shellwords_leaves_redirections_out),
		cmocka_unit_test(test_shellwords_knows_where_words_begin),
		cmocka_unit_test(test_shellwords_quotes),
	};

	return cmocka_run_group_tests_name("shellwords", tests, NULL, NULL);
}
