/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_STATUS_H
#define CKPT_LOOK_STATUS_H

#include "record/record.h"

struct session;

/**
 * Checkpoints of a session, which may have no store: all, or only as many as
 * are enough (NULL: all). Takes no lock and writes nothing. Lost refs are
 * reported among the damaged ones.
 */
int look_list(struct ckpt_records *out, struct session *session,
	      const struct ckpt_enough *enough);

/**
 * Whether everything is saved: which checkpoint the worktree is compared with,
 * what changed since then, and what follows from that.
 */

/** "Am I safe?" */
enum status_safety {
	STATUS_SAFE,
	STATUS_NOTHING, /**< no checkpoint of any file */
	STATUS_SCOPE,	/**< only some paths are saved */
	STATUS_CHANGED, /**< something changed since */
	STATUS_MISSING, /**< the checkpoint is incomplete */
};

struct status_changes {
	size_t added, modified, deleted;
};

struct status {
	struct ckpt_records recent; /**< the newest, and perhaps the one that was restored last */
	struct ckpt_briefs all;
	/** Among `recent`, or NULL. */
	const struct ckpt_record *newest; /**< what "@" means */
	const struct ckpt_record *base;	  /**< what the worktree is compared with */
	bool restored;		       /**< the base is what the last restore restored */
	struct status_changes changes; /**< since the base */
	enum status_safety safety;
	uint64_t bytes;		 /**< that the store takes */
	struct strlist warnings; /**< about what the next save cleans up */
};

/** With at least `recent` of the newest checkpoints; each is read once, the worktree scanned once. */
int status_read(struct status *out, struct session *session, size_t recent, progress_fn progress);
void status_release(struct status *status);

size_t status_changes_nr(const struct status_changes *changes);

/* --- decisions, from what is given alone --- */

/** `base` NULL: there is none. */
enum status_safety status_judge(const struct ckpt_record *base,
				const struct status_changes *changes);

/**
 * The checkpoint that the last restore, undo or redo of everything restored, if
 * it is among `records` and of the whole worktree; otherwise NULL.
 */
const struct ckpt_record *status_last_restored(const struct undo_stack *stack,
					       const struct ckpt_records *records);

#endif
