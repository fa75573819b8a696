/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_SALVAGE_INTERNAL_H
#define CKPT_REPAIR_SALVAGE_INTERNAL_H

#include "store/store.h"

struct session;

/**
 * Find the checkpoints that can be read in a store that was set aside (or that
 * is unusable where it is) and that the session's store, if any, does not have.
 * Each is verified from its stored bytes.
 *
 * With `fix` they are copied into the session's store, which must be locked,
 * with the same ids, commits and pins; then the old store is renamed, see
 * health_salvaged(), so that it is never read again. What is lost for good is a
 * problem that was not fixed.
 */
int salvage_store(struct problems *out, struct session *session, const char *path, bool fix);

/**
 * Copy everything that was set aside in the place `path` into the session's
 * store, which must be locked, as checkpoints newer than its own: undo goes
 * back through their restores first. Called again after a crash, it continues.
 */
int salvage_merge(struct problems *out, struct session *session, const char *path);

#endif
