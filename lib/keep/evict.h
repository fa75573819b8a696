/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_EVICT_H
#define CKPT_KEEP_EVICT_H

#include "settings/settings.h"

/**
 * Which checkpoints have to go: a pure function of the checkpoints, the rules
 * and the time. Changes nothing; retain.c carries it out.
 *
 * Clocks are wrong at times. A time in the future is not believed, nor one before
 * that of a checkpoint saved earlier, if that is believed. Such a checkpoint is as
 * old as the next one whose time is believed, or new if there is none: no older
 * than it really is.
 *
 *  1. Needed ones never go, and do not count.
 *  2. The last item is the newest. It never goes, but counts (unless it is
 *     needed); so does the one that is `latest`, unless it is needed, too.
 *  3. What has to go, goes in this order: expired ones, in the order in which
 *     they expired; then automatic ones in the order of saving; then those that
 *     somebody asked for, likewise.
 *  4. Always due: those older than max_age, and expired ones if `expired` says so.
 *  5. Of the other automatic ones, those older than keep_all are due, except the
 *     one saved last in each slot. `thin` has ranges of age, each with the length
 *     of its slots, which begin at whole multiples of it (UTC). Beyond the last
 *     range all are due. Expired ones are not kept, and do not count for a slot.
 *  6. Of the rest, as many automatic ones as exceed max_automatic are due, and as
 *     many others as exceed max_count, in the order of 3, except those that a
 *     keep rule keeps: of each of the last n hours, days or weeks (UTC; weeks
 *     begin on Monday) that have a checkpoint somebody asked for, the one saved
 *     last. Expired ones are not kept, and do not count for a keep rule. Hours,
 *     days and weeks in the future are not counted.
 *  7. For bytes, more go in the order of 3, kept by a rule or not.
 */
struct evict_item {
	int64_t created_at;
	int64_t taken;	/**< what its age is counted from; set by evict_plan() */
	int64_t expiry; /**< 0: never */
	bool automatic; /**< nobody asked for it */
	bool latest;	/**< what "@" means */
	bool needed;	/**< by a keeper, or for another reason of the caller */
};

struct evict_rules {
	uint64_t max_count;	   /**< of those asked for; 0: no limit */
	uint64_t max_automatic;	   /**< 0: no limit */
	int64_t keep_all;	   /**< seconds in which automatic ones are not thinned out */
	struct ckpt_thinning thin; /**< no ranges: they are not thinned out at all */
	int64_t max_age;    /**< seconds; 0: no limit */
	uint64_t max_size;  /**< bytes; 0: no limit. Only for evict_why(); see evict_extend() */
	uint64_t keep_hourly, keep_daily, keep_weekly;
	bool expired; /**< expired ones go even if no limit is reached */
	bool after_save; /**< for the caller of evict_plan(): judge by evict_agreed_time() */
};

enum evict_why { EVICT_NOT_DUE, EVICT_EXPIRED, EVICT_AGE, EVICT_THIN, EVICT_COUNT, EVICT_SIZE };

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

/** Rules 1 to 6. `items` are in the order of saving. */
void evict_plan(struct evict_plan *out, struct evict_item *items, size_t nr,
		const struct evict_rules *rules, int64_t now);
void evict_plan_release(struct evict_plan *plan);

/**
 * The time to judge by after a save, which is the last item: `now`, unless more than two
 * days seem to have passed between two checkpoints of the last day. Then it is the time
 * before that gap. So a clock that jumps ahead makes nothing old for a day; if time has
 * really passed, retention follows a day later.
 */
int64_t evict_agreed_time(const struct evict_item *items, size_t nr, int64_t now);

/**
 * Rule 7: make more of them due until the bytes freed by those that are due add
 * up to `over`. `bytes[i]` are freed when the next one goes after the first i
 * of the plan. False, and nothing changed, if all are not enough.
 */
bool evict_extend(struct evict_plan *plan, const uint64_t *bytes, uint64_t over);

/**
 * When rule 5 may next make one due, if none is saved until then; INT64_MAX: never. Those
 * that are due now are taken to have gone. After evict_plan().
 */
int64_t evict_next_thinning(const struct evict_item *items, size_t nr,
			    const struct evict_rules *rules, int64_t now);

/** Why one goes, for people: "maxCount 50", "expired 2026-01-01T00:00:00Z". After evict_plan(). */
void evict_explain(struct strbuf *out, enum evict_why why, const struct evict_item *item,
		   const struct evict_rules *rules, int64_t now);

#endif
