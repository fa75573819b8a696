/* SPDX-License-Identifier: MIT */
#include "keep/evict.h"

enum { HOUR = 3600, DAY = 24 * HOUR, WEEK = 7 * DAY };

/* 1970-01-01 was a Thursday: weeks that begin on Monday began three days earlier. */
enum { WEEK_SHIFT = 3 * DAY };

void evict_plan_release(struct evict_plan *plan)
{
	free(plan->items);
	memset(plan, 0, sizeof(*plan));
}

static bool has_expired(const struct evict_item *item, int64_t now)
{
	return item->expiry && item->expiry <= now;
}

static void set_taken(struct evict_item *items, size_t nr, int64_t now)
{
	int64_t last = INT64_MIN, next = now;

	for (size_t i = 0; i < nr; i++) {
		bool believed = items[i].created_at <= now && items[i].created_at >= last;

		if (believed)
			last = items[i].created_at;
		items[i].taken = believed ? last : INT64_MAX;
	}
	for (size_t i = nr; i--;) {
		if (items[i].taken == INT64_MAX)
			items[i].taken = next;
		next = items[i].taken;
	}
}

static bool older_than(const struct evict_item *item, int64_t age, int64_t now)
{
	return item->taken < now && now - item->taken > age;
}

/* Invariants 1 and 2. */
static bool may_go(const struct evict_item *items, size_t nr, size_t i)
{
	return !items[i].needed && !items[i].latest && i + 1 < nr;
}

/* Invariant 2, of those that may not go. */
static bool stays_and_counts(const struct evict_item *items, size_t nr, size_t i)
{
	const struct evict_item *item = &items[i];

	return !item->needed && (i + 1 == nr || item->latest);
}

/* --- the order in which they go: invariant 3 --- */

struct candidate {
	size_t item;
	int64_t expiry; /* 0: not expired */
	bool automatic;
	enum evict_why why;
	bool kept; /* by a keep rule */
};

static int by_order(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (!a->expiry != !b->expiry)
		return a->expiry ? -1 : 1;
	if (a->expiry != b->expiry)
		return a->expiry < b->expiry ? -1 : 1;
	if (!a->expiry && a->automatic != b->automatic)
		return a->automatic ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static struct candidate *collect_candidates(size_t *nr_out, const struct evict_item *items,
					    size_t nr, int64_t now)
{
	struct candidate *list = xcalloc(nr ? nr : 1, sizeof(*list));
	size_t found = 0;

	for (size_t i = 0; i < nr; i++)
		if (may_go(items, nr, i)) {
			list[found].item = i;
			list[found].automatic = items[i].automatic;
			list[found++].expiry = has_expired(&items[i], now) ? items[i].expiry : 0;
		}
	if (found)
		qsort(list, found, sizeof(*list), by_order);
	*nr_out = found;
	return list;
}

/* --- what the rules say: invariants 4 to 6 --- */

static void judge_alone(struct candidate *list, size_t nr, const struct evict_item *items,
			const struct evict_rules *rules, int64_t now)
{
	for (size_t i = 0; i < nr; i++) {
		if (rules->expired && list[i].expiry)
			list[i].why = EVICT_EXPIRED;
		else if (rules->max_age && older_than(&items[list[i].item], rules->max_age, now))
			list[i].why = EVICT_AGE;
	}
}

/* Rounded down, even before 1970. */
static int64_t slot_of(int64_t when, int64_t length, int64_t shift)
{
	int64_t slot = (when + shift) / length;

	return (when + shift) % length < 0 ? slot - 1 : slot;
}

/* --- thinning out --- */

/* The range of its age; thin.nr if it is beyond all of them, -1 if it is too young for any. */
static int range_of(const struct evict_item *item, const struct evict_rules *rules, int64_t now)
{
	size_t range = 0;

	if (!older_than(item, rules->keep_all, now))
		return -1;
	while (range < rules->thin.nr && older_than(item, rules->thin.items[range].until, now))
		range++;
	return (int)range;
}

struct slot {
	int range;
	int64_t number;
};

/* False if it has been there before. */
static bool add_slot(struct slot *seen, size_t *nr, int range, int64_t number)
{
	for (size_t i = *nr; i--;)
		if (seen[i].range == range && seen[i].number == number)
			return false;
	seen[*nr].range = range;
	seen[(*nr)++].number = number;
	return true;
}

/* Those that do not go anyway have no candidate, but stand for their slots. */
static void judge_thinning(struct candidate **by_item, const struct evict_item *items, size_t nr,
			   const struct evict_rules *rules, int64_t now)
{
	struct slot *seen = xmalloc((nr ? nr : 1) * sizeof(*seen));
	size_t found = 0;

	for (size_t i = rules->thin.nr ? nr : 0; i--;) {
		int range = items[i].automatic ? range_of(&items[i], rules, now) : -1;
		bool stays = false;

		if (range < 0 || (by_item[i] && by_item[i]->why))
			continue;
		if (range < (int)rules->thin.nr && !has_expired(&items[i], now))
			stays = add_slot(seen, &found, range,
					 slot_of(items[i].created_at, rules->thin.items[range].slot,
						 0));
		if (!stays && by_item[i])
			by_item[i]->why = EVICT_THIN;
	}
	free(seen);
}

int64_t evict_next_thinning(const struct evict_item *items, size_t nr,
			    const struct evict_rules *rules, int64_t now)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < nr && rules->thin.nr; i++) {
		int range = items[i].automatic ? range_of(&items[i], rules, now) : INT32_MAX;
		int64_t limit, taken = items[i].taken;

		if (range >= (int)rules->thin.nr)
			continue;
		limit = range < 0 ? rules->keep_all : rules->thin.items[range].until;
		if (taken <= INT64_MAX - 1 - limit && taken + limit + 1 < next)
			next = taken + limit + 1;
	}
	return next;
}

