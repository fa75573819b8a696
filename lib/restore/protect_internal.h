/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_PROTECT_INTERNAL_H
#define CKPT_RESTORE_PROTECT_INTERNAL_H

#include "tree/tree.h"

struct ckpt_meta;
struct ckpt_record;
struct session;
struct snapshot;

/**
 * What a restore must not delete although the worktree has it and the
 * checkpoint does not: paths that the rules stored in the checkpoint leave out,
 * both its .gitignore files and those kept beside them (a rule that changed
 * since must not expose data that was never captured), and paths recorded as
 * skipped when it was taken. Not what is where the checkpoint has a file: it
 * cannot have been there. What is ignored now is not in the scan at all and
 * needs no protection.
 *
 * Several checkpoints may be asked: an interrupted restore has already put some
 * of the .gitignore files back, so the state before it is asked too.
 */
struct protect;

struct protect *protect_new(struct session *session);

/** Add the rules of one more checkpoint. What was read of it still belongs to the caller. */
int protect_add(struct protect *protect, const struct ckpt_record *record,
		const struct ckpt_meta *meta, struct snapshot *snapshot);

void protect_free(struct protect *protect);

/**
 * What is in this snapshot may go nevertheless: the restore that is being
 * undone put it there, and its current state is captured. Not what was skipped
 * before it: that was already there. The snapshot still belongs to the caller;
 * NULL: nothing.
 */
void protect_exempt(struct protect *protect, struct snapshot *snapshot);

/** For plan.h: why `path`, now of this kind, must stay, or NULL. */
const char *protect_path(const char *path, enum wt_kind kind, void *protect);

#endif
