/* SPDX-License-Identifier: MIT */
#include "keep/evict.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "unit.h"

#include "evictgen.h"

/* `expect`: indexes in the order of going, those that are due before a "|". */
static void expect_rules(const struct evict_rules *rules, const char *expect)
{
	struct strbuf got = STRBUF_INIT;
	struct evict_plan plan;

	evict_plan(&plan, items, items_nr, rules, now);
	for (size_t i = 0; i < plan.nr; i++) {
		assert_int_equal(i < plan.due, plan.items[i].why != EVICT_NOT_DUE);
		strbuf_addf(&got, "%s%s%zu", i == plan.due ? "| " : "", "", plan.items[i].item);
		strbuf_addch(&got, ' ');
	}
	if (plan.due == plan.nr)
		strbuf_addstr(&got, "| ");
	strbuf_trim(&got);
	assert_string_equal(got.buf, expect);
	strbuf_release(&got);
	evict_plan_release(&plan);
}

#define expect_plan(text, ...) expect_rules(&(struct evict_rules){ __VA_ARGS__ }, text)

static void test_evict_nothing_there(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	expect_plan("|", .max_count = 1, .max_age = 1, .expired = true);
	add(100)->expiry = now - 50;
	/* The newest stays whatever the rules say. */
	expect_plan("|", .max_count = 1, .max_age = 1, .expired = true);
}

static void test_evict_count(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	for (int i = 5; i > 0; i--)
		add(i);
	expect_plan("| 0 1 2 3", .max_count = 0);
	expect_plan("| 0 1 2 3", .max_count = 5);
	expect_plan("0 | 1 2 3", .max_count = 4);
	expect_plan("0 1 2 3 |", .max_count = 1);
	/* Needed ones stay and do not count. */
	items[1].needed = true;
	expect_plan("| 0 2 3", .max_count = 4);
	expect_plan("0 | 2 3", .max_count = 3);
	items[2].needed = true;
	expect_plan("0 | 3", .max_count = 2);
	expect_plan("0 3 |", .max_count = 1);
	/* The newest counts, unless it is needed. */
	items[4].needed = true;
	expect_plan("| 0 3", .max_count = 2);
	expect_plan("0 | 3", .max_count = 1);
}

static void test_evict_expired_ones_go_first(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	for (int i = 6; i > 0; i--)
		add(i);
	items[2].expiry = now - 1;
	items[3].expiry = now - 9;
	items[1].expiry = now + 1;
	items[4].expiry = now;
	expect_plan("| 3 2 4 0 1", .max_count = 6);
	expect_plan("3 | 2 4 0 1", .max_count = 5);
	expect_plan("3 2 4 0 | 1", .max_count = 2);
	expect_plan("3 2 4 | 0 1", .expired = true);
	expect_plan("3 2 4 | 0 1", .expired = true, .max_count = 3);
	expect_plan("3 2 4 0 | 1", .expired = true, .max_count = 2);
	items[3].needed = true;
	items[2].needed = true;
	expect_plan("4 | 0 1", .expired = true);
}

static void test_evict_age(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add(10 * DAYS);
	add(8 * DAYS);
	add(7 * DAYS);
	add(3 * DAYS);
	add(0);
	expect_plan("0 1 | 2 3", .max_age = 7 * DAYS);
	expect_plan("0 1 2 | 3", .max_age = 7 * DAYS - 1);
	expect_plan("0 1 2 3 |", .max_age = 1);
	expect_plan("0 1 | 2 3", .max_age = 7 * DAYS, .max_count = 3);
	expect_plan("0 1 2 | 3", .max_age = 7 * DAYS, .max_count = 2);
}

