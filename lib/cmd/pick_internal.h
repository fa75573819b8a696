/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PICK_INTERNAL_H
#define CKPT_CMD_PICK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct ckpt_record;
struct ckpt_records;
struct session;
struct strlist;

/** True if somebody is there who could choose, at a terminal that can show it. */
bool pick_possible(void);

/**
 * Let a person at the terminal choose a checkpoint, with a preview of what
 * going back to it would do: in fzf if that is there, else on a screen of our
 * own. `out` points into `records`, of which there must be one or more.
 * `typed` are the paths that the user named, as they were typed; none: all.
 * CKPT_EREFUSED if none was chosen.
 */
int pick_checkpoint(const struct ckpt_record **out, struct session *session,
		    const struct ckpt_records *records, const struct strlist *typed);

/**
 * The latter, for checkpoints in the order in which they are to be shown; `*at_out` is which.
 * `paths` are relative to the worktree and sorted.
 */
int pick_on_screen(size_t *at_out, struct session *session,
		   const struct ckpt_record *const *records, size_t nr, const struct strlist *paths);

#endif
