/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_HEAD_INTERNAL_H
#define CKPT_RESTORE_RESTORE_HEAD_INTERNAL_H

#include "restore/restore.h"

struct repo;
struct repo_state;
struct restore;

/**
 * Decide what to say and which commands lead back, from what a checkpoint recorded and the
 * repository as it is; NULL: there is none. `recorded`: the
 * checkpoint has the whole state of git, so that one command does it.
 */
void restore_head_look(struct restore_head *out, const struct repo *repo,
		       const struct repo_state *then, bool recorded);

/** Only what is to be said first: for whoever takes back some files, not the branch of then. */
void restore_head_cut(struct restore_head *head);

/**
 * What a restore of files leaves: HEAD as above, the index, branches that moved or vanished,
 * stashes that were dropped, and the command that brings back what one command can.
 */
void restore_rest_look(struct restore_head *out, struct restore *r, const struct repo_state *then);

#endif
