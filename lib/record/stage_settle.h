/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_STAGE_SETTLE_H
#define CKPT_RECORD_STAGE_SETTLE_H

#include "base/base.h"

struct store;

/** What to do with the stage of a restore that was interrupted. */

/** Whether the store has all contents of `name` in the stage open as `stagefd`. */
bool stage_is_stored(struct store *store, int stagefd, const char *name);

/** Give the stage `name` a plain name, which is put into `rescued_out`. */
int stage_rescue(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name);

/**
 * Remove what an interrupted restore left in its stage `name`. If it
 * holds something that no checkpoint has (written just before it was exchanged),
 * the directory gets a plain name instead, which is put into `rescued_out`.
 */
int stage_settle(struct strbuf *rescued_out, struct store *store, int rootfd, const char *name);

/** The same, but leave it as it is in that case: to free space. */
int stage_free(struct store *store, int rootfd, const char *name);

/**
 * Remove what restores of this store left that were killed before they touched
 * anything, and clean up strays: only without a journal, and with the lock
 * held. A sentence about what had to be kept is added to `notes`.
 */
void stage_sweep(struct strlist *notes, struct store *store, const char *worktree);

#endif
