/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_STOCK_INTERNAL_H
#define CKPT_KEEP_STOCK_INTERNAL_H

#include "keep/evict.h"
#include "record/record.h"

struct session;

/**
 * The checkpoints of a store as retention sees them: which may go, in which
 * order, and what that would free. Changes nothing. The store must be locked.
 */
struct stock {
	struct session *session;
	struct evict_rules rules;
	int64_t now;		   /**< to judge by */
	bool doubts_clock;	   /**< it says something else, see evict_agreed_time() */
	struct ckpt_briefs briefs; /**< without damaged ones: no rule removes those */
	struct evict_item *items;  /**< of the briefs, and one more for a new one */
	size_t nr;
	const struct ckpt_record *fresh;
	struct evict_plan plan;

	/* stock_weigh() sets: */
	uint64_t *bytes;  /**< of the plan, as evict_extend() takes them */
	uint64_t newest;  /**< bytes of the newest, if only being the newest keeps it */
	uint64_t garbage; /**< bytes that nothing needs any more, approximately */
	bool known;       /**< false: something is damaged, so nothing can be freed */
};

/**
 * Needed are what keepers need (store/keepers.h), the newest of the whole worktree, those with which
 * the turns of the last sessions of agents began, and the ids in `keep` (may be NULL). `fresh` is a
 * checkpoint about to be made, which counts as the newest; it may be NULL. Call stock_release() in any
 * case.
 */
int stock_open(struct stock *stock, struct session *session, const struct evict_rules *rules,
	       const struct strlist *keep, const struct ckpt_record *fresh);
void stock_release(struct stock *stock);

/** Determine what would be freed: walks through all trees. */
int stock_weigh(struct stock *stock);

/** Everything that could be freed. */
uint64_t stock_spare(const struct stock *stock);

#endif
