/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_SIBLING_INTERNAL_H
#define CKPT_SAVE_SAVE_SIBLING_INTERNAL_H

#include "base/base.h"

struct save_job;

/**
 * The first checkpoint of a worktree whose repository has other worktrees:
 * most of its contents are in the store of one of them.
 *
 * This only saves space and writing: every file is read, and whatever is missing, damaged or in doubt
 * is stored, as if there were no other worktree. The other store is only read, without its lock.
 */

/**
 * After a scan, with the store locked: if it has no checkpoint yet, link the packs that it will need.
 */
void save_sibling_share(struct save_job *job);

#endif