/* What was saved while the clock was wrong is as old as the next one, whatever its time says. */
static void test_evict_age_by_a_wrong_clock(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add(10 * DAYS);	  /* 0 */
	add(-365 * DAYS); /* 1: ahead, at some time between 0 and 2 */
	add(8 * DAYS);	  /* 2 */
	add(9 * DAYS);	  /* 3: slow, between 2 and 5 */
	add(20000 * DAYS); /* 4: before 1972 */
	add(3 * DAYS);	  /* 5 */
	add(4 * DAYS);	  /* 6: slow, after 5 */
	add(-1);	  /* 7: ahead, likewise */
	add(0);		  /* 8 */
	expect_plan("0 1 2 | 3 4 5 6 7", .max_age = 7 * DAYS);
	expect_plan("0 | 1 2 3 4 5 6 7", .max_age = 8 * DAYS);
	expect_plan("0 1 2 3 4 5 | 6 7", .max_age = 1);
	for (size_t i = 0; i < items_nr; i++)
		items[i].automatic = true;
	expect_plan("0 1 2 3 4 5 | 6 7", .keep_all = 1,
		    .thin = { .items = { { 600, DAYS } }, .nr = 1 });
	/* A time that overflows when it is subtracted from. */
	items[2].created_at = INT64_MAX;
	items[3].created_at = INT64_MIN;
	expect_plan("0 | 1 2 3 4 5 6 7", .max_age = 7 * DAYS);
	/* The clock is slow now: nothing seems to be older than the new one. */
	begin("1970-01-01T00:01:00Z");
	for (int i = 0; i < 5; i++)
		add(-(i + 20000) * DAYS)->automatic = i % 2;
	add(10);
	add(0);
	expect_plan("| 1 3 0 2 4 5", .max_age = 60, THIN);
	expect_plan("5 | 1 3 0 2 4", .max_count = 1, .keep_daily = 2);
}

/* Days in the future do not count, and go like others when there are enough after them. */
/* That a long time has passed is believed a day later. */
static void test_evict_agreed_time(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	assert_int_equal(evict_agreed_time(items, 0, now), now);
	add(0);
	assert_int_equal(evict_agreed_time(items, 1, now), now);
	begin("2026-06-17T12:00:00Z");
	add(366 * DAYS); /* 0 */
	add(365 * DAYS); /* 1 */
	add(DAYS);	 /* 2 */
	add(100);	 /* 3 */
	add(0);		 /* 4 */
	assert_int_equal(evict_agreed_time(items, 5, now), now - 365 * DAYS);
	items[2].created_at--;
	assert_int_equal(evict_agreed_time(items, 5, now), now);
	for (int i = 2; i < 5; i++)
		items[i].created_at = now - 5 + i;
	assert_int_equal(evict_agreed_time(items, 5, now), now - 365 * DAYS);
	/* Not that long. */
	items[1].created_at = items[2].created_at - 2 * DAYS;
	assert_int_equal(evict_agreed_time(items, 5, now), now);
	items[1].created_at--;
	assert_int_equal(evict_agreed_time(items, 5, now), items[1].created_at);
	/* One was ahead itself; the clock was at 1970. */
	items[2].created_at = now + DAYS;
	assert_int_equal(evict_agreed_time(items, 5, now), now - 2 * DAYS - 4);
	items[2].created_at = INT64_MIN;
	assert_int_equal(evict_agreed_time(items, 5, now), INT64_MIN);
	/* All of them ahead: the clock is slow now. */
	for (int i = 0; i < 4; i++)
		items[i].created_at = now + 1 + i;
	assert_int_equal(evict_agreed_time(items, 5, now), now);
}

static void test_evict_keep_days_of_a_wrong_clock(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add(5 * DAYS);	  /* 0 */
	add(4 * DAYS);	  /* 1 */
	add(-365 * DAYS); /* 2 */
	add(-365 * DAYS); /* 3 */
	add(3 * DAYS);	  /* 4 */
	add(2 * DAYS);	  /* 5 */
	add(1 * DAYS);	  /* 6 */
	add(0);		  /* 7 */
	expect_plan("0 1 2 3 4 | 5 6", .max_count = 1, .keep_daily = 3);
	expect_plan("0 1 2 3 | 4 5 6", .max_count = 1, .keep_daily = 4);
	expect_plan("0 2 | 1 3 4 5 6", .max_count = 1, .keep_daily = 5);
	expect_plan("2 | 0 1 3 4 5 6", .max_count = 1, .keep_daily = 6);
}