/* --- limits --- */

/*
 * Of each of the last `count` time slots that have one, mark the one saved
 * last. `by_item` maps an item to its candidate; NULL: it does not go anyway,
 * but it represents its slot. If a clock was ahead once, that takes nothing away
 * from the slots that have come; if it is slow now, all of them seem to be ahead.
 */
static void keep_slots(struct candidate **by_item, const struct evict_item *items, size_t nr,
		       uint64_t count, int64_t length, int64_t shift, int64_t now)
{
	struct slot *seen = xmalloc((nr ? nr : 1) * sizeof(*seen));
	size_t found = 0;
	uint64_t counted = 0;

	for (size_t i = nr; i-- && counted < count;) {
		bool ahead = items[i].created_at > now;

		if (items[i].automatic || has_expired(&items[i], now) ||
		    (by_item[i] && by_item[i]->why))
			continue;
		if (!add_slot(seen, &found, ahead, slot_of(items[i].created_at, length, shift)))
			continue;
		counted += !ahead;
		if (by_item[i])
			by_item[i]->kept = true;
	}
	free(seen);
}

/* How many automatic ones, or others, there are too many. */
static uint64_t count_beyond(const struct candidate *list, size_t nr,
			     const struct evict_item *items, size_t items_nr, bool automatic,
			     uint64_t limit)
{
	uint64_t counted = 0;

	for (size_t i = 0; i < items_nr; i++)
		counted += items[i].automatic == automatic && stays_and_counts(items, items_nr, i);
	for (size_t i = 0; i < nr; i++)
		counted += list[i].automatic == automatic && !list[i].why;
	return limit && counted > limit ? counted - limit : 0;
}

static void judge_count(struct candidate *list, size_t nr, bool automatic, uint64_t beyond)
{
	for (size_t i = 0; i < nr && beyond; i++) {
		if (list[i].why || list[i].automatic != automatic)
			continue;
		beyond--;
		if (!list[i].kept)
			list[i].why = EVICT_COUNT;
	}
}

