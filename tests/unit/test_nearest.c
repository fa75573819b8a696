/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

#include "unit.h"

static void test_nearest_distance(void **state)
{
	(void)state;
	assert_int_equal(nearest_distance("", ""), 0);
	assert_int_equal(nearest_distance("abc", ""), 3);
	assert_int_equal(nearest_distance("", "abc"), 3);
	assert_int_equal(nearest_distance("maxCount", "MAXCOUNT"), 0);
	assert_int_equal(nearest_distance("maxCont", "maxCount"), 1);
	assert_int_equal(nearest_distance("maxCounts", "maxCount"), 1);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	assert_int_equal(nearest_distance("sitting", "kitten"), 3);
}

static void test_nearest_word(void **state)
{
	static const char *const words[] = { "maxCount", "maxAge", "color", "threads" };

	(void)state;
	assert_string_equal(nearest_word("maxcuont", words, 4), "maxCount");
	assert_string_equal(nearest_word("colour", words, 4), "color");
	assert_string_equal(nearest_word("thread", words, 4), "threads");
	assert_null(nearest_word("nonsense", words, 4));
	/* short words are near to everything */
	assert_string_equal(nearest_word("lst", (const char *const[]){ "log", "list" }, 2), "list");
	assert_null(nearest_word("foo", (const char *const[]){ "log", "list" }, 2));
	assert_null(nearest_word("", words, 4));
	assert_null(nearest_word("color", words, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest_distance),
		cmocka_unit_test(test_nearest_word),
	};

	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