/* 12:30, and one each quarter of an hour before that. */
static void test_evict_keep_hourly(void **state)
{
	(void)state;
	begin("2026-06-17T12:30:00Z");
	for (int i = 12; i >= 0; i--)
		add(i * 900); /* 0: 9:30 1: 9:45 2: 10:00 .. 5: 10:45 .. 9: 11:45 .. 12: 12:30 */
	expect_plan("0 1 2 3 4 5 6 7 8 9 10 11 |", .max_count = 1);
	expect_plan("0 1 2 3 4 5 6 7 8 9 10 11 |", .max_count = 1, .keep_hourly = 1);
	expect_plan("0 1 2 3 4 5 6 7 8 10 11 | 9", .max_count = 1, .keep_hourly = 2);
	expect_plan("0 1 2 3 4 6 7 8 10 11 | 5 9", .max_count = 1, .keep_hourly = 3);
	expect_plan("0 2 3 4 6 7 8 10 11 | 1 5 9", .max_count = 1, .keep_hourly = 100);
	/* The newest five stay anyway, and what is kept comes on top. */
	expect_plan("0 1 2 3 4 6 7 | 5 8 9 10 11", .max_count = 5, .keep_hourly = 3);
	expect_plan("| 0 1 2 3 4 5 6 7 8 9 10 11", .max_count = 0, .keep_hourly = 1);
	/* Age is stronger. */
	expect_plan("0 1 2 3 4 5 6 7 8 10 11 | 9", .max_count = 1, .keep_hourly = 100,
		    .max_age = 3600 + 900);
	/* An expired one neither stands for its hour nor is kept. */
	items[9].expiry = now - 1;
	expect_plan("9 0 2 3 4 6 7 10 11 | 1 5 8", .max_count = 1, .keep_hourly = 4);
	/* One that is needed does stand for it. */
	items[8].needed = true;
	expect_plan("9 0 2 3 4 6 7 10 11 | 1 5", .max_count = 1, .keep_hourly = 4);
}

static void test_evict_keep_daily_and_weekly(void **state)
{
	(void)state;
	/* A Wednesday; each day at 1:00 and 23:00 for four weeks. */
	begin("2026-06-17T23:00:00Z");
	for (int day = 20; day >= 0; day--) {
		add(day * DAYS + 22 * HOURS);
		add(day * DAYS);
	}
	expect_plan("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
		    "30 31 32 33 34 35 36 38 40 | 37 39",
		    .max_count = 1, .keep_daily = 3);
	/* Weeks end on Sundays, the 14th, 7th and 31st. */
	expect_plan("0 1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20 22 23 24 25 26 27 28 29 30 31 32 "
		    "33 34 36 37 38 39 40 | 7 21 35",
		    .max_count = 1, .keep_weekly = 9);
	/* One that two rules keep is kept once. */
	expect_plan("0 1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20 22 23 24 25 26 27 28 29 30 31 32 "
		    "33 34 36 38 40 | 7 21 35 37 39",
		    .max_count = 1, .keep_weekly = 9, .keep_daily = 4);
}

static void test_evict_keep_before_1970(void **state)
{
	(void)state;
	begin("1970-01-01T01:00:00Z");
	add(3 * HOURS + 1800); /* 21:30 */
	add(2 * HOURS + 1800); /* 22:30 */
	add(HOURS + 1);	       /* 23:59:59 */
	add(HOURS);	       /* 0:00 */
	add(0);
	expect_plan("0 1 | 2 3", .max_count = 1, .keep_hourly = 3);
	expect_plan("0 1 3 | 2", .max_count = 1, .keep_daily = 9);
	/* All of one week. */
	expect_plan("0 1 2 3 |", .max_count = 1, .keep_weekly = 9);
}

static struct evict_item *add_automatic(int64_t age)
{
	struct evict_item *item = add(age);

	item->automatic = true;
	return item;
}

/* Each kind has its limit, and is not counted towards the other's. */
static void test_evict_automatic_count(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add(9);
	for (int i = 8; i > 2; i--)
		add_automatic(i);
	add(2);
	add(1);
	/* For bytes automatic ones go first. */
	expect_plan("| 1 2 3 4 5 6 0 7", .max_count = 3, .max_automatic = 6);
	expect_plan("1 2 3 4 5 | 6 0 7", .max_count = 3, .max_automatic = 1);
	expect_plan("0 | 1 2 3 4 5 6 7", .max_count = 2, .max_automatic = 6);
	expect_plan("0 | 1 2 3 4 5 6 7", .max_count = 2);
	expect_plan("1 2 3 0 7 | 4 5 6", .max_count = 1, .max_automatic = 3);
	/* The newest counts for its own kind. */
	items[8].automatic = true;
	expect_plan("1 0 | 2 3 4 5 6 7", .max_count = 1, .max_automatic = 6);
	/* What "@" means never goes, but counts, unless it is needed. */
	items[7].latest = true;
	expect_plan("1 0 | 2 3 4 5 6", .max_count = 1, .max_automatic = 6);
	items[7].needed = true;
	expect_plan("1 | 2 3 4 5 6 0", .max_count = 1, .max_automatic = 6);
	/* Expired ones of either kind go first. */
	items[0].expiry = now - 1;
	expect_plan("0 1 | 2 3 4 5 6", .expired = true, .max_automatic = 6);
	/* Keep rules are about those that somebody asked for. */
	begin("2026-06-17T12:30:00Z");
	add(3600);
	add_automatic(3500);
	add(60);
	add(0);
	expect_plan("2 | 1 0", .max_count = 1, .keep_hourly = 2);
}

