/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_HISTORY_H
#define CKPT_LOOK_HISTORY_H

#include "look/diff.h"

/**
 * The past of paths: what became of them in each checkpoint, from the newest back.
 *
 * A path is compared with what the previous checkpoint, in the order of saving, has of it; one
 * whose scope lacks the path tells nothing about it and is passed over, for this path only. So
 * a checkpoint of the whole worktree may be compared with several older ones, each in its part.
 *
 * Only trees are read, and of them only what leads to the paths and differs.
 */
struct history;

/**
 * `only` (NULL: everything) is copied. With `follow`, a path of a file that appears in a
 * checkpoint in which a similar one disappears is looked for under the other's name from there
 * on, as `git log --follow` does; copies are not followed.
 */
int history_open(struct history **out, struct session *session, const struct pathspec *only,
		 bool follow);
void history_close(struct history *history);

struct history_step {
	struct ckpt_record record;
	struct diff diff; /**< what changed, often nothing */
};

void history_step_release(struct history_step *step);

/**
 * The next older checkpoint. 1, and the step is the caller's to release; 0 after the oldest, or an
 * error. Those that are damaged are left out.
 */
int history_next(struct history_step *out, struct history *history);

/** A sentence about each damaged checkpoint that was met so far. */
const struct strlist *history_damaged(const struct history *history);

#endif
