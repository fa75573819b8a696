/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_UNDO_H
#define CKPT_RESTORE_UNDO_H

#include "record/record.h"
#include "restore/restore.h"

struct session;

/**
 * Restores whose target is not named but remembered: undo and redo walk the
 * stack of restores, --continue and --abort settle an interrupted one.
 */
enum undo_kind { UNDO_BACK, UNDO_FORTH, UNDO_CONTINUE, UNDO_ABORT };

struct undo_job {
	struct ckpt_record target, interrupted, previous;
	struct strlist paths, made;
	char *reason;
	struct restore_opts opts; /**< filled in; confirm, progress and the like are the caller's */
};

/**
 * Find out what to restore. CKPT_ENOTFOUND: there is nothing to undo, redo,
 * continue or abort. undo_job_release() in any case.
 */
int undo_job_init(struct undo_job *job, struct session *session, enum undo_kind kind);
void undo_job_release(struct undo_job *job);

#endif
