/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_WARNINGS_INTERNAL_H
#define CKPT_SAVE_WARNINGS_INTERNAL_H

#include "base/base.h"

struct worktree_state;

/**
 * What a person must know about a checkpoint: a sentence for each thing that was left out unasked.
 */
void save_warnings(struct strlist *out, const struct worktree_state *state);

/** Only those about other worktrees of the same repository. */
void save_warn_apart(struct strlist *out, const struct worktree_state *state);

/**
 * CKPT_EREFUSED if the scope names secrets that are left out, and nothing else: who does that
 * wants them saved, and would believe that they are.
 */
int save_refuse_secrets(const struct worktree_state *state, const struct strlist *scope);

#endif
