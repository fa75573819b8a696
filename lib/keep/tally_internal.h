/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_TALLY_INTERNAL_H
#define CKPT_KEEP_TALLY_INTERNAL_H

#include "base/base.h"
#include "keep/evict.h"
#include "keep/stock_internal.h"

struct store;

/**
 * What saves note in checkpoint/reclaim so that most of them need not look at all checkpoints, or
 * for bytes to free. The file may be missing or torn: then a save looks once more than needed.
 */
struct tally {
	uint64_t evicted; /**< since bytes were last freed */
	uint64_t packs;	  /**< that there were then */
	uint64_t log;	  /**< bytes of the audit trail when it was last trimmed */
	/* As of the last save that looked at all; nothing was removed since, or all three are 0: */
	uint64_t asked, automatic; /**< checkpoints */
	int64_t thin_at;	   /**< when one of the automatic ones may be due */
};

void tally_read(struct tally *out, struct store *store);
void tally_write(struct store *store, const struct tally *tally);

/** The last three of them, of what there is. */
void tally_count(struct tally *out, const struct stock *stock);

/** Note them, NULL: they are not known; and that `evicted` more went. */
void tally_note(struct store *store, const struct tally *counts, size_t evicted);

/** Checkpoints were removed, so that the counts are not right any more. */
void tally_forget_counts(struct store *store);

/**
 * Whether a rule may want one of `nr` checkpoints to go. Those that were not there when the tally
 * was written may be of either kind.
 */
bool tally_may_be_due(const struct tally *tally, const struct evict_rules *rules, size_t nr);

#endif
