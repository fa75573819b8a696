/* SPDX-License-Identifier: MIT */
#include "ui/grammar.h"

#include "unit.h"

static const char *text;
static bool flag;
static struct strlist list;
static int64_t number;

static const struct opt table[] = {
	{ OPT_STRING, 0, "state", &text, "<list>", "a list", false },
	{ OPT_STRING, 0, "state-dir", &text, "<dir>", "a directory", false },
	{ OPT_LIST, 'a', "agent", &list, "<name>", "an agent", false },
	{ OPT_NUMBER, 'n', NULL, &number, "<n>", "a number", false },
	{ OPT_FLAG, 0, "fast", &flag, NULL, "fast", false },
	{ OPT_FLAG, 0, "no-slow", &flag, NULL, "not slow", false },
	{ OPT_FLAG, 'y', "yes", &flag, NULL, "yes", false },
	{ OPT_FLAG, 'z', NULL, &flag, NULL, "NUL", false },
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

static struct opt_spec spec = { .command = "x", .options = table };
static char answer[1024];

/* A line's words, the last one at the cursor. */
static void look(struct opt_look *out, const char *line)
{
	static char copy[1024];
	char *words[32];
	size_t nr = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = copy;; p++) {
		words[nr++] = p;
		p += strcspn(p, " ");
		if (!*p)
			break;
		*p = '\0';
	}
	opt_look(out, &spec, words, nr);
}

/* What can stand at the end of the line. */
static const char *next(const char *usage, const char *line)
{
	struct strlist words = STRLIST_INIT;
	struct strbuf all = STRBUF_INIT;
	struct opt_look at;

	spec.usage = usage;
	look(&at, line);
	grammar_next(&words, &spec, &at);
	for (size_t i = 0; i < words.nr; i++)
		strbuf_addf(&all, "%s%s", i ? " " : "", words.items[i]);
	snprintf(answer, sizeof(answer), "%s", all.buf);
	strbuf_release(&all);
	strlist_release(&words);
	opt_look_release(&at);
	return answer;
}

/* The options that can, by name or letter. */
static const char *options(const char *usage, const char *line)
{
	struct strbuf all = STRBUF_INIT;
	struct opt_look at;

	spec.usage = usage;
	look(&at, line);
	for (const struct opt *opt = table; opt->kind != OPT_END; opt++)
		if (grammar_takes(&spec, &at, opt))
			strbuf_addf(&all, "%s%.*s", all.len ? " " : "", opt->name ? 99 : 1,
				    opt->name ? opt->name : &opt->letter);
	snprintf(answer, sizeof(answer), "%s", all.buf);
	strbuf_release(&all);
	opt_look_release(&at);
	return answer;
}

static void test_grammar_places(void **state)
{
	(void)state;
	assert_string_equal(next("", "x "), "");
	assert_string_equal(next("<a>", "x "), "<a>");
	assert_string_equal(next("<a>", "x 1 "), "");
	assert_string_equal(next("<a> <b c>", "x 1 "), "<b c>");
	assert_string_equal(next("<a>...", "x 1 2 "), "<a>");
	assert_string_equal(next("[<a>] <b>", "x "), "<a> <b>");
	assert_string_equal(next("[<a>] <b>", "x 1 "), "<b>");
	assert_string_equal(next("[<a> [<b>]] [<c>...]", "x "), "<a> <c>");
	assert_string_equal(next("[<a> [<b>]] [<c>...]", "x 1 "), "<b> <c>");
	assert_string_equal(next("[<a> [<b>]] [<c>...]", "x 1 2 3 "), "<c>");
}

static void test_grammar_words(void **state)
{
	static const char usage[] = "(<a> | <b>) (on | off) [<c>...]\nstop";

	(void)state;
	assert_string_equal(next(usage, "x "), "<a> <b> stop");
	assert_string_equal(next(usage, "x 1 "), "on off");
	assert_string_equal(next(usage, "x 1 on "), "<c>");
	assert_string_equal(next(usage, "x 1 maybe "), "");
	/* "stop" is also an <a> */
	assert_string_equal(next(usage, "x stop "), "on off");
	assert_string_equal(next("up\ndown <a>\ndown <b>", "x "), "up down");
	assert_string_equal(next("up\ndown <a>\ndown <b>", "x down "), "<a> <b>");
	assert_string_equal(next("up\ndown <a>\ndown <b>", "x sideways "), "");
}

static void test_grammar_options_are_no_places(void **state)
{
	static const char usage[] = "[--fast | -a <name>] [--state <a|b>]... [-n <n>] [--[no-]slow] "
				    "[<a>... | --yes] -z";

	(void)state;
	assert_string_equal(next(usage, "x "), "<a>");
	assert_string_equal(next(usage, "x --fast -a b --state=1 -n 3 "), "<a>");
	assert_string_equal(next(usage, "x 1 -n2 "), "<a>");
	assert_string_equal(next("go --state <list> <a>", "x go "), "<a>");
}

