/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_APPLY_INTERNAL_H
#define CKPT_RESTORE_APPLY_INTERNAL_H

#include "base/base.h"
#include "restore/plan.h"
#include "restore/stage_internal.h"

/**
 * Carrying out a plan, once everything it needs is staged.
 *
 * Invariants:
 *  1. Nothing is written or removed through a symbolic link or outside the
 *     root: every step is relative to a directory opened by beneath_open().
 *  2. What is displaced is exchanged with, or renamed into, the
 *     stage in one step, and only then checked, including its contents: if it
 *     is not what the scan saw (and the safety checkpoint holds), it is put
 *     back. Nothing is ever replaced unchecked. What another process has open
 *     for writing is checked once more at the end.
 *  3. Nothing is removed before everything new is in place.
 *  4. At every moment each path holds the old or the new file, whole; on a file
 *     system that cannot exchange two names there is a moment with neither, and
 *     a directory that cannot be renamed is moved name by name.
 */

struct apply_opts {
	struct stage *stage;
	const struct plan *plan;
	const struct strlist *paths; /**< limit of the plan; empty: no limit */
	unsigned threads;
	/**
	 * A directory outside the paths, or the root (""), is about to be made
	 * writable for a moment; its mode must be recorded in case this process dies
	 * then.
	 */
	int (*note_mode)(const char *path, mode_t mode, void *payload);
	void *payload;
};

struct apply_result {
	struct strlist changed; /**< paths that changed meanwhile and were left as they are */
	/**
	 * Of what was displaced: paths to which another process wrote afterwards, or
	 * that were replaced twice meanwhile, and their names in the stage
	 *, in which they must not be removed; and paths that another
	 * process still has open.
	 */
	struct strlist late, late_names, open;
};

/** Put in place, set modes, remove. */
int apply_run(struct apply_result *out, const struct apply_opts *opts);
void apply_result_release(struct apply_result *result);

#endif
