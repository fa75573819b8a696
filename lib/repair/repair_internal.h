/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_REPAIR_INTERNAL_H
#define CKPT_REPAIR_REPAIR_INTERNAL_H

#include "repair/repair.h"

/** The part of doctor.c that checks small files. Not for any other file. */
struct doctor {
	struct session *session;
	struct store *store;
	struct problems *out;
	bool fix;
	progress_fn progress;
	size_t before_packs, after_packs; /* what is wrong with packs is between these problems */
};

/**
 * What dead processes left half-written in the store. Called before it is
 * locked: whoever takes the lock removes it.
 */
void doctor_temporaries(struct doctor *doctor);

/** What the store remembers. Before anything of it is read, or written, which would set it aside. */
void doctor_state(struct doctor *doctor);

/** Marks, the audit trail, the turns of agents, the undo stack, the journal, what a restore left in the worktree. */
int doctor_files(struct doctor *doctor);

/** The last of these two; in doctor_restore.c. */
int doctor_restores(struct doctor *doctor);

/* --- salvage.c --- */

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