static void test_evict_thinning(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add_automatic(31 * DAYS);		/* 0: too old */
	add_automatic(30 * DAYS);		/* 1: 05-18 12:00, the last of its day */
	add_automatic(9 * DAYS + 600);		/* 2: 06-08 11:50 */
	add_automatic(9 * DAYS);		/* 3: 06-08 12:00 */
	add(9 * DAYS - 1);			/* 4: asked for */
	add_automatic(3 * DAYS + 1);		/* 5: 06-14 11:59:59 */
	add_automatic(3 * DAYS);		/* 6: 06-14 12:00, another hour */
	add_automatic(3 * DAYS - 60);		/* 7: the same */
	add_automatic(3 * HOURS + 1);		/* 8: 8:59:59 */
	add_automatic(3 * HOURS);		/* 9: 9:00:00, another ten minutes */
	add_automatic(3 * HOURS - 599);		/* 10: 9:09:59 */
	add_automatic(3 * HOURS - 600);		/* 11: 9:10 */
	add_automatic(2 * HOURS + 1);		/* 12: 9:59:59 */
	add_automatic(2 * HOURS);		/* 13: not older than two hours */
	add_automatic(2 * HOURS);		/* 14: as 13 */
	add_automatic(-5 * DAYS);		/* 15: from a clock that was ahead */
	add(0);					/* 16 */
	expect_plan("0 2 6 9 | 1 3 5 7 8 10 11 12 13 14 15 4", THIN);
	expect_plan("| 0 1 2 3 5 6 7 8 9 10 11 12 13 14 15 4", .keep_all = 2 * HOURS);
	/* The limit comes after, and does not count what has gone. */
	expect_plan("0 2 6 9 | 1 3 5 7 8 10 11 12 13 14 15 4", THIN, .max_automatic = 11);
	expect_plan("0 1 2 6 9 | 3 5 7 8 10 11 12 13 14 15 4", THIN, .max_automatic = 10);
	/* One that stays anyway stands for its slot; one that has expired does not, nor stays. */
	items[7].needed = items[3].needed = true;
	items[10].expiry = now - 1;
	expect_plan("10 0 2 6 | 1 5 8 9 11 12 13 14 15 4", THIN);
	items[0].latest = true;
	expect_plan("10 2 6 | 1 5 8 9 11 12 13 14 15 4", THIN);
}

/* Whenever and however often it is done, of each old slot the last one is left. */
static void test_evict_thinning_over_time(void **state)
{
	struct evict_rules rules = { THIN };
	char iso[CLOCK_ISO_SIZE];

	(void)state;
	begin("2026-06-01T00:00:00Z");
	for (int64_t start = now; now < start + 40 * DAYS; now += 35 * 60) {
		struct evict_plan plan;
		size_t left = 0;
		int64_t next;

		assert_true(items_nr < MAX_ITEMS);
		add_automatic(0);
		evict_plan(&plan, items, items_nr, &rules, now);
		for (size_t i = 0; i < plan.due; i++)
			items[plan.items[i].item].created_at = 0;
		for (size_t i = 0; i < items_nr; i++)
			if (items[i].created_at)
				items[left++] = items[i];
		items_nr = left;
		evict_plan_release(&plan);
		/* Nothing is due before it is said to be. */
		next = evict_next_thinning(items, items_nr, &rules, now);
		assert_true(next > now);
		evict_plan(&plan, items, items_nr, &rules, next - 1);
		assert_int_equal(plan.due, 0);
		evict_plan_release(&plan);
	}
	/* One for each of 30 days, each of 24 * 7 hours, and each save of the last day. */
	assert_in_range(items_nr, 23 + 6 * 24 + 40, 24 + 6 * 24 + 43);
	assert_string_equal(clock_format_iso(iso, items[0].created_at), "2026-06-10T23:45:00Z");
}

