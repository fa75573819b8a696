/* SPDX-License-Identifier: MIT */
#include "ui/complete.h"

#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *text;
static bool flag;
static struct strlist list;

static const struct opt table[] = {
	{ OPT_STRING, 0, "state", &text, "<list>", "a list", false },
	{ OPT_STRING, 0, "state-dir", &text, "<dir>", "a directory", false },
	{ OPT_LIST, 0, "agent", &list, "<name>", "an agent", false },
	{ OPT_FLAG, 0, "fast", &flag, NULL, "fast", false },
	{ OPT_FLAG, 0, "no-fast", &flag, NULL, "slow", false },
	{ OPT_FLAG, 'y', "yes", &flag, NULL, "yes", false },
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

static const char *const *values(const char *option)
{
	static const char *const names[] = { "am", "amend", "merge", NULL };

	return !strcmp(option, "state") || !strcmp(option, "agent") ? names : NULL;
}

static const struct opt_spec spec = {
	.command = "x",
	.usage = "stall --state-dir <dir>\ninstall [--[no-]fast] <name>\ninstall [-y | --yes]\n"
		 "status\nuninstall --state <list>",
	.options = table,
	.values = values,
};

static const struct opt_spec plain = { .command = "y", .usage = "[--yes] [<path>...]\n--fast",
				       .options = table };

/* ---- what is printed ---- */

static FILE *file;
static int saved;
static char printed[4096];

static void begin(void)
{
	fflush(stdout);
	file = tmpfile();
	saved = dup(STDOUT_FILENO);
	assert_non_null(file);
	dup2(fileno(file), STDOUT_FILENO);
}

/* With one space for what separates lines, and without what stands behind a tab. */
static const char *end(void)
{
	size_t len = 0;
	bool help = false;
	int c;

	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);
	while ((c = getc(file)) != EOF && len < sizeof(printed) - 1) {
		help = c == '\t' || (help && c != '\n');
		if (!help)
			printed[len++] = (char)(c == '\n' ? ' ' : c);
	}
	printed[len] = '\0';
	fclose(file);
	return printed;
}

static const char *options_of(const struct opt_spec *of, const char *verb)
{
	begin();
	complete_options(of, verb);
	return end();
}

static const char *values_of(const char *option, const char *typed)
{
	begin();
	complete_values(&spec, option, typed);
	return end();
}

static void test_complete_verbs(void **state)
{
	(void)state;
	begin();
	complete_verbs(&spec);
	assert_string_equal(end(), "stall install status uninstall ");
	begin();
	complete_verbs(&plain);
	assert_string_equal(end(), "");
}

static void test_complete_options_of_a_verb(void **state)
{
	(void)state;
	assert_string_equal(options_of(&spec, "stall"), "--state-dir= --help --quiet --json ");
	assert_string_equal(options_of(&spec, "install"),
			    "--fast --no-fast --yes --help --quiet --json ");
	assert_string_equal(options_of(&spec, "status"), "--help --quiet --json ");
	assert_string_equal(options_of(&spec, "uninstall"), "--state= --help --quiet --json ");
}

static void test_complete_all_options(void **state)
{
	static const char all[] = "--state= --state-dir= --agent= --fast --no-fast --yes "
				  "--help --quiet --json ";

	(void)state;
	assert_string_equal(options_of(&spec, NULL), all);
	assert_string_equal(options_of(&spec, ""), all);
	assert_string_equal(options_of(&spec, "insta"), all);
	assert_string_equal(options_of(&plain, "status"), all);
}

static void test_complete_values(void **state)
{
	(void)state;
	assert_string_equal(values_of("--state", ""), "am amend merge ");
	assert_string_equal(values_of("--state", "am"), "am amend merge ");
	assert_string_equal(values_of("--state", "am,"), "am,amend am,merge ");
	assert_string_equal(values_of("--state", "amend,x,me"), "amend,x,am amend,x,merge ");
	/* only lists have commas */
	assert_string_equal(values_of("--agent", "am,"), "am amend merge ");
	assert_string_equal(values_of("--state-dir", ""), "");
	assert_string_equal(values_of("--nonsense", ""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete_verbs),
		cmocka_unit_test(test_complete_options_of_a_verb),
		cmocka_unit_test(test_complete_all_options),
		cmocka_unit_test(test_complete_values),
	};

	return cmocka_run_group_tests_name("complete", tests, NULL, NULL);
}
