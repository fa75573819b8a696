/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_HASH_INTERNAL_H
#define CKPT_RESTORE_RESTORE_HASH_INTERNAL_H

#include "restore/plan.h"

struct protect;

/**
 * State hashes over the part of a tree that a restore affects: the named
 * paths, without what was kept, and with `no_delete` only what the checkpoint
 * has. If that is everything, they equal the plain state hash.
 */
struct restore_hash {
	struct snapshot *target;
	const struct ckpt_record *record;
	const struct strlist *paths;  /**< empty: all */
	const struct plan *plan;      /**< tells what was kept */
	bool no_delete;
	unsigned threads;
	/**
	 * Afterwards, for what was ignored before and is no longer ignored now
	 * that other .gitignore files are in place; named in `left`. NULL:
	 * nothing.
	 */
	struct protect *before;
	struct strlist *left;
};

/** Of the checkpoint. */
int restore_hash_target(char out[STATEHASH_SIZE], const struct restore_hash *check);

/** Of the worktree as scanned and read; `whole` if that is the state hash of all of it. */
void restore_hash_worktree(char out[STATEHASH_SIZE], bool *whole, const struct restore_hash *check,
			   struct wt_dir *root);

#endif
