/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_MANIFEST_H
#define CKPT_RECORD_MANIFEST_H

#include "store/store.h"

struct ckpt_record;

/**
 * checkpoint-manifest.md: the list of checkpoints as a Markdown table, for
 * people. Newest last. A damaged checkpoint has a row that only says so.
 * Derived from the refs, which are the truth, and rebuilt whenever it
 * disagrees with them; it is read only to see whether it does, and which
 * checkpoints there were, see lost.h.
 */

/**
 * True if it lists exactly the checkpoints of `refs`, with their commits, in the same order, which
 * is that of saving.
 */
bool manifest_agrees(struct store *store, const struct ref_list *refs);

/**
 * Pass on the id of each line and the digits of its commit ("" if they are
 * damaged). Torn lines are skipped; a missing file has none. False if it is
 * missing or damaged, so that there may have been more.
 */
bool manifest_each(struct store *store,
		   void (*fn)(const char *id, const char *digits, void *payload), void *payload);

/** Add the line of a new checkpoint. */
int manifest_append(struct store *store, const struct ckpt_record *record);

/** Remove the rows of `ids`, which are sorted. The caller holds the lock. */
int manifest_remove(struct store *store, const struct strlist *ids);

/** Rebuild it. The caller holds the lock. */
int manifest_rebuild(struct store *store);

#endif
