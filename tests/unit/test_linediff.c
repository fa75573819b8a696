/* SPDX-License-Identifier: MIT */
/* Counting lines: against a table of common subsequences, and the limits. */

#include "unit.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "save/save_lines_internal.h"

enum { LINES = 40 };

static void check(size_t added, size_t removed, const char *old, const char *new)
{
	struct linediff found = { 100, 1000 }; /* it adds */

	assert_true(save_lines_add(&found, old, strlen(old), new, strlen(new)));
	assert_int_equal(found.added, 100 + added);
	assert_int_equal(found.removed, 1000 + removed);
}

static void test_lines(void **state)
{
	(void)state;
	check(0, 0, "", "");
	check(0, 0, "a\nb\n", "a\nb\n");
	check(2, 0, "", "a\nb\n");
	check(0, 2, "a\nb", "");
	check(1, 1, "a\nb", "a\nb\n");
	check(1, 1, "a\nb\nc\n", "a\nx\nc\n");
	check(1, 1, "a\nb\nc\n", "c\na\nb\n");
	check(3, 0, "a\na\n", "a\na\na\na\na\n");
	check(0, 0, "\n\n", "\n\n");
}

static void test_contents_with_a_nul_have_no_lines(void **state)
{
	struct linediff found = { 0, 0 };

	(void)state;
	assert_true(save_lines_add(&found, "a\0b\n", 4, "c\n", 2));
	assert_true(save_lines_add(&found, "a\n", 2, "\0", 1));
	assert_int_equal(found.added + found.removed, 0);
}

static void random_lines(struct strbuf *out, char *letters, size_t *nr)
{
	*nr = rnd(LINES);
	for (size_t i = 0; i < *nr; i++) {
		letters[i] = (char)('a' + rnd(6));
		strbuf_addf(out, "%c\n", letters[i]);
	}
}

static size_t longest_common(const char *a, size_t a_nr, const char *b, size_t b_nr)
{
	size_t table[LINES + 1][LINES + 1] = { { 0 } };

	for (size_t i = 1; i <= a_nr; i++)
		for (size_t j = 1; j <= b_nr; j++)
			table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 :
				      table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] :
									  table[i][j - 1];
	return table[a_nr][b_nr];
}

static void test_random_texts(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
		struct linediff found = { 0, 0 };
		char from[LINES], to[LINES];
		size_t from_nr, to_nr, common;

		random_lines(&a, from, &from_nr);
		random_lines(&b, to, &to_nr);
		common = longest_common(from, from_nr, to, to_nr);
		assert_true(save_lines_add(&found, a.buf, a.len, b.buf, b.len));
		assert_int_equal(found.removed, from_nr - common);
		assert_int_equal(found.added, to_nr - common);
		strbuf_release(&a);
		strbuf_release(&b);
	}
}

static void test_what_would_take_long_is_not_told(void **state)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
	struct linediff found = { 0, 0 };

	(void)state;
	/* nothing in common is quickly told, however much it is */
	for (int i = 0; i < 20000; i++) {
		strbuf_addf(&a, "old %d\n", i);
		strbuf_addf(&b, "new %d\n", i);
	}
	assert_true(save_lines_add(&found, a.buf, a.len, b.buf, b.len));
	assert_int_equal(found.added, 20000);
	assert_int_equal(found.removed, 20000);
	/* the same lines in reverse order are not */
	strbuf_reset(&b);
	for (int i = 20000; i--;)
		strbuf_addf(&b, "old %d\n", i);
	assert_false(save_lines_add(&found, a.buf, a.len, b.buf, b.len));
	assert_int_equal(found.added + found.removed, 40000);
	strbuf_release(&a);
	strbuf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_contents_with_a_nul_have_no_lines),
		cmocka_unit_test(test_random_texts),
		cmocka_unit_test(test_what_would_take_long_is_not_told),
	};

	return cmocka_run_group_tests_name("linediff", tests, NULL, NULL);
}