static void test_evict_size(void **state)
{
	static const uint64_t bytes[] = { 10, 0, 30, 5 };
	static const struct {
		uint64_t over, max_count;
		size_t due;
		bool reached;
	} rows[] = {
		{ 0, 0, 0, true },  { 1, 0, 1, true },  { 10, 0, 1, true }, { 11, 0, 3, true },
		{ 40, 0, 3, true }, { 45, 0, 4, true }, { 46, 0, 0, false }, { 0, 3, 2, true },
		{ 10, 3, 2, true }, { 11, 3, 3, true }, { 46, 3, 2, false },
	};

	(void)state;
	begin("2026-06-17T12:00:00Z");
	for (int i = 5; i > 0; i--)
		add(i);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evict_rules rules = { .max_count = rows[i].max_count };
		struct evict_plan plan;

		evict_plan(&plan, items, items_nr, &rules, now);
		assert_int_equal(evict_extend(&plan, bytes, rows[i].over), rows[i].reached);
		assert_int_equal(plan.due, rows[i].due);
		for (size_t j = 0; j < plan.nr; j++)
			assert_int_equal(plan.items[j].why != EVICT_NOT_DUE, j < plan.due);
		evict_plan_release(&plan);
	}
}

static void test_evict_reasons(void **state)
{
	struct evict_rules rules = { .max_count = 50, .max_age = 7 * DAYS, .max_size = 10000000,
				     .max_automatic = 7, THIN };
	struct evict_item plain = { 0 }, expired = { .expiry = 1000000000 };
	static const struct {
		enum evict_why why;
		const char *plain, *expired;
	} rows[] = {
		{ EVICT_COUNT, "maxCount 50", "maxCount 50, expired 2001-09-09T01:46:40Z" },
		{ EVICT_AGE, "maxAge 1w", "maxAge 1w" },
		{ EVICT_SIZE, "maxSize 10.0 MB", "maxSize 10.0 MB, expired 2001-09-09T01:46:40Z" },
		{ EVICT_EXPIRED, NULL, "expired 2001-09-09T01:46:40Z" },
		{ EVICT_THIN, "thinAutomatic 10m:1d",
		  "thinAutomatic, older than 30d, expired 2001-09-09T01:46:40Z" },
	};

	(void)state;
	plain.taken = 2000000000 - 3 * HOURS;
	expired.taken = 2000000000 - 31 * DAYS;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf text = STRBUF_INIT;

		if (rows[i].plain) {
			evict_explain(&text, rows[i].why, &plain, &rules, 2000000000);
			assert_string_equal(text.buf, rows[i].plain);
		}
		strbuf_reset(&text);
		evict_explain(&text, rows[i].why, &expired, &rules, 2000000000);
		assert_string_equal(text.buf, rows[i].expired);
		strbuf_reset(&text);
		plain.automatic = true;
		evict_explain(&text, EVICT_COUNT, &plain, &rules, 2000000000);
		assert_string_equal(text.buf, "maxAutomatic 7");
		plain.automatic = false;
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evict_nothing_there),
		cmocka_unit_test(test_evict_count),
		cmocka_unit_test(test_evict_expired_ones_go_first),
		cmocka_unit_test(test_evict_age),
		cmocka_unit_test(test_evict_age_by_a_wrong_clock),
		cmocka_unit_test(test_evict_agreed_time),
		cmocka_unit_test(test_evict_keep_days_of_a_wrong_clock),
		cmocka_unit_test(test_evict_keep_hourly),
		cmocka_unit_test(test_evict_keep_daily_and_weekly),
		cmocka_unit_test(test_evict_keep_before_1970),
		cmocka_unit_test(test_evict_automatic_count),
		cmocka_unit_test(test_evict_thinning),
		cmocka_unit_test(test_evict_thinning_over_time),
		cmocka_unit_test(test_evict_size),
		cmocka_unit_test(test_evict_reasons),
	};

	return cmocka_run_group_tests_name("evict", tests, NULL, NULL);
}
