/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_APPLY_INTERNAL_H
#define CKPT_RESTORE_APPLY_INTERNAL_H

#include "base/base.h"
#include "restore/plan.h"
#include "restore/stage_internal.h"

/**
 * Carrying a plan out, once everything it needs is staged.
 *
 * Invariants:
 *  1. Nothing is written or removed through a symbolic link or outside of the
 *     root: every step is relative to a directory opened by beneath_open().
 *  2. What is displaced is exchanged with, or renamed into, the staging
 *     directory in one step, and only then looked at, contents and all: if it
 *     is not what the scan saw (and the safety checkpoint holds), it is put
 *     back. Nothing is ever replaced that was not looked at. What somebody had
 *     open for writing then is looked at once more in the end.
 *  3. Nothing is removed before everything that is to be put in place is.
 *  4. At every instant each path holds the old or the new thing, whole; on a file
 *     system that cannot exchange two names there is an instant with neither, and
 *     a directory that cannot be renamed goes name by name.
 */

struct apply_opts {
	struct stage *stage;
	const struct plan *plan;
	const struct strlist *paths; /**< limit of the plan; empty: none */
	unsigned threads;
	/**
	 * A directory outside of the paths, or the root (""), is about to be made
	 * writable for a moment; its mode has to be known if that is the last moment.
	 */
	int (*note_mode)(const char *path, mode_t mode, void *payload);
	void *payload;
};

struct apply_result {
	struct strlist changed; /**< paths that changed meanwhile and were left as they are */
	/**
	 * Of what was displaced: paths that somebody who had them open wrote to after
	 * that, or that were replaced twice meanwhile, and their names in the staging
	 * directory, in which they must not be removed; paths that somebody still has
	 * open.
	 */
	struct strlist late, late_names, open;
};

/** Put in place, set modes, remove. */
int apply_run(struct apply_result *out, const struct apply_opts *opts);
void apply_result_release(struct apply_result *result);

#endif
