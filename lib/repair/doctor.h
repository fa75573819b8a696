/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_DOCTOR_H
#define CKPT_REPAIR_DOCTOR_H

#include "store/store.h"
#include "tree/tree.h"

struct session;

/**
 * Everything that can be wrong with a store, from the bytes of its packs to
 * the manifest. `session` is opened with SESSION_ANY: a store that other
 * commands refuse is checked, too.
 *
 * With `fix`, problems are fixed in this order: the store's own files; packs; refs;
 * checkpoints of stores that wait to be merged, see relink.h;
 * lost contents, from the worktree if it has them; then what can be rebuilt.
 * No checkpoint is ever removed, and nothing else that exists only once.
 *
 * A problem is a result, not a failure.
 */
int doctor_run(struct problems *out, struct session *session, bool fix, progress_fn progress);

#endif
