/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_PROTECT_H
#define CKPT_OPS_PROTECT_H

#include <stdbool.h>

struct ckpt_record;
struct oid;
struct session;

/**
 * What a restore must not delete although the worktree has it and the
 * checkpoint has not: paths that the rules stored in the checkpoint leave out
 * (a .gitignore that changes back does not hand over data that was never
 * captured), and those recorded as skipped when it was taken. What is ignored
 * now is not in the scan at all and needs no protection.
 *
 * Several checkpoints may have a say: an interrupted restore has already put
 * some of the .gitignore files back, so the state before it is asked too.
 */
struct protect;

int protect_new(struct protect **out, struct session *session);

/** Let the rules of one more checkpoint count. */
int protect_add(struct protect *protect, const struct ckpt_record *record);

void protect_free(struct protect *protect);

/**
 * What this checkpoint holds, with the same contents, may go all the same: it
 * was put there by the restore that is being taken back.
 */
int protect_exempt(struct protect *protect, const struct ckpt_record *record);

/** For plan.h: why `path` must stay, or NULL. `oid` may be NULL. */
const char *protect_path(const char *path, bool is_dir, const struct oid *oid, void *protect);

#endif
