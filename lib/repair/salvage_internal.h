/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_SALVAGE_INTERNAL_H
#define CKPT_REPAIR_SALVAGE_INTERNAL_H

#include "store/store.h"

struct session;

/**
 * Find the checkpoints that can be read of a store that was set aside (or that
 * cannot be used where it is) and that the session's store, if there is one,
 * does not have. Each is verified from its stored bytes.
 *
 * With `fix` they are copied into the session's store, which must be locked:
 * with the same ids, commits and pins; then the old one is renamed, see
 * health_salvaged(), so that nobody looks at it again. What is lost for good is
 * a problem that was not fixed.
 */
int salvage_store(struct problems *out, struct session *session, const char *path, bool fix);

/**
 * Bring all that was set aside in the place `path` into the session's store,
 * which must be locked, as checkpoints that are newer than its own: undo goes
 * back through their restores first. Called again after a crash it goes on.
 */
int salvage_merge(struct problems *out, struct session *session, const char *path);

#endif
