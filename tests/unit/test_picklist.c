/* SPDX-License-Identifier: MIT */
#include "ui/picklist.h"

#include "base/alloc.h"

#include "unit.h"

static void test_picklist_keys(void **state)
{
	static const struct {
		const char *bytes;
		enum pick_key key;
		size_t used;
	} cases[] = {
		{ "k", PICK_UP, 1 },
		{ "J", PICK_PREVIEW_DOWN, 1 },
		{ "K", PICK_PREVIEW_UP, 1 },
		{ "jk", PICK_DOWN, 1 },
		{ "\x1b[A", PICK_UP, 3 },
		{ "\x1bOBx", PICK_DOWN, 3 },
		{ "\x1b[6~", PICK_PAGE_DOWN, 4 },
		{ "\x1b[F", PICK_LAST, 3 },
		{ "\r", PICK_TAKE, 1 },
		{ "q", PICK_LEAVE, 1 },
		{ "\x03", PICK_LEAVE, 1 },
		{ "x", PICK_NOTHING, 1 },
		/* the beginning of a key */
		{ "\x1b", PICK_MORE, 0 },
		{ "\x1b[", PICK_MORE, 0 },
		{ "\x1b[5", PICK_MORE, 0 },
		/* keys that mean nothing are passed over whole: no part of one is a "q" or a "j" */
		{ "\x1b[15~q", PICK_NOTHING, 5 },
		{ "\x1b[1;5Dj", PICK_NOTHING, 6 },
		{ "\x1bOqj", PICK_NOTHING, 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t used = 99;

		assert_int_equal(picklist_decode(&used, cases[i].bytes, strlen(cases[i].bytes)),
				 cases[i].key);
		assert_int_equal(used, cases[i].used);
	}
}

static void expect_sane(const struct picklist *list)
{
	assert_true(list->at < list->nr);
	assert_true(list->top <= list->at);
	assert_true(list->at < list->top + list->rows);
	/* as many as there is room for are shown */
	assert_true(list->top + list->rows <= list->nr || list->top == 0);
}

static void test_picklist_keeps_the_chosen_one_in_sight(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 500; round++) {
		struct picklist list = { .nr = 1 + (size_t)rand() % 30, .rows = 1 };

		picklist_resize(&list, (size_t)rand() % 12);
		expect_sane(&list);
		for (int step = 0; step < 50; step++) {
			size_t at = list.at;
			enum pick_key key = (enum pick_key)(PICK_NOTHING + rand() % (PICK_LEAVE + 1));

			picklist_move(&list, key);
			expect_sane(&list);
			if (key == PICK_UP)
				assert_int_equal(list.at, at ? at - 1 : 0);
			else if (key == PICK_DOWN)
				assert_int_equal(list.at, at + 1 < list.nr ? at + 1 : at);
			else if (key == PICK_FIRST)
				assert_int_equal(list.at, 0);
			else if (key == PICK_LAST)
				assert_int_equal(list.at, list.nr - 1);
			else if (key == PICK_TAKE || key == PICK_LEAVE || key == PICK_NOTHING)
				assert_int_equal(list.at, at);
			if (!(rand() % 8)) {
				picklist_resize(&list, (size_t)rand() % 12);
				expect_sane(&list);
			}
		}
	}
}

static void test_picklist_pages(void **state)
{
	struct picklist list = { .nr = 10, .rows = 4 };

	(void)state;
	picklist_move(&list, PICK_PAGE_DOWN);
	assert_int_equal(list.at, 4);
	assert_int_equal(list.top, 1);
	picklist_move(&list, PICK_PAGE_DOWN);
	picklist_move(&list, PICK_PAGE_DOWN);
	assert_int_equal(list.at, 9);
	assert_int_equal(list.top, 6);
	picklist_move(&list, PICK_PAGE_UP);
	assert_int_equal(list.at, 5);
	picklist_move(&list, PICK_PAGE_UP);
	picklist_move(&list, PICK_PAGE_UP);
	assert_int_equal(list.at, 0);
	assert_int_equal(list.top, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_picklist_keys),
		cmocka_unit_test(test_picklist_keeps_the_chosen_one_in_sight),
		cmocka_unit_test(test_picklist_pages),
	};

	return cmocka_run_group_tests_name("picklist", tests, NULL, NULL);
}
