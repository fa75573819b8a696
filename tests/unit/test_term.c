/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include "unit.h"

#include "onterminal.h"

/* ---- width ---- */

static void test_term_text_width(void **state)
{
	(void)state;
	assert_int_equal(term_text_width(""), 0);
	assert_int_equal(term_text_width("plain"), 5);
	assert_int_equal(term_text_width("\xc3\xa4\xc3\xb6"), 2);
	assert_int_equal(term_text_width("\xe2\x80\xa6"), 1);
	assert_int_equal(term_text_width("e\xcc\x81"), 1);
	assert_int_equal(term_text_width("a\xe2\x80\x8b" "b"), 2);
	assert_int_equal(term_text_width("\xe2\x9c\x93\xef\xb8\x8f"), 1);
	assert_int_equal(term_text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	assert_int_equal(term_text_width("\xed\x95\x9c"), 2);
	assert_int_equal(term_text_width("\xef\xbc\xa1"), 2);
	assert_int_equal(term_text_width("\xf0\x9f\x98\x80"), 2);
	assert_int_equal(term_text_width("\xff\xfe"), 2);
	assert_int_equal(term_text_width("\xe6\xbc"), 2);
}

static void print_width(void)
{
	printf("%u", term_width());
}

static void test_term_width(void **state)
{
	int null = open("/dev/null", O_WRONLY), saved = dup(1);

	(void)state;
	fflush(stdout);
	dup2(null, 1);
	assert_int_equal(term_width(), 80);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(term_width(), 132);
	setenv("COLUMNS", "0", 1);
	assert_int_equal(term_width(), 80);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(term_width(), 80);
	dup2(saved, 1);
	close(saved);
	close(null);
	expect_on_terminal(57, print_width, "57");
	unsetenv("COLUMNS");
}

/* ---- colour ---- */

static void print_colored(void)
{
	term_set_color("auto");
	printf("%sx%s", term_color(TERM_RED), term_color(TERM_RESET));
}

static void test_term_color(void **state)
{
	int null = open("/dev/null", O_WRONLY), saved = dup(1);

	(void)state;
	fflush(stdout);
	dup2(null, 1);
	term_set_color("auto");
	assert_string_equal(term_color(TERM_RED), "");
	term_set_color("always");
	assert_string_equal(term_color(TERM_RED), "\x1b[31m");
	assert_string_equal(term_color(TERM_RESET), "\x1b[m");
	term_set_color("never");
	assert_string_equal(term_color(TERM_BOLD), "");
	dup2(saved, 1);
	close(saved);
	close(null);

	expect_on_terminal(80, print_colored, "\x1b[31mx\x1b[m");
	setenv("NO_COLOR", "", 1);
	expect_on_terminal(80, print_colored, "\x1b[31mx\x1b[m");
	setenv("NO_COLOR", "1", 1);
	expect_on_terminal(80, print_colored, "x");
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	expect_on_terminal(80, print_colored, "x");
	setenv("TERM", "xterm", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_term_text_width),
		cmocka_unit_test(test_term_width),
		cmocka_unit_test(test_term_color),
	};

	return cmocka_run_group_tests_name("term", tests, terminal_setup, unit_teardown);
}
