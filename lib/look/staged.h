/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_STAGED_H
#define CKPT_LOOK_STAGED_H

#include "base/base.h"
#include "git/git.h"
#include "look/diff.h"

struct ckpt_record;
struct session;

/**
 * What was staged when a checkpoint was taken, as a difference (see diff.h). Its
 * contents come from the store, and from the project's repository where they are
 * those of a commit.
 *
 * Without `only`, all paths. Paths that were unmerged have no contents of their
 * own: they are not among the changes, see staged_unmerged(). CKPT_ENOTFOUND if
 * the checkpoint has no state of the repository. Call diff_release() after
 * success.
 */

/** The index of a checkpoint against the tree of its HEAD. */
int staged_of(struct diff *out, struct session *session, const struct ckpt_record *record,
	      const struct pathspec *only);

/** The index of a checkpoint against that of another; `new` NULL: against the index now. */
int staged_between(struct diff *out, struct session *session, const struct ckpt_record *old,
		   const struct ckpt_record *new, const struct pathspec *only);

/** Paths that are unmerged on one of the sides, sorted. */
const struct strlist *staged_unmerged(const struct diff *diff);

#endif
