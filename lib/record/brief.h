/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_BRIEF_H
#define CKPT_RECORD_BRIEF_H

#include "base/base.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckpt_record;
struct store;

/**
 * What is asked of every checkpoint at once: by retention after each save, by
 * status. To read thousands of commits for that takes longer than the save.
 *
 * checkpoint/briefs keeps the answers that are in commits. A commit never
 * changes, so an answer is right for ever, or that of another commit: each has
 * the id and the commit that it is about, and counts for no other. Refs say
 * which checkpoints there are and marks which are pinned; neither is taken from
 * the file. It may be missing, old or torn at any time, and anybody may write
 * it, with the lock or without: what it does not know is read from the commit.
 *
 * That a commit can be read today it does not promise. Who is about to act on a
 * brief reads the record first and asks brief_fits().
 */
struct ckpt_brief {
	struct ref_item ref;
	int64_t created_at;
	int64_t expiry; /**< 0: never */
	bool pinned;    /**< as it was saved, or as a mark says since */
	bool saved_pinned;
	bool scoped;    /**< of some paths only */
	bool state_only;
	bool flow; /**< taken by a workflow */
};

struct ckpt_briefs {
	struct ckpt_brief *items; /**< in the order of saving */
	size_t nr;
	struct strlist damaged; /**< a sentence about each one that the file does not know and that
				     cannot be read */
	size_t learned;		/**< so many were read from their commits */
};

/** Of all checkpoints; those that are found damaged are left out and named. */
int brief_read(struct ckpt_briefs *out, struct store *store);
void brief_release(struct ckpt_briefs *briefs);

/** The bytes that the file would take, 0 if so little was learned that it is not worth it. */
size_t brief_worth(const struct ckpt_briefs *briefs);

/** Write the file if that is worth it. A failure is none of anybody's. */
void brief_keep(const struct ckpt_briefs *briefs, struct store *store);

/** The brief of one record. */
void brief_of(struct ckpt_brief *out, const struct ckpt_record *record);

/** Whether a brief says what the record does. */
bool brief_fits(const struct ckpt_brief *brief, const struct ckpt_record *record);

/** Remove the file: something in it turned out not to be so. */
void brief_forget(struct store *store);

#endif
