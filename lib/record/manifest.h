/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_MANIFEST_H
#define CKPT_RECORD_MANIFEST_H

#include "record/lookup.h"

struct store;

/**
 * checkpoint-manifest.md: the list of checkpoints as a Markdown table, for
 * people. Newest last. Derived from the refs, which are the truth, and made
 * anew whenever it disagrees with them; nothing is ever read from it but
 * whether it does.
 */

/** True if it lists exactly the checkpoints of `refs`, in their order. */
bool ckpt_manifest_agrees(struct store *store, const struct ref_list *refs);

/** Add the line of a new checkpoint. */
int ckpt_manifest_append(struct store *store, const struct ckpt_record *record);

/** Write it anew. The caller holds the lock. */
int ckpt_manifest_rebuild(struct store *store);

#endif
