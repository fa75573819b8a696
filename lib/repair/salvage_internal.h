/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_SALVAGE_INTERNAL_H
#define CKPT_REPAIR_SALVAGE_INTERNAL_H

#include "store/store.h"

struct session;

/**
 * <path>.replaced-<time>: a store whose place another one has taken, and which waits to be
 * merged into that. Then it is called <path>.merged-<time>, and never read again; so is one that
 * had no checkpoints.
 */
char *salvage_new_name(const char *path, bool waits);

/** The paths of those that wait in the place `path`, oldest first. */
int salvage_waiting(struct strlist *out, const char *home, const char *path);

/**
 * Find the checkpoints that can be read in such a store and that the session's store, if any,
 * does not have. Each is verified from its stored bytes.
 *
 * With `fix` they are copied into the session's store, which must be locked,
 * with the same ids, commits and pins; then the old store is renamed. What is lost for good is a
 * problem that was not fixed.
 */
int salvage_store(struct problems *out, struct session *session, const char *path, bool fix);

/**
 * Copy everything that waits in the place `path` into the session's
 * store, which must be locked, as checkpoints newer than its own: undo goes
 * back through their restores first. Called again after a crash, it continues.
 */
int salvage_merge(struct problems *out, struct session *session, const char *path);

#endif
