/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPAIR_DOCTOR_FILES_INTERNAL_H
#define CKPT_REPAIR_DOCTOR_FILES_INTERNAL_H

#include "store/store.h"
#include "worktree/worktree.h"

struct session;
struct store;

/** The part of doctor.c that looks at small files. For nobody else. */
struct doctor {
	struct session *session;
	struct store *store;
	struct problems *out;
	bool fix;
	progress_fn progress;
};

/**
 * What dead processes left half-written in the store. Before it is locked: who
 * gets the lock removes it.
 */
void doctor_temporaries(struct doctor *doctor);

/** Marks, the audit trail, the stack of undo, the journal, what a restore left in the worktree. */
int doctor_files(struct doctor *doctor);

/** The last of these two; in doctor_restore.c. */
int doctor_restores(struct doctor *doctor);

#endif
