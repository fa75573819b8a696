/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PICK_INTERNAL_H
#define CKPT_CMD_PICK_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct ckpt_records;
struct session;
struct strlist;

/** True if a person can choose, on a terminal that can show a list. */
bool pick_possible(void);

/**
 * Let a person at the terminal choose a checkpoint, with a preview of what
 * restoring it would do: in fzf if that is installed, otherwise on our own
 * screen. `out` points into `records`, which must not be empty. `typed` are
 * the paths that the user named, as typed; none: all. CKPT_EREFUSED if none
 * was chosen.
 */
int pick_checkpoint(const struct ckpt_record **out, struct session *session,
		    const struct ckpt_records *records, const struct strlist *typed);

/**
 * On our own screen, for checkpoints in the order in which they are shown; `*at_out` is the
 * chosen one. `paths` are relative to the worktree and sorted.
 */
int pick_on_screen(size_t *at_out, struct session *session,
		   const struct ckpt_record *const *records, size_t nr, const struct strlist *paths);

#endif
