/* SPDX-License-Identifier: MIT */
#include "session/newid.h"

#include "base/clock.h"
#include "unit.h"

#include <string.h>

/* One list with the newest id in it: that is all that counts. */
static void next(struct ref_item *newest, bool first, int64_t now)
{
	struct ref_list refs = { .items = newest, .nr = first ? 0 : 1 };
	char id[CKPT_ID_SIZE];

	assert_int_equal(newid_make(id, &refs, now), 0);
	if (!refs_valid_id(id))
		fail_msg("'%s' is not an id", id);
	if (!first && strcmp(id, newest->id) <= 0)
		fail_msg("'%s' follows '%s'", id, newest->id);
	strcpy(newest->id, id);
}

/* A clock that stands, creeps, jumps ahead and back by days: ids only ever grow. */
static void test_newid_grows_under_any_clock(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		int64_t now = (int64_t)(rnd64() % 200000000000u);
		struct ref_item newest = { .id = "" };

		for (int i = 0; i < 1000; i++) {
			next(&newest, !i, now);
			switch (rnd(6)) {
			case 0:
				now += rnd(5);
				break;
			case 1:
				now -= rnd(100000);
				break;
			case 2:
				now += rnd(100000);
				break;
			default:
				break;
			}
			if (now < 0)
				now = 0;
		}
	}
}

/* With a clock that goes right the id carries its time. */
static void test_newid_carries_the_time(void **state)
{
	struct ref_item newest = { .id = "" };
	int64_t now = 1790000000;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char stamp[CLOCK_ISO_SIZE];

		next(&newest, !i, now);
		clock_format_id(stamp, now);
		assert_int_equal(strncmp(newest.id + 4, stamp, 15), 0);
		now += 1 + rnd(100);
	}
}

/* So many in one second that its numbers run out: then the next second lends some. */
static void test_newid_runs_over_into_the_next_second(void **state)
{
	struct ref_item newest = { .id = "chk_20260921_141320_ffffff" };
	int64_t now = 1790000000; /* that very second */

	(void)state;
	next(&newest, false, now);
	assert_int_equal(strncmp(newest.id, "chk_20260921_141321_", 20), 0);
	strcpy(newest.id, "chk_20261231_235959_ffffff");
	next(&newest, false, now);
	assert_int_equal(strncmp(newest.id, "chk_20270101_000000_", 20), 0);
	for (int i = 0; i < 300; i++) {
		strcpy(newest.id, "chk_20260228_235959_ffff80");
		next(&newest, false, now - 86400 * 300);
	}
}

/* Ids that only a person could have made, with times that are none, are still exceeded. */
static void test_newid_exceeds_ids_without_a_time(void **state)
{
	static const char *const odd[] = { "chk_20269999_000000_000001",
					   "chk_20260230_250000_000001",
					   "chk_20260101_235960_000001",
					   "chk_99999999_999999_000001" };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct ref_item newest = { .id = "" };

		strcpy(newest.id, odd[i]);
		for (int n = 0; n < 20; n++)
			next(&newest, false, 1000000000);
	}
}

/* Two that see the same list hardly ever choose the same. */
static void test_newid_differs_by_chance(void **state)
{
	struct ref_list none = { 0 };
	unsigned same = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		char a[CKPT_ID_SIZE], b[CKPT_ID_SIZE];

		assert_int_equal(newid_make(a, &none, 1790000000), 0);
		assert_int_equal(newid_make(b, &none, 1790000000), 0);
		same += !strcmp(a, b);
	}
	assert_true(same < 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newid_grows_under_any_clock),
		cmocka_unit_test(test_newid_carries_the_time),
		cmocka_unit_test(test_newid_runs_over_into_the_next_second),
		cmocka_unit_test(test_newid_exceeds_ids_without_a_time),
		cmocka_unit_test(test_newid_differs_by_chance),
	};

	return cmocka_run_group_tests_name("newid", tests, NULL, NULL);
}
