/* SPDX-License-Identifier: MIT */
#include "record/order.h"

#include "base/clock.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- ids --- */

static void make(char out[CKPT_ID_SIZE], const char *last, const struct ref_list *refs, int64_t now)
{
	char stamp[CLOCK_ISO_SIZE];

	assert_int_equal(order_make_id(out, last, refs, now), 0);
	if (!refs_valid_id(out))
		fail_msg("'%s' is not an id", out);
	clock_format_id(stamp, now);
	if (strncmp(out + 4, stamp, 15))
		fail_msg("'%s' does not carry the time %s", out, stamp);
	if (!order_is_odd(out) && strcmp(out, last) <= 0)
		fail_msg("'%s' has its place by its id, before '%s'", out, last);
}

static const struct ref_list none;

static void test_order_id_is_odd_only_where_it_does_not_sort(void **state)
{
	static const struct {
		const char *last;
		bool odd;
	} rows[] = {
		/* 1790000000 is 2026-09-21 14:13:20 */
		{ "", false },
		{ "chk_20260921_141319_7fffff", false },
		{ "chk_20260921_141319_ffffff", false },
		{ "chk_20260921_141320_000000", false },
		{ "chk_20260921_141320_7ffe00", false },
		{ "chk_20260921_141320_7fffff", true },
		{ "chk_20260921_141320_ffffff", true },
		{ "chk_20260921_141321_000000", true },
		{ "chk_20270921_141320_000000", true },
		/* only a person could have made these */
		{ "chk_20269999_000000_000001", true },
		{ "chk_99999999_999999_ffffff", true },
		{ "chk_00000000_000000_ffffff", false },
	};
	char id[CKPT_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int n = 0; n < 200; n++) {
			make(id, rows[i].last, &none, 1790000000);
			if (order_is_odd(id) != rows[i].odd)
				fail_msg("row %zu: '%s' after '%s'", i, id, rows[i].last);
		}
}

static void test_order_id_leaves_room_in_its_second(void **state)
{
	char last[CKPT_ID_SIZE] = "", id[CKPT_ID_SIZE];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		make(id, last, &none, 1790000000);
		assert_false(order_is_odd(id));
		memcpy(last, id, sizeof(last));
	}
}

/* Two that see the same list hardly ever choose the same. */
static void test_order_id_differs_by_chance(void **state)
{
	unsigned same = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		char a[CKPT_ID_SIZE], b[CKPT_ID_SIZE];
		const char *last = i % 2 ? "" : "chk_20270101_000000_000000";

		make(a, last, &none, 1790000000);
		make(b, last, &none, 1790000000);
		same += !strcmp(a, b);
	}
	assert_true(same < 3);
}

/* --- places --- */

