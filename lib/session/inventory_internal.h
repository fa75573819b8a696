/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_INVENTORY_INTERNAL_H
#define CKPT_SESSION_INVENTORY_INTERNAL_H

#include "base/base.h"
#include "record/record.h"

struct store;

/**
 * The last checkpoint of a worktree that is gone from before its removal began; "" if none can be
 * read. Whoever watches a worktree may have saved it while it was being removed; such a checkpoint
 * is what was left of the one before it. One of some paths only, or of none, does not count.
 */
void inventory_last_whole(char out[CKPT_ID_SIZE], struct store *store, const struct ref_list *refs);

/** Whether `record` shows what was left of `before` while the worktree was being removed. */
bool inventory_is_remnant(const struct ckpt_record *record, const struct ckpt_record *before);

#endif
