/* SPDX-License-Identifier: MIT */
#include "git/wildmatch_internal.h"

#include "unit.h"

#include <time.h>

struct sample {
	const char *pattern;
	const char *text;
	bool expect;
};

static void check(const struct sample *samples, size_t nr, unsigned flags)
{
	for (size_t i = 0; i < nr; i++)
		if (wildmatch(samples[i].pattern, samples[i].text, flags) != samples[i].expect)
			fail_msg("'%s' %s '%s'", samples[i].pattern,
				 samples[i].expect ? "does not match" : "matches", samples[i].text);
}

#define CHECK(samples, flags) check(samples, sizeof(samples) / sizeof((samples)[0]), flags)

static void test_wildmatch_basics(void **state)
{
	static const struct sample samples[] = {
		{ "", "", true },	       { "", "a", false },	    { "foo", "foo", true },
		{ "foo", "fo", false },	       { "fo", "foo", false },	    { "?", "a", true },
		{ "?", "", false },	       { "*", "", true },	    { "*", "abc", true },
		{ "*c", "abc", true },	       { "*b", "abc", false },	    { "a*c", "ac", true },
		{ "a*b*c", "axbybzc", true },  { "a*b*c", "axbybz", false }, { "*ab", "aaab", true },
		{ "\\*", "*", true },	       { "\\*", "a", false },	    { "a\\", "a\\", false },
		{ "\\a", "a", true },	       { "*\\", "a\\", false },	    { "***", "x", true },
	};

	(void)state;
	CHECK(samples, 0);
	CHECK(samples, WILD_PATHNAME);
}

static void test_wildmatch_slashes(void **state)
{
	static const struct sample plain[] = {
		{ "*", "a/b", true },
		{ "a*b", "a/x/b", true },
		{ "?", "/", true },
		{ "[/]", "/", true },
	};
	static const struct sample path[] = {
		{ "*", "a/b", false },		 { "a*b", "a/b", false },
		{ "?", "/", false },		 { "[/]", "/", false },
		{ "[!x]", "/", false },		 { "*/b", "a/b", true },
		{ "*/b", "a/x/b", false },	 { "**/b", "b", true },
		{ "**/b", "a/x/b", true },	 { "**/b", "ab", false },
		{ "a/**", "a/b/c", true },	 { "a/**", "a", false },
		{ "a/**/b", "a/b", true },	 { "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "ab", false },	 { "a/**b", "a/xb", true },
		{ "a/**b", "a/x/b", false },	 { "a**/b", "ax/b", true },
		{ "a**/b", "ax/y/b", false },	 { "**\\/b", "b", false },
		{ "**\\/b", "a/x/b", true },	 { "***/b", "a/x/b", true },
		{ "**/*a*/**/c", "xax/c", true }, { "**/*a*/**/c", "q/bab/z/c", true },
		{ "**/*a*/**/c", "q/bb/z/c", false }, { "**/a/b", "a/a/b", true },
		{ "**/a*b/c", "aXb/d/ab/c", true }, { "**/", "", true },
	};

	(void)state;
	CHECK(plain, 0);
	CHECK(path, WILD_PATHNAME);
}

static void test_wildmatch_brackets(void **state)
{
	static const struct sample samples[] = {
		{ "[ab]", "b", true },	       { "[ab]", "c", false },
		{ "[!ab]", "c", true },	       { "[^ab]", "a", false },
		{ "[a-c]", "b", true },	       { "[a-c]", "d", false },
		{ "[]]", "]", true },	       { "[!]]", "]", false },
		{ "[]-a]", "^", true },	       { "[a-]", "-", true },
		{ "[-a]", "-", true },	       { "[a", "a", false },
		{ "[", "[", false },	       { "[]", "]", false },
		{ "[\\]]", "]", true },	       { "[\\", "\\", false },
		{ "[a\\-c]", "b", false },     { "[a\\-c]", "-", true },
		{ "[\\a-\\c]", "b", true },    { "[a-c-e]", "-", true },
		{ "[a-c-e]", "d", false },     { "[[:digit:]x]", "7", true },
		{ "[[:digit:]x]", "x", true }, { "[[:digit:]x]", "y", false },
		{ "[![:alpha:]]", "a", false }, { "[[:nosuch:]a]", "a", false },
		{ "[[::]a]", "a", false },     { "[[:]", ":", true },
		{ "[[:a]", "[", true },	       { "[[:space:]]", "\v", false },
		{ "[[:space:]]", "\r", true }, { "[[:cntrl:]]", "\x7f", true },
		{ "[[:punct:]]", "~", true },  { "[[:punct:]]", "\xc3", false },
		{ "[[:upper:]]", "a", false }, { "[[:xdigit:]]", "g", false },
		{ "[\x80-\xff]", "\xc3", true }, { "[[:digit:]-z]", "k", false },
	};

	(void)state;
	CHECK(samples, 0);
	CHECK(samples, WILD_PATHNAME);
}

static void test_wildmatch_casefold(void **state)
{
	static const struct sample samples[] = {
		{ "foo", "FOO", true },	       { "FOO", "foo", true },
		{ "*.TXT", "a.txt", true },    { "[a-c]", "B", true },
		{ "[A-C]", "b", true },	       { "[[:upper:]]", "a", true },
		{ "[[:upper:]]", "1", false }, { "[a]", "A", true },
		/* What git does not fold. */
		{ "[A]", "a", false },	       { "\\A", "A", false },
	};

	(void)state;
	CHECK(samples, WILD_CASEFOLD);
	assert_false(wildmatch("foo", "FOO", 0));
}

static void test_wildmatch_hostile_pattern_ends_soon(void **state)
{
	char text[2001];
	clock_t begin = clock();

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(wildmatch("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, 0));
	for (size_t i = 1; i < sizeof(text) - 1; i += 2)
		text[i] = '/';
	assert_false(wildmatch("**/*a*/**/*a*/**/*a*/**/*a*/**/*a*/**/b", text, WILD_PATHNAME));
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wildmatch_basics),
		cmocka_unit_test(test_wildmatch_slashes),
		cmocka_unit_test(test_wildmatch_brackets),
		cmocka_unit_test(test_wildmatch_casefold),
		cmocka_unit_test(test_wildmatch_hostile_pattern_ends_soon),
	};

	return cmocka_run_group_tests_name("wildmatch", tests, NULL, NULL);
}
