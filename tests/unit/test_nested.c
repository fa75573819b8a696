/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "record/nested.h"

#include "base/alloc.h"
#include "base/error.h"

static struct nested_list parse(const char *text, size_t len)
{
	struct nested_list list = { 0 };

	assert_int_equal(nested_parse(&list, text, len), 0);
	return list;
}

#define PARSE(text) parse(text, sizeof(text) - 1)

static void test_nested_round_trip(void **state)
{
	static const char text[] = "1234\0main\0\0a\0"
				   "5678\0\0rebase\0b/c d\0"
				   "\0refs/odd\0\0e\0";
	struct nested_list list = parse(text, sizeof(text) - 1);
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(list.nr, 3);
	assert_string_equal(list.items[0].path, "a");
	assert_string_equal(list.items[0].state.head, "1234");
	assert_string_equal(list.items[0].state.branch, "main");
	assert_null(list.items[0].state.operation);
	assert_null(list.items[1].state.branch);
	assert_string_equal(list.items[1].state.operation, "rebase");
	assert_string_equal(list.items[1].path, "b/c d");
	assert_null(list.items[2].state.head);
	nested_print(&out, &list);
	assert_int_equal(out.len, sizeof(text) - 1);
	assert_memory_equal(out.buf, text, out.len);
	strbuf_release(&out);
	nested_release(&list);
	nested_release(&list); /* harmless */
}

static void test_nested_malformed(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{ "1234", 4 },
		{ "1234\0main\0", 10 },
		{ "1234\0main\0\0a", 12 },
		{ "\0\0\0\0", 4 },
		{ "1\0m\0\0a\0"
		  "2\0",
		  9 },
		{ "1\0m\0\0a\0\0", 8 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nested_list list = { 0 };

		assert_int_equal(nested_parse(&list, rows[i].text, rows[i].len), CKPT_ECORRUPT);
		nested_release(&list);
	}
}

static void test_nested_same(void **state)
{
	struct nested_list a = PARSE("1\0m\0\0a\0"
				     "2\0\0\0b\0"),
			   b = PARSE("1\0m\0\0a\0"
				     "2\0\0\0b\0");
	struct nested_list others[] = {
		PARSE(""),
		PARSE("1\0m\0\0a\0"),
		PARSE("1\0m\0\0a\0"
		      "3\0\0\0b\0"),
		PARSE("1\0n\0\0a\0"
		      "2\0\0\0b\0"),
		PARSE("1\0m\0merge\0a\0"
		      "2\0\0\0b\0"),
		PARSE("1\0m\0\0a\0"
		      "2\0\0\0c\0"),
		PARSE("1\0m\0\0a\0"
		      "\0\0\0b\0"),
	};

	(void)state;
	assert_true(nested_same(&a, &b));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_false(nested_same(&a, &others[i]));
		assert_false(nested_same(&others[i], &a));
		nested_release(&others[i]);
	}
	/* What is not known has not moved. */
	assert_false(nested_unknown(&b));
	repo_state_release(&b.items[1].state);
	assert_false(nested_same(&a, &b));
	b.items[1].unknown = true;
	assert_true(nested_unknown(&b));
	assert_true(nested_same(&a, &b));
	nested_release(&a);
	nested_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_round_trip),
		cmocka_unit_test(test_nested_malformed),
		cmocka_unit_test(test_nested_same),
	};

	return cmocka_run_group_tests_name("nested", tests, NULL, NULL);
}