static void test_order_of_two(void **state)
{
	static const struct {
		const char *id;
		struct ckpt_place place;
	} sorted[] = {
		{ "chk_20260101_000000_000001", { "", 0 } },
		{ "chk_20260101_000001_000001", { "", 9 } },
		{ "chk_20270101_000000_000001", { "", 2 } },
		{ "chk_20260101_000003_800001", { "chk_20270101_000000_000001", 3 } },
		{ "chk_20260101_000002_800001", { "chk_20270101_000000_000001", 4 } },
		/* the same number: of stores that were merged */
		{ "chk_20260101_000003_900001", { "chk_20270101_000000_000001", 4 } },
		{ "chk_20280101_000000_000001", { "", 1 } },
		{ "chk_20250101_000000_f00001", { "chk_20280101_000000_000001", 2 } },
		/* no program says this of an id that sorts */
		{ "chk_20281231_000000_000001", { "chk_20270101_000000_000001", 9 } },
		/* odd, but of an older version: its place is its id */
		{ "chk_20290101_000000_f00001", { "", 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sorted); i++)
		for (size_t j = 0; j < ARRAY_SIZE(sorted); j++) {
			int cmp = order_compare(sorted[i].id, &sorted[i].place, sorted[j].id,
						&sorted[j].place);

			if ((cmp > 0) != (i > j) || (cmp < 0) != (i < j))
				fail_msg("'%s' and '%s': %d", sorted[i].id, sorted[j].id, cmp);
		}
}

/* --- many saves --- */

enum { MAX = 60 };

/* What is there, in the order in which it was taken. */
struct model {
	struct ref_item refs[MAX];
	struct ckpt_place places[MAX];
	size_t nr;
};

static void forget(struct model *model, size_t at)
{
	size_t after = --model->nr - at;

	memmove(&model->refs[at], &model->refs[at + 1], after * sizeof(*model->refs));
	memmove(&model->places[at], &model->places[at + 1], after * sizeof(*model->places));
}

/* As order_next() does; an older program makes an id that sorts after all others. */
static void save(struct model *model, int64_t now, bool old)
{
	struct ref_list refs = { .items = model->refs, .nr = model->nr };
	struct ref_item *ref = &model->refs[model->nr];
	struct ckpt_place *place = &model->places[model->nr], *last = place - 1;
	const char *after = !model->nr ? "" : *last->after ? last->after : ref[-1].id;
	const char *greatest = "";

	memset(ref, 0, sizeof(*ref));
	memset(place, 0, sizeof(*place));
	for (size_t i = 0; i < model->nr; i++)
		if (strcmp(model->refs[i].id, greatest) > 0)
			greatest = model->refs[i].id;
	make(ref->id, after, &refs, now);
	if (old && strcmp(ref->id, greatest) <= 0)
		snprintf(ref->id, sizeof(ref->id), "%.20s%06lx", greatest,
			 (strtoul(greatest + 20, NULL, 16) + 1) & 0xffffff);
	if (!old || strcmp(ref->id, greatest) <= 0) {
		place->number = model->nr ? last->number + 1 : 1;
		if (order_is_odd(ref->id))
			snprintf(place->after, sizeof(place->after), "%s", after);
	}
	model->nr++;
}

static void check(const struct model *model)
{
	struct ref_item shuffled[MAX];
	struct ckpt_place places[MAX];
	struct ref_list list = { .items = shuffled, .nr = model->nr };
	bool odd = false;

	for (size_t i = 0; i < model->nr; i++) {
		size_t j = rnd((uint32_t)i + 1);

		shuffled[i] = shuffled[j];
		places[i] = places[j];
		shuffled[j] = model->refs[i];
		places[j] = model->places[i];
	}
	order_sort(&list, places);
	for (size_t i = 0; i < model->nr; i++) {
		assert_string_equal(shuffled[i].id, model->refs[i].id);
		odd = odd || order_is_odd(shuffled[i].id);
	}
	/* Where no id says otherwise, the order of ids is the order of saving. */
	assert_int_equal(order_has_odd(&list), odd);
	for (size_t i = 1; i < model->nr && !odd; i++)
		assert_true(strcmp(shuffled[i - 1].id, shuffled[i].id) < 0);
}

/* A clock that stands, creeps, jumps ahead and back, while any of them are dropped. */
static void simulate(bool old_ones)
{
	int64_t now = 1000000000 + (int64_t)(rnd64() % 1000000000u);
	struct model model = { .nr = 0 };

	for (int i = 0; i < 300; i++) {
		switch (rnd(8)) {
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
		save(&model, now, old_ones && !rnd(3));
		check(&model);
		if (old_ones && model.nr == MAX)
			model.nr = 0;
		/* An older program does not know of a place by an id that is gone. */
		while (!old_ones && model.nr && (model.nr == MAX || !rnd(3))) {
			forget(&model, rnd((uint32_t)model.nr));
			check(&model);
		}
	}
}

static void test_order_is_that_of_saving_under_any_clock(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++)
		simulate(false);
}

static void test_order_with_an_older_program_in_between(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++)
		simulate(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_id_is_odd_only_where_it_does_not_sort),
		cmocka_unit_test(test_order_id_leaves_room_in_its_second),
		cmocka_unit_test(test_order_id_differs_by_chance),
		cmocka_unit_test(test_order_of_two),
		cmocka_unit_test(test_order_is_that_of_saving_under_any_clock),
		cmocka_unit_test(test_order_with_an_older_program_in_between),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
