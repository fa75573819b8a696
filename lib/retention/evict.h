/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_EVICT_H
#define CKPT_RETENTION_EVICT_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Which checkpoints have to go: a pure function of the checkpoints, the rules
 * and the time. Changes nothing; retain.c carries it out.
 *
 *  1. Pinned and exempt ones never go.
 *  2. The last item is the newest. It never goes, but counts (unless it is
 *     pinned); other exempt ones and pinned ones do not count.
 *  3. What has to go, goes in this order: expired ones, in the order in which
 *     they expired; then in the order of saving.
 *  4. Always due: those older than max_age (a time in the future has no age),
 *     and expired ones if `expired` says so.
 *  5. Of the rest, as many as exceed max_count are due, in the order of 3,
 *     except those that a keep rule keeps: of each of the last n hours, days or
 *     weeks (UTC; weeks begin on Monday) that have a checkpoint, the one saved
 *     last. Expired ones are not kept, and do not count for a keep rule.
 *  6. For bytes, more go in the order of 3, kept by a rule or not; if these are
 *     not enough, reserved ones in the order of saving. Reserved ones go for
 *     nothing else, and do not count.
 */
struct evict_item {
	int64_t created_at;
	int64_t expiry; /**< 0: never */
	bool pinned;
	bool exempt;
	bool reserved;
};

struct evict_rules {
	uint64_t max_count; /**< 0: no limit */
	int64_t max_age;    /**< seconds; 0: no limit */
	uint64_t max_size;  /**< bytes; 0: no limit. Only for evict_why(); see evict_extend() */
	uint64_t keep_hourly, keep_daily, keep_weekly;
	bool expired; /**< expired ones go even if no limit is reached */
};

enum evict_why { EVICT_NOT_DUE, EVICT_EXPIRED, EVICT_AGE, EVICT_COUNT, EVICT_SIZE };

struct evict_victim {
	size_t item; /**< index */
	enum evict_why why;
};

/** All that may go, in the order in which they would. */
struct evict_plan {
	struct evict_victim *items;
	size_t nr;
	size_t due; /**< how many of them go; for the others `why` is EVICT_NOT_DUE */
};

/** Rules 1 to 5. `items` are in the order of saving. */
void evict_plan(struct evict_plan *out, const struct evict_item *items, size_t nr,
		const struct evict_rules *rules, int64_t now);
void evict_plan_release(struct evict_plan *plan);

/**
 * Rule 6: make more of them due until the bytes freed by those that are due add
 * up to `over`. `bytes[i]` are freed when the next one goes after the first i
 * of the plan. False, and nothing changed, if all are not enough.
 */
bool evict_extend(struct evict_plan *plan, const uint64_t *bytes, uint64_t over);

/** Why one goes, for people: "maxCount 50", "expired 2026-01-01T00:00:00Z". */
void evict_explain(struct strbuf *out, enum evict_why why, const struct evict_item *item,
		   const struct evict_rules *rules, int64_t now);

#endif
