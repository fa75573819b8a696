/* SPDX-License-Identifier: MIT */
#include "retention/evict.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "unit.h"

enum { MAX_ITEMS = 256, HOURS = 3600, DAYS = 86400 };

static struct evict_item items[MAX_ITEMS];
static size_t items_nr;
static int64_t now;

static int64_t at(const char *iso)
{
	int64_t when;

	assert_true(clock_parse_iso(&when, iso));
	return when;
}

static void begin(const char *iso)
{
	now = at(iso);
	items_nr = 0;
	memset(items, 0, sizeof(items));
}

static struct evict_item *add(int64_t age)
{
	struct evict_item *item = &items[items_nr++];

	item->created_at = now - age;
	return item;
}

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
	/* Pinned and exempt ones stay and do not count. */
	items[1].pinned = true;
	expect_plan("| 0 2 3", .max_count = 4);
	expect_plan("0 | 2 3", .max_count = 3);
	items[2].exempt = true;
	expect_plan("0 | 3", .max_count = 2);
	expect_plan("0 3 |", .max_count = 1);
	/* The newest counts, unless it is pinned. */
	items[4].exempt = true;
	expect_plan("0 | 3", .max_count = 2);
	items[4].pinned = true;
	expect_plan("| 0 3", .max_count = 2);
	expect_plan("0 | 3", .max_count = 1);
	/* Reserved ones do not count, and come after all others. */
	items[0].reserved = true;
	expect_plan("| 3 0", .max_count = 1);
	expect_plan("3 | 0", .max_age = 1);
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
	items[3].pinned = true;
	items[2].exempt = true;
	expect_plan("4 | 0 1", .expired = true);
}

