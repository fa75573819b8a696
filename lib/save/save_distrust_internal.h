/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_DISTRUST_INTERNAL_H
#define CKPT_SAVE_SAVE_DISTRUST_INTERNAL_H

#include "save/save.h"

/**
 * With watchParanoid, after a scan that skipped what the watcher had not seen change: compare it
 * with one that looks at everything, add a warning to the checkpoint if something was missed, and
 * scan once more, fully. Does nothing after a full scan.
 */
int save_distrust(struct save_job *job, const struct worktree_state_opts *how);

#endif