static void test_grammar_dashes(void **state)
{
	(void)state;
	assert_string_equal(next("<a> [--] [<b>...]", "x 1 -- "), "<b>");
	assert_string_equal(next("<a> [--] [<b>...]", "x 1 -- -y "), "<b>");
	assert_string_equal(next("<a> [--] [<b>...]", "x -- "), "<a>");
	assert_string_equal(next("[<a> [<a>]] [--] [<b>...]", "x -- "), "<b>");
	assert_string_equal(next("[<a> [<a>]] [--] [<b>...]", "x 1 -- "), "<b>");
	assert_string_equal(next("<a>", "x -- "), "<a>");
}

static void test_grammar_forms_with_an_option(void **state)
{
	static const char usage[] = "[--fast] <a>\n--yes [<key>] <b>\n--state-dir <dir>";

	(void)state;
	assert_string_equal(next(usage, "x "), "<a>");
	assert_string_equal(next(usage, "x --yes "), "<key> <b>");
	assert_string_equal(next(usage, "x -y 1 "), "<b>");
	assert_string_equal(next(usage, "x --state-dir=d "), "");
}

static void test_grammar_options_of_a_verb(void **state)
{
	static const char usage[] = "stall --state-dir <dir>\ninstall [--fast] [--[no-]slow] <name>\n"
				    "install [-y | --yes] [-z]\nstatus\nuninstall --state <list>";
	static const char all[] = "state state-dir agent n fast no-slow yes z";

	(void)state;
	assert_string_equal(options(usage, "x stall "), "state-dir");
	assert_string_equal(options(usage, "x install "), "fast no-slow yes z");
	assert_string_equal(options(usage, "x status "), "");
	assert_string_equal(options(usage, "x uninstall "), "state");
	assert_string_equal(options(usage, "x "), all);
	assert_string_equal(options(usage, "x insta "), all);
	assert_string_equal(options("[--yes] <name>", "x install "), all);
}

/* ---- the words before it ---- */

static void check_value(const char *line, const char *option, size_t at)
{
	struct opt_look seen;

	look(&seen, line);
	if (!option) {
		assert_null(seen.value_of);
	} else {
		assert_non_null(seen.value_of);
		assert_string_equal(seen.value_of->name ? seen.value_of->name : "n", option);
		assert_int_equal(seen.value_at, at);
	}
	opt_look_release(&seen);
}

static void test_look_values(void **state)
{
	(void)state;
	check_value("x --state ", "state", 0);
	check_value("x --state -", "state", 0);
	check_value("x --state=", "state", 8);
	check_value("x --ag=y", "agent", 5);
	check_value("x --ag y", "agent", 0);
	check_value("x -a ", "agent", 0);
	check_value("x -ya ", "agent", 0);
	check_value("x -yab", "agent", 3);
	check_value("x -n", NULL, 0);
	check_value("x -n1", "n", 2);
	check_value("x --state", NULL, 0);
	check_value("x --state= ", NULL, 0);
	check_value("x --state --state ", NULL, 0);
	check_value("x --fast ", NULL, 0);
	check_value("x --fast=", NULL, 0);
	check_value("x --nonsense ", NULL, 0);
	check_value("x -- --state ", NULL, 0);
	check_value("x -- --state=", NULL, 0);
}

static void test_look_arguments(void **state)
{
	struct opt_look seen;

	(void)state;
	look(&seen, "x -y 1 --state 2 - -- 3 -z ");
	assert_int_equal(seen.args.nr, 4);
	assert_string_equal(seen.args.items[1], "-");
	assert_string_equal(seen.args.items[3], "-z");
	assert_int_equal(seen.dashdash, 2);
	assert_int_equal(seen.first, 2);
	assert_true(seen.ended);
	assert_true(strlist_has(&seen.given, "yes"));
	assert_true(strlist_has(&seen.given, "state"));
	assert_false(strlist_has(&seen.given, "z"));
	opt_look_release(&seen);
	look(&seen, "x --yes ");
	assert_int_equal(seen.dashdash, -1);
	assert_int_equal(seen.first, 2);
	assert_false(seen.ended);
	opt_look_release(&seen);
	spec.first_ends = true;
	look(&seen, "x --yes make --state ");
	assert_int_equal(seen.args.nr, 2);
	assert_int_equal(seen.first, 2);
	assert_true(seen.ended);
	assert_null(seen.value_of);
	opt_look_release(&seen);
	spec.first_ends = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar_places),
		cmocka_unit_test(test_grammar_words),
		cmocka_unit_test(test_grammar_options_are_no_places),
		cmocka_unit_test(test_grammar_dashes),
		cmocka_unit_test(test_grammar_forms_with_an_option),
		cmocka_unit_test(test_grammar_options_of_a_verb),
		cmocka_unit_test(test_look_values),
		cmocka_unit_test(test_look_arguments),
	};

	return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
