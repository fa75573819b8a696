/* SPDX-License-Identifier: MIT */
#include "retention/evict.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Invariants 1 and 2. */
static bool may_go(const struct evict_item *items, size_t nr, size_t i, bool reserved)
{
	return !items[i].pinned && !items[i].exempt && items[i].reserved == reserved && i + 1 < nr;
}

/* --- the order in which they go: invariant 3 --- */

struct candidate {
	size_t item;
	int64_t expiry; /* 0: not expired */
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
	return a->item < b->item ? -1 : a->item > b->item;
}

static struct candidate *collect(size_t *nr_out, const struct evict_item *items, size_t nr,
				 int64_t now)
{
	struct candidate *list = xcalloc(nr ? nr : 1, sizeof(*list));
	size_t found = 0;

	for (size_t i = 0; i < nr; i++)
		if (may_go(items, nr, i, false)) {
			list[found].item = i;
			list[found++].expiry = has_expired(&items[i], now) ? items[i].expiry : 0;
		}
	if (found)
		qsort(list, found, sizeof(*list), by_order);
	*nr_out = found;
	return list;
}

/* --- what the rules say: invariants 4 and 5 --- */

static void judge_alone(struct candidate *list, size_t nr, const struct evict_item *items,
			const struct evict_rules *rules, int64_t now)
{
	for (size_t i = 0; i < nr; i++) {
		int64_t created = items[list[i].item].created_at;

		if (rules->expired && list[i].expiry)
			list[i].why = EVICT_EXPIRED;
		else if (rules->max_age && created < now && now - created > rules->max_age)
			list[i].why = EVICT_AGE;
	}
}

/* Rounded down, even before 1970. */
static int64_t slot_of(int64_t when, int64_t length, int64_t shift)
{
	int64_t slot = (when + shift) / length;

	return (when + shift) % length < 0 ? slot - 1 : slot;
}

/*
 * Of each of the last `count` time slots that have one, mark the one saved
 * last. `by_item` maps an item to its candidate; NULL: it does not go anyway,
 * but it represents its slot.
 */
static void keep_slots(struct candidate **by_item, const struct evict_item *items, size_t nr,
		       uint64_t count, int64_t length, int64_t shift, int64_t now)
{
	int64_t *seen = xmalloc((nr ? nr : 1) * sizeof(*seen));
	size_t found = 0;

	for (size_t i = nr; i-- && found < count;) {
		int64_t slot = slot_of(items[i].created_at, length, shift);
		bool is_new = true;

		if (has_expired(&items[i], now) || (by_item[i] && by_item[i]->why))
			continue;
		for (size_t j = found; j-- && is_new;)
			is_new = seen[j] != slot;
		if (!is_new)
			continue;
		seen[found++] = slot;
		if (by_item[i])
			by_item[i]->kept = true;
	}
	free(seen);
}

static void judge_count(struct candidate *list, size_t nr, const struct evict_item *items,
			size_t items_nr, const struct evict_rules *rules, int64_t now)
{
	struct candidate **by_item = xcalloc(items_nr ? items_nr : 1, sizeof(struct candidate *));
	uint64_t counted = items_nr && !items[items_nr - 1].pinned, beyond;

	for (size_t i = 0; i < nr; i++) {
		by_item[list[i].item] = &list[i];
		counted += !list[i].why;
	}
	beyond = rules->max_count && counted > rules->max_count ? counted - rules->max_count : 0;
	if (beyond) {
		keep_slots(by_item, items, items_nr, rules->keep_hourly, HOUR, 0, now);
		keep_slots(by_item, items, items_nr, rules->keep_daily, DAY, 0, now);
		keep_slots(by_item, items, items_nr, rules->keep_weekly, WEEK, WEEK_SHIFT, now);
	}
	for (size_t i = 0; i < nr && beyond; i++) {
		if (list[i].why)
			continue;
		beyond--;
		if (!list[i].kept)
			list[i].why = EVICT_COUNT;
	}
	free(by_item);
}

void evict_plan(struct evict_plan *out, const struct evict_item *items, size_t nr,
		const struct evict_rules *rules, int64_t now)
{
	size_t found;
	struct candidate *list = collect(&found, items, nr, now);

	judge_alone(list, found, items, rules, now);
	judge_count(list, found, items, nr, rules, now);
	memset(out, 0, sizeof(*out));
	out->items = xcalloc(nr ? nr : 1, sizeof(*out->items));
	for (int due = 1; due >= 0; due--)
		for (size_t i = 0; i < found; i++)
			if ((list[i].why != EVICT_NOT_DUE) == due) {
				out->items[out->nr].item = list[i].item;
				out->items[out->nr++].why = list[i].why;
				out->due += (size_t)due;
			}
	for (size_t i = 0; i < nr; i++)
		if (may_go(items, nr, i, true))
			out->items[out->nr++].item = i;
	free(list);
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
	case EVICT_COUNT:
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