static void test_evict_age(void **state)
{
	(void)state;
	begin("2026-06-17T12:00:00Z");
	add(10 * DAYS);
	add(8 * DAYS);
	add(7 * DAYS);
	add(-5 * DAYS); /* from a clock that was ahead */
	add(9 * DAYS);	/* and one that went back */
	add(0);
	expect_plan("0 1 4 | 2 3", .max_age = 7 * DAYS);
	expect_plan("0 1 2 4 | 3", .max_age = 7 * DAYS - 1);
	expect_plan("0 1 2 4 | 3", .max_age = 1);
	expect_plan("0 1 4 | 2 3", .max_age = 7 * DAYS, .max_count = 3);
	expect_plan("0 1 2 4 | 3", .max_age = 7 * DAYS, .max_count = 2);
	/* A time that overflows when it is subtracted from has no age either. */
	items[2].created_at = INT64_MAX;
	expect_plan("0 1 4 | 2 3", .max_age = 7 * DAYS);
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
	/* One that is pinned does stand for it. */
	items[8].pinned = true;
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
	/* What "@" means never goes, but counts, unless it is exempt. */
	items[7].latest = true;
	expect_plan("1 0 | 2 3 4 5 6", .max_count = 1, .max_automatic = 6);
	items[7].exempt = true;
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

#define THIN                                                                                       \
	.keep_all = 2 * HOURS, .thin = {                                                           \
		.items = { { 600, DAYS }, { HOURS, 7 * DAYS }, { DAYS, 30 * DAYS } }, .nr = 3      \
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
	items[7].pinned = items[3].exempt = true;
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
	plain.created_at = 2000000000 - 3 * HOURS;
	expired.created_at = 2000000000 - 31 * DAYS;
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

/* --- random ones, against what the rules promise --- */

static bool gone[MAX_ITEMS];

static bool expired(size_t i)
{
	return items[i].expiry && items[i].expiry <= now;
}

static bool is_reserved(size_t i)
{
	return !items[i].pinned && !items[i].exempt && items[i].reserved && !items[i].latest &&
	       i + 1 < items_nr;
}

static bool is_free(size_t i)
{
	return !items[i].pinned && !items[i].exempt && !items[i].reserved && !items[i].latest &&
	       i + 1 < items_nr;
}

/* True if a keep rule keeps `i`, said the slow way. */
static bool kept(size_t i, uint64_t count, int64_t length, int64_t shift, const bool *before)
{
	int64_t mine = (items[i].created_at + shift) / length, slots[MAX_ITEMS];
	size_t newer = 0;

	if (expired(i) || items[i].automatic)
		return false;
	for (size_t j = items_nr; j-- > i + 1;) {
		int64_t slot = (items[j].created_at + shift) / length;
		bool known = false;

		if (before[j] || expired(j) || items[j].automatic)
			continue;
		if (slot == mine)
			return false;
		for (size_t k = 0; k < newer; k++)
			known = known || slots[k] == slot;
		if (!known)
			slots[newer++] = slot;
	}
	return newer < count;
}

static bool goes_before(size_t a, size_t b)
{
	if (expired(a) != expired(b))
		return expired(a);
	if (expired(a) && items[a].expiry != items[b].expiry)
		return items[a].expiry < items[b].expiry;
	if (!expired(a) && items[a].automatic != items[b].automatic)
		return items[a].automatic;
	return a < b;
}

/* The range of its age, said the slow way: -1 young, 3 beyond. */
static int range_of(size_t i, const struct evict_rules *rules)
{
	int64_t age = now - items[i].created_at;

	if (age <= rules->keep_all)
		return -1;
	for (size_t r = 0; r < rules->thin.nr; r++)
		if (age <= rules->thin.items[r].until)
			return (int)r;
	return (int)rules->thin.nr;
}

/* Thinned out is what has a newer one in its slot, or is too old for any. */
static bool is_thin(size_t i, const struct evict_rules *rules, const bool *before)
{
	int range = range_of(i, rules);
	int64_t length;

	if (!rules->thin.nr || !items[i].automatic || range < 0)
		return false;
	if (range == (int)rules->thin.nr || expired(i))
		return true;
	length = rules->thin.items[range].slot;
	for (size_t j = i + 1; j < items_nr; j++)
		if (items[j].automatic && !before[j] && !expired(j) &&
		    range_of(j, rules) == range &&
		    items[j].created_at / length == items[i].created_at / length)
			return true;
	return false;
}

/* Exactly those beyond the limit that no rule keeps. */
static void check_count(const struct evict_rules *rules, const bool *before, const bool *by_count,
			bool automatic)
{
	uint64_t limit = automatic ? rules->max_automatic : rules->max_count;
	bool mine[MAX_ITEMS] = { false };
	size_t counted = 0;

	for (size_t i = 0; i < items_nr; i++) {
		const struct evict_item *item = &items[i];

		mine[i] = is_free(i) && !before[i] && item->automatic == automatic &&
			  !is_thin(i, rules, before);
		counted += mine[i];
		if (item->automatic != automatic || item->pinned)
			continue;
		counted += i + 1 == items_nr || (item->latest && !item->exempt && !item->reserved);
	}
	for (size_t i = 0; i < items_nr; i++) {
		bool keep = kept(i, rules->keep_hourly, HOURS, 0, before) ||
			    kept(i, rules->keep_daily, DAYS, 0, before) ||
			    kept(i, rules->keep_weekly, 7 * DAYS, 3 * DAYS, before);
		size_t rank = 0;

		for (size_t j = 0; j < items_nr; j++)
			rank += mine[j] && goes_before(j, i);
		if (mine[i])
			assert_int_equal(by_count[i], limit && !keep && rank + limit < counted);
	}
}

static void check_plan(const struct evict_rules *rules, const struct evict_plan *plan)
{
	bool before[MAX_ITEMS] = { false }, by_count[MAX_ITEMS] = { false };
	size_t free_nr = 0, reserved_nr = 0;

	memset(gone, 0, sizeof(gone));
	for (size_t i = 0; i < items_nr; i++)
		free_nr += is_free(i);
	for (size_t i = 0; i < items_nr; i++)
		reserved_nr += is_reserved(i);
	assert_int_equal(plan->nr, free_nr + reserved_nr);
	/* Reserved ones come last, as saved, and no rule wants them. */
	assert_true(plan->due <= free_nr);
	for (size_t i = free_nr; i < plan->nr; i++) {
		assert_true(is_reserved(plan->items[i].item));
		assert_int_equal(plan->items[i].why, EVICT_NOT_DUE);
		if (i > free_nr)
			assert_true(plan->items[i - 1].item < plan->items[i].item);
	}
	for (size_t i = 0; i < free_nr; i++) {
		size_t item = plan->items[i].item;
		enum evict_why why = plan->items[i].why;
		bool old = rules->max_age && now - items[item].created_at > rules->max_age;

		assert_true(is_free(item));
		assert_false(gone[item]);
		assert_int_equal(why != EVICT_NOT_DUE, i < plan->due);
		if (i < plan->due)
			gone[item] = true;
		assert_int_equal(why == EVICT_EXPIRED, rules->expired && expired(item));
		assert_int_equal(why == EVICT_AGE, !(rules->expired && expired(item)) && old);
		before[item] = why == EVICT_EXPIRED || why == EVICT_AGE;
		by_count[item] = why == EVICT_COUNT;
	}
	/* Within what is due, and within the rest: expired ones by their time, then as saved. */
	for (size_t i = 1; i < free_nr; i++)
		if (i != plan->due)
			assert_true(goes_before(plan->items[i - 1].item, plan->items[i].item));
	for (size_t i = 0; i < free_nr; i++) {
		size_t item = plan->items[i].item;

		assert_int_equal(plan->items[i].why == EVICT_THIN,
				 !before[item] && is_thin(item, rules, before));
	}
	check_count(rules, before, by_count, false);
	check_count(rules, before, by_count, true);
}

static void check_extend(struct evict_plan *plan)
{
	uint64_t bytes[MAX_ITEMS], all = 0, sum = 0, over;
	size_t before = plan->due;

	for (size_t i = 0; i < plan->nr; i++)
		all += bytes[i] = rnd(4) ? rnd(1000) : 0;
	over = rnd((unsigned)(all + all / 4 + 2));
	if (!evict_extend(plan, bytes, over)) {
		assert_true(all < over);
		assert_int_equal(plan->due, before);
		return;
	}
	for (size_t i = 0; i < plan->due; i++)
		sum += bytes[i];
	assert_true(sum >= over);
	/* Not one more than needed. */
	if (plan->due > before)
		assert_true(sum - bytes[plan->due - 1] < over);
}

static void test_evict_random(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct evict_rules rules = {
			.max_count = rnd(3) ? rnd(20) : 0,
			.max_automatic = rnd(3) ? rnd(20) : 0,
			THIN,
			.max_age = rnd(3) ? 0 : (int64_t)rnd(40 * DAYS),
			.expired = !rnd(3),
			.keep_hourly = rnd(2) ? rnd(5) : 0,
			.keep_daily = rnd(2) ? rnd(5) : 0,
			.keep_weekly = rnd(2) ? rnd(5) : 0,
		};
		struct evict_plan plan;
		int64_t age = 60 * DAYS;
		unsigned nr = rnd(30), latest = rnd(40);

		rules.thin.nr = rnd(4);
		begin("2026-06-17T12:00:00Z");
		while (items_nr < nr) {
			struct evict_item *item = add(age);

			age -= (int64_t)rnd(4 * DAYS) / (1 + (int64_t)rnd(50));
			/* Clocks go back now and then. */
			age += rnd(20) ? 0 : (int64_t)rnd(3 * DAYS);
			item->expiry = rnd(4) ? 0 : now + (int64_t)rnd(9) - 5;
			item->pinned = !rnd(8);
			item->exempt = !rnd(8);
			item->reserved = !rnd(8);
			item->automatic = rnd(2);
			item->latest = items_nr == latest;
		}
		evict_plan(&plan, items, items_nr, &rules, now);
		check_plan(&rules, &plan);
		check_extend(&plan);
		evict_plan_release(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evict_nothing_there),
		cmocka_unit_test(test_evict_count),
		cmocka_unit_test(test_evict_expired_ones_go_first),
		cmocka_unit_test(test_evict_age),
		cmocka_unit_test(test_evict_keep_hourly),
		cmocka_unit_test(test_evict_keep_daily_and_weekly),
		cmocka_unit_test(test_evict_keep_before_1970),
		cmocka_unit_test(test_evict_automatic_count),
		cmocka_unit_test(test_evict_thinning),
		cmocka_unit_test(test_evict_thinning_over_time),
		cmocka_unit_test(test_evict_size),
		cmocka_unit_test(test_evict_reasons),
		cmocka_unit_test(test_evict_random),
	};

	return cmocka_run_group_tests_name("evict", tests, NULL, NULL);
}
