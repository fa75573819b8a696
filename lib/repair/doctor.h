/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_DOCTOR_H
#define CKPT_REPAIR_DOCTOR_H

#include "store/store.h"
#include "worktree/worktree.h"

struct session;

/**
 * All that can be wrong with a store, from the bytes of its packs to the
 * manifest. `session` is opened with SESSION_ANY: a store that other commands
 * refuse is looked at, too.
 *
 * With `fix`, mended in this order: the store itself, set aside if that is all
 * that helps; packs; refs; checkpoints of stores that were set aside;
 * contents that were lost, from the worktree where it has them; then what can
 * be made anew. A checkpoint is never removed, nor is anything else that
 * exists only once.
 *
 * What is wrong is a result, not a failure.
 */
int doctor_run(struct problems *out, struct session *session, bool fix, progress_fn progress);

#endif
