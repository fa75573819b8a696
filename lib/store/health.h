/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_HEALTH_H
#define CKPT_STORE_HEALTH_H

#include "base/base.h"

struct store;

/**
 * The health of a store's own files: directories, HEAD, config, info/,
 * checkpoint/version, checkpoint/worktree. Cheap: a few small files are read,
 * but no object.
 *
 * There is one rule: what differs from the layout is written again. What
 * stands in the place of a file or directory is kept, as <name>.damaged.
 */

/**
 * Look, and change nothing: a sentence about each thing that is wrong is added
 * to `out`. CKPT_ERROR if the store has another format, belongs to another
 * worktree, or cannot be read.
 */
int health_check(struct strlist *out, struct store *store);

/** Repair all of it; the store must be locked. What cannot be written stays as it is. */
void health_repair(struct store *store);

/** For store_lock(), if there is no lock to be opened: make it again, alone in this home. */
void health_repair_lock(struct store *store);

#endif
