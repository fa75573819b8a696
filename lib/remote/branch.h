/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_BRANCH_H
#define CKPT_REMOTE_BRANCH_H

#include "base/base.h"

struct ckpt_record;
struct session;

struct branch_result {
	char *ref;		 /**< "refs/heads/<name>" */
	char *commit;		 /**< what it is */
	char *parent;		 /**< the recorded HEAD, or NULL */
	size_t ignored;		 /**< files of the checkpoint that were left out, because a rule says so */
	struct strlist warnings; /**< about others that were left out */
};

void branch_result_release(struct branch_result *result);

/**
 * Make a commit of a checkpoint in the project, on top of the HEAD that it recorded, and a branch
 * that leads to it. HEAD, the index and the worktree stay as they are, and no hook runs.
 *
 * Left out are empty directories, ignored files, and untracked ones that look like secrets.
 * Submodules of the recorded HEAD stay what they are there. CKPT_EREFUSED if the branch exists;
 * CKPT_ERROR outside git, for a name that no branch can have, and if the project lacks the
 * recorded commit.
 */
int branch_make(struct branch_result *out, struct session *session,
		const struct ckpt_record *record, const char *name);

#endif
