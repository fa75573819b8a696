/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_STOCK_INTERNAL_H
#define CKPT_RETENTION_STOCK_INTERNAL_H

#include "base/base.h"
#include "record/record.h"
#include "retention/evict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckpt_record;
struct session;

/**
 * The checkpoints of a store as retention sees them: which may go, in which
 * order, and what that would give back. Changes nothing. The store must be
 * locked.
 */
struct stock {
	struct session *session;
	struct evict_rules rules;
	int64_t now;
	struct ckpt_briefs briefs; /**< damaged ones are not among them: they never go by a rule */
	struct evict_item *items;  /**< of the briefs, and one more for a fresh one */
	size_t nr;
	const struct ckpt_record *fresh;
	struct evict_plan plan;

	/* stock_weigh() sets: */
	uint64_t *bytes;  /**< of the plan, as evict_extend() takes them */
	uint64_t newest;  /**< bytes of the newest, if being that is all that keeps it */
	uint64_t garbage; /**< bytes that nobody needs any more, about */
	bool known;       /**< false: something is damaged, so nothing can be given back */
};

/**
 * Exempt are the newest checkpoint, the newest of the whole worktree, what an
 * interrupted restore names, what the next undo and the next redo need, what a
 * running process holds (hold.h), and the ids in `keep` (may be NULL). What else the stack of undo names is reserved: it
 * goes for bytes alone, and last, so that a budget can be held for ever. `fresh` is one that is about to be made and counts as the newest; it
 * may be NULL. What the live workflow names is taken for pinned.
 * stock_release() in any case.
 */
int stock_open(struct stock *stock, struct session *session, const struct evict_rules *rules,
	       const struct strlist *keep, const struct ckpt_record *fresh);
void stock_release(struct stock *stock);

/** Find out what would be given back: walks through all trees. */
int stock_weigh(struct stock *stock);

/** All that could be given back. */
uint64_t stock_spare(const struct stock *stock);

/** The ids that an interrupted restore needs; CKPT_ERROR if there is one that cannot be read. */
int stock_journal(struct strlist *out, struct session *session);

#endif
