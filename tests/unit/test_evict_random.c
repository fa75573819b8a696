/* SPDX-License-Identifier: MIT */
#include "keep/evict.h"

#include "base/alloc.h"
#include "unit.h"

#include "evictgen.h"

/* Random checkpoints and rules, against what the rules promise. */

static bool gone[MAX_ITEMS];

static bool expired(size_t i)
{
	return items[i].expiry && items[i].expiry <= now;
}

static bool is_free(size_t i)
{
	return !items[i].needed && !items[i].latest && i + 1 < items_nr;
}

/* True if a keep rule keeps `i`, said the slow way. */
static bool kept(size_t i, uint64_t count, int64_t length, int64_t shift, const bool *before)
{
	int64_t mine = (items[i].created_at + shift) / length, slots[MAX_ITEMS];
	size_t newer = 0;

	bool ahead = items[i].created_at > now;

	if (expired(i) || items[i].automatic)
		return false;
	for (size_t j = items_nr; j-- > i + 1;) {
		int64_t slot = (items[j].created_at + shift) / length;
		bool known = false;

		if (before[j] || expired(j) || items[j].automatic)
			continue;
		if (slot == mine && ahead == (items[j].created_at > now))
			return false;
		if (items[j].created_at > now)
			continue;
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

static bool is_believed(size_t i)
{
	if (items[i].created_at > now)
		return false;
	for (size_t j = 0; j < i; j++)
		if (items[j].created_at > items[i].created_at && is_believed(j))
			return false;
	return true;
}

static int64_t age_of(size_t i)
{
	while (i < items_nr && !is_believed(i))
		i++;
	return i < items_nr ? now - items[i].created_at : 0;
}

/* The range of its age, said the slow way: -1 young, 3 beyond. */
static int range_of(size_t i, const struct evict_rules *rules)
{
	int64_t age = age_of(i);

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
		if (item->automatic != automatic || item->needed)
			continue;
		counted += i + 1 == items_nr || item->latest;
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
	size_t free_nr = 0;

	memset(gone, 0, sizeof(gone));
	for (size_t i = 0; i < items_nr; i++)
		free_nr += is_free(i);
	assert_int_equal(plan->nr, free_nr);
	for (size_t i = 0; i < free_nr; i++) {
		size_t item = plan->items[i].item;
		enum evict_why why = plan->items[i].why;
		bool old = rules->max_age && age_of(item) > rules->max_age;

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
			if (!rnd(10))
				item->created_at += (int64_t)rnd(400 * DAYS) - 10 * DAYS;
			item->expiry = rnd(4) ? 0 : now + (int64_t)rnd(9) - 5;
			item->needed = !rnd(4);
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
		cmocka_unit_test(test_evict_random),
	};

	return cmocka_run_group_tests_name("evict: random", tests, NULL, NULL);
}
