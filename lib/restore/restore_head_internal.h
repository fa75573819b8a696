/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_HEAD_INTERNAL_H
#define CKPT_RESTORE_RESTORE_HEAD_INTERNAL_H

#include "restore/restore.h"

struct repo;
struct repo_state;

/** What HEAD was and what it is; NULL: none. */
struct restore_head_view {
	const char *then_head, *then_branch, *then_operation;
	const struct repo_state *now;
	char *tip;	 /**< where that branch is now */
	char *elsewhere; /**< another worktree that has it checked out now */
	bool lost;	 /**< that commit no longer exists */
};

/** Decide what to say and which commands lead back. */
void restore_head_decide(struct restore_head *out, const struct restore_head_view *view);

/** The same for the checkpoint `target` and the repository as it is; NULL: there is none. */
void restore_head_look(struct restore_head *out, const struct repo *repo,
		       const struct ckpt_record *target);

#endif