static void judge_together(struct candidate *list, size_t nr, const struct evict_item *items,
			   size_t items_nr, const struct evict_rules *rules, int64_t now)
{
	struct candidate **by_item = xcalloc(items_nr ? items_nr : 1, sizeof(struct candidate *));
	uint64_t beyond = count_beyond(list, nr, items, items_nr, false, rules->max_count);

	for (size_t i = 0; i < nr; i++)
		by_item[list[i].item] = &list[i];
	if (beyond) {
		keep_slots(by_item, items, items_nr, rules->keep_hourly, HOUR, 0, now);
		keep_slots(by_item, items, items_nr, rules->keep_daily, DAY, 0, now);
		keep_slots(by_item, items, items_nr, rules->keep_weekly, WEEK, WEEK_SHIFT, now);
	}
	judge_count(list, nr, false, beyond);
	judge_thinning(by_item, items, items_nr, rules, now);
	judge_count(list, nr, true,
		    count_beyond(list, nr, items, items_nr, true, rules->max_automatic));
	free(by_item);
}

void evict_plan(struct evict_plan *out, struct evict_item *items, size_t nr,
		const struct evict_rules *rules, int64_t now)
{
	size_t found;
	struct candidate *list = collect_candidates(&found, items, nr, now);

	set_taken(items, nr, now);
	judge_alone(list, found, items, rules, now);
	judge_together(list, found, items, nr, rules, now);
	memset(out, 0, sizeof(*out));
	out->items = xcalloc(nr ? nr : 1, sizeof(*out->items));
	for (int due = 1; due >= 0; due--)
		for (size_t i = 0; i < found; i++)
			if ((list[i].why != EVICT_NOT_DUE) == due) {
				out->items[out->nr].item = list[i].item;
				out->items[out->nr++].why = list[i].why;
				out->due += (size_t)due;
			}
	free(list);
}

int64_t evict_agreed_time(const struct evict_item *items, size_t nr, int64_t now)
{
	int64_t after = now;

	for (size_t i = nr; i-- && after >= now - DAY;) {
		/* A time in the future tells nothing about now. */
		if (items[i].created_at > now)
			continue;
		if (items[i].created_at < after - 2 * DAY)
			return items[i].created_at;
		after = items[i].created_at;
	}
	return now;
}

bool evict_extend(struct evict_plan *plan, const uint64_t *bytes, uint64_t over)
{
	uint64_t sum = 0;
	size_t need = 0;

	while (need < plan->nr && (need < plan->due || sum < over))
		sum += bytes[need++];
	if (sum < over)
		return false;
	for (; plan->due < need; plan->due++)
		plan->items[plan->due].why = EVICT_SIZE;
	return true;
}

/* --- for people --- */

/* "thinAutomatic 10m:1d", of the range that it is in. */
static void explain_thinning(struct strbuf *out, const struct evict_item *item,
			     const struct evict_rules *rules, int64_t now)
{
	int range = range_of(item, rules, now);
	struct ckpt_thinning one = { .nr = 1 };
	char text[CLOCK_ISO_SIZE], *shown;

	if (range < 0 || !rules->thin.nr)
		return;
	if (range == (int)rules->thin.nr) {
		strbuf_addf(out, "thinAutomatic, older than %s",
			    clock_format_duration(text, rules->thin.items[range - 1].until));
		return;
	}
	one.items[0] = rules->thin.items[range];
	shown = setting_format_thinning(&one);
	strbuf_addf(out, "thinAutomatic %s", shown);
	free(shown);
}

void evict_explain(struct strbuf *out, enum evict_why why, const struct evict_item *item,
		   const struct evict_rules *rules, int64_t now)
{
	char text[CLOCK_ISO_SIZE], size[UNITS_SIZE];

	switch (why) {
	case EVICT_NOT_DUE:
		return;
	case EVICT_EXPIRED:
		break;
	case EVICT_AGE:
		strbuf_addf(out, "maxAge %s", clock_format_duration(text, rules->max_age));
		return;
	case EVICT_THIN:
		explain_thinning(out, item, rules, now);
		break;
	case EVICT_COUNT:
		if (item->automatic)
			strbuf_addf(out, "maxAutomatic %" PRIu64, rules->max_automatic);
		else
			strbuf_addf(out, "maxCount %" PRIu64, rules->max_count);
		break;
	case EVICT_SIZE:
		strbuf_addf(out, "maxSize %s", units_format_size(size, rules->max_size));
		break;
	}
	if (has_expired(item, now))
		strbuf_addf(out, "%sexpired %s", why == EVICT_EXPIRED ? "" : ", ",
			    clock_format_iso(text, item->expiry));
}
