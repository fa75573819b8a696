/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_GIT_H
#define CKPT_SAVE_SAVE_GIT_H

#include "base/base.h"
#include "gitstate/gitstate.h"
#include "record/record.h"

struct save_job;

/**
 * The state of the project's repository (see gitstate.h) on its way into a
 * checkpoint. For save*.c alone, except where noted.
 *
 * While the stat data of the repository stays what it was, nothing is read: the
 * file "gitstate" in the store remembers that data and which checkpoint has the
 * state. It can be removed at any time; then everything is read again.
 *
 * A repository that cannot be read does not prevent a checkpoint: it is taken
 * without this, and says so.
 */
struct save_git {
	bool known; /**< what follows is the state now */
	char hash[STATEHASH_SIZE];
	struct gitindex_counts index;
	unsigned step, total;
	bool read;	       /**< `git` has it all; otherwise `tree` is that of a checkpoint */
	struct gitrecord git; /**< without blobs until they are written */
	struct oid tree;
	struct strbuf stat; /**< for gitstate_is_same(); empty: cannot be relied on */
};

/** Find out the state, and the job's `project`. What is wrong goes to the job's notes. */
void save_git_look(struct save_job *job);

/**
 * A rebase has just put changes aside: record the state before that. For those who
 * amend a job in this way.
 */
void save_git_undo_autostash(struct save_job *job);

/** True if the newest checkpoint has it: also if it is not known. */
bool save_git_same(const struct save_job *job);

/** Bytes of staged contents that the store does not have, for the budget. */
uint64_t save_git_bytes(const struct save_job *job);

/** Put it into the job's pack and metadata, copying staged contents. */
int save_git_write(struct save_job *job);

/** Remember that a checkpoint, whose tree of it is `tree`, has this state. */
void save_git_remember(const struct save_job *job, const char *id, const struct oid *tree);

void save_git_release(struct save_git *git);

#endif
