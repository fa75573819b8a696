/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_MANIFEST_H
#define CKPT_RECORD_MANIFEST_H

#include "store/store.h"

#include <stdbool.h>

struct ckpt_record;
struct store;

/**
 * checkpoint-manifest.md: the list of checkpoints as a Markdown table, for
 * people. Newest last. One that is damaged has a row that says so and no more.
 * Derived from the refs, which are the truth, and made
 * anew whenever it disagrees with them; what is read from it is whether it
 * does, and which checkpoints there were, see lost.h.
 */

/** True if it lists exactly the checkpoints of `refs`, with their commits, in their order. */
bool manifest_agrees(struct store *store, const struct ref_list *refs);

/**
 * Hand out the id of each line and the digits of its commit ("" if they are
 * damaged). Lines that are torn are passed over, a missing file has none. False
 * if it is missing or damaged, so that there may have been more of them.
 */
bool manifest_each(struct store *store,
		   void (*fn)(const char *id, const char *digits, void *payload), void *payload);

/** Add the line of a new checkpoint. */
int manifest_append(struct store *store, const struct ckpt_record *record);

/** Take out the rows of `ids`, which are sorted. The caller holds the lock. */
int manifest_remove(struct store *store, const struct strlist *ids);

/** Write it anew. The caller holds the lock. */
int manifest_rebuild(struct store *store);

#endif
