/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_DIFF_H
#define CKPT_LOOK_DIFF_H

#include "save/save.h"

/**
 * The difference between two checkpoints, or between one and the worktree, and
 * the contents of what differs.
 */
struct diff {
	struct session *session;
	struct snapshot *old, *new; /**< `new` is NULL for the worktree */
	struct worktree_state current; /**< of the worktree */
	bool include_ignored, include_sensitive; /**< how it was scanned */
	struct modes modes;         /**< of the worktree */
	struct compare_list changes;
	bool turned;	       /**< by diff_turn() */
	bool as_merge;	       /**< for renames: two empty files are not the same one */
	bool stored;	       /**< all contents are in the store, although there is no `new` */
	struct staged *staged; /**< of indexes, not of files */
};

/** Between two checkpoints; `old` may be NULL for an empty one. `only` (NULL: all) limits it. */
int diff_checkpoints(struct diff *out, struct session *session, const struct ckpt_record *old,
		     const struct ckpt_record *new, const struct pathspec *only);

/** Between a checkpoint and the worktree, within the checkpoint's scope. */
int diff_worktree(struct diff *out, struct session *session, const struct ckpt_record *old,
		  const struct pathspec *only, progress_fn progress);

/**
 * Turn it into the difference between another checkpoint and the worktree, which
 * is not scanned again if both cover the same files. Call diff_release() in any
 * case.
 */
int diff_worktree_again(struct diff *diff, const struct ckpt_record *old, progress_fn progress);

/**
 * The checkpoint that `record` followed when it was taken: what it is shown and taken back against.
 * CKPT_ENOTFOUND if it was the first, or if that one is gone.
 */
int diff_base(struct ckpt_record *out, struct session *session, const struct ckpt_record *record);

/**
 * After that: a sentence about it which names the way, "git checkpoint <command> <older>..<id>";
 * `command` is "revert" or "diff". The caller frees it.
 */
char *diff_no_base(struct session *session, const struct ckpt_record *record, const char *command);

/** Exchange the sides, as `git diff -R` does: what would change on the way back. */
void diff_turn(struct diff *diff);

enum diff_side { DIFF_OLD, DIFF_NEW };

/**
 * Append the contents of one side of a change. Over 64 MB nothing is appended
 * and `too_large_out` is set to the size; otherwise it is set to 0.
 */
int diff_content(struct strbuf *out, uint64_t *too_large_out, struct diff *diff,
		 const struct change *change, enum diff_side side);

void diff_release(struct diff *diff);

/** One side of a comparison: a checkpoint, or nothing if `snapshot` is NULL. */
struct compare_side diff_side(struct snapshot *snapshot);

/** compare_run_within() what `only` (NULL or empty: all) matches. */
int diff_compare(struct compare_list *out, const struct compare_side *before,
		 const struct compare_side *after, const struct pathspec *only);

/* --- staged.c --- */

/**
 * What was staged when a checkpoint was taken, as a difference. Its
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

/** As diff_content() and diff_release(), for a difference that was made here. */
int staged_content(struct strbuf *out, struct diff *diff, const struct change *change,
		   enum diff_side side);
void staged_free(struct staged *staged);

/* --- renames.c --- */

enum {
	RENAMES_SCORE_MAX = 60000, /**< of similarity: the same contents */
	RENAMES_SCORE_USUAL = RENAMES_SCORE_MAX / 2,
};

/**
 * Find added files that are deleted ones under another name, as `git diff -M` does, and make one
 * change, CHANGE_RENAMED, of both. They must have at least the score `least`. If there are too
 * many to compare, only files with the same contents or the same name are found, and
 * `too_many_out` is set.
 */
int renames_find(struct diff *diff, unsigned least, bool *too_many_out);

#endif
