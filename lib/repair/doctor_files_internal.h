/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_DOCTOR_FILES_INTERNAL_H
#define CKPT_REPAIR_DOCTOR_FILES_INTERNAL_H

#include "store/store.h"
#include "tree/tree.h"

struct session;
struct store;

/** The part of doctor.c that checks small files. Not for any other file. */
struct doctor {
	struct session *session;
	struct store *store;
	struct problems *out;
	bool fix;
	progress_fn progress;
};

/**
 * What dead processes left half-written in the store. Called before it is
 * locked: whoever takes the lock removes it.
 */
void doctor_temporaries(struct doctor *doctor);

/** Marks, the audit trail, the turns of agents, the undo stack, the journal, what a restore left in the worktree. */
int doctor_files(struct doctor *doctor);

/** The last of these two; in doctor_restore.c. */
int doctor_restores(struct doctor *doctor);

#endif
