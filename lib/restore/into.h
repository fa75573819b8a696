/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_INTO_H
#define CKPT_RESTORE_INTO_H

#include "record/record.h"

struct session;

/**
 * An exact copy of a checkpoint in another directory, which is new or empty. Nothing of the present
 * worktree is changed; no checkpoint is taken.
 *
 *   place     where it may be; a file in it says what it is until it is finished
 *   write     directories, then contents: cloned from live files, or from the store
 *   verify    the state hash, computed from what is on disk
 *   git       a linked worktree, if that was asked for
 *   finish    everything is made durable, the file that marks it goes
 *
 * Killed at any moment, it leaves a directory that is empty or marked; the same call continues it.
 */
struct into_opts {
	const struct ckpt_record *target;
	const char *dir;	     /**< as the user typed it */
	const struct strlist *paths; /**< sorted; empty: all */
	const char *reason;	     /**< for the audit trail; NULL: where it went */
	const char *source;	     /**< who asks for it */
	bool worktree;		     /**< make it a linked worktree of the repository */
	const char *branch;	     /**< of that worktree; NULL: its HEAD is detached */
	bool no_verify;
	bool passing; /**< it will be removed soon: not made durable, and in no audit trail */
	progress_fn progress;
};

struct into_result {
	char *path;	/**< absolute, without links */
	bool continued; /**< an unfinished copy was there */
	uint64_t files, dirs, bytes;
	uint64_t cloned; /**< how many of the files share their blocks with a live one */
	char post_hash[STATEHASH_SIZE], target_hash[STATEHASH_SIZE];
	bool verified, match;
	struct strlist differing; /**< paths that are not as in the checkpoint */
	char *head;		  /**< of the linked worktree; NULL: it is none */
	bool git_match;		  /**< its HEAD and index are the recorded ones */
	struct strlist warnings;
};

/**
 * CKPT_EREFUSED: the directory is not empty, the branch exists, or the repository lacks something;
 * nothing was touched. After any other failure a copy that was begun is marked as unfinished.
 */
int into_run(struct into_result *out, struct session *session, const struct into_opts *opts);
void into_result_release(struct into_result *result);

#endif
