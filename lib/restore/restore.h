/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_H
#define CKPT_RESTORE_RESTORE_H

#include "base/base.h"
#include "record/record.h"
#include "restore/plan.h"
#include "worktree/worktree.h"

#include <stdbool.h>

struct session;

/**
 * Bringing a checkpoint back.
 *
 *   plan      from one scan of the worktree and the checkpoint's tree
 *   stage     all new contents, checked, beside the user's files
 *   safety    a checkpoint of the state before, from that same scan
 *   journal   from here on an interruption can be continued or undone
 *   apply     renames, then removals
 *   verify    the state hash, computed again from what is on the disk
 *   replay    captures, in the order in which they were taken
 *   journal   closed
 *
 * Whatever fails before the journal has touched nothing of the user's.
 */
struct restore_opts {
	const struct ckpt_record *target;
	enum journal_kind kind;
	const char *reason;          /**< for the audit trail; NULL: the target's */
	const struct strlist *paths; /**< sorted; empty: the checkpoint's scope */
	bool dry_run;
	bool no_delete;
	bool no_verify;
	bool force;
	/** Recovering from an interruption: the state before it, whose rules count too; else NULL. */
	const struct ckpt_record *interrupted;
	const struct journal *journal; /**< of that restore, as it was when the target was chosen */
	/** What undo, redo and --abort take back: files that it put there may go. NULL: none. */
	const struct ckpt_record *previous;
	/** Directories outside of the paths that it made, which go if they are empty. NULL: none. */
	const struct strlist *made;
	bool abort;              /**< the target is that state: as if nothing had happened */
	/** Asked with the plan before anything is done; 0 goes on. NULL: not asked. */
	int (*confirm)(const struct plan *plan, void *payload);
	void *payload;
	/** Called with the lock held when the files are back; may add warnings. NULL: not called. */
	void (*restored)(const struct session *session, struct strlist *warnings);
	progress_fn progress;
};

/** What became of a capture; see restore_capture_status_name(). */
enum restore_capture_status {
	RESTORE_CAPTURE_PLANNED,
	RESTORE_CAPTURE_DONE,
	RESTORE_CAPTURE_FAILED,
	RESTORE_CAPTURE_UNCONFIGURED, /**< nobody knows any more how to restore it */
	RESTORE_CAPTURE_LEFT,         /**< because the files did not come out right */
};

struct restore_capture {
	char *name;
	enum restore_capture_status status;
};

struct restore_result {
	bool done;         /**< false: a dry run */
	struct plan plan;  /**< rows and kept; the actions are not valid any more */
	char pre_hash[STATEHASH_SIZE], post_hash[STATEHASH_SIZE], target_hash[STATEHASH_SIZE];
	bool verified;     /**< was looked at */
	bool match;
	bool incomplete;   /**< something was left that should have been restored or saved */
	char safety[CKPT_ID_SIZE]; /**< "" in a dry run */
	struct oid safety_commit;
	struct restore_capture *captures; /**< in the order of replay */
	size_t captures_nr;
	const char *own_check; /**< what restore_own_check() ran; NULL: nothing */
	int own_check_status;  /**< its exit status */
	struct strlist warnings;
};

/** "planned", "restored", "failed", "not configured", "not replayed". */
const char *restore_capture_status_name(enum restore_capture_status status);

/** True if a capture that should have been replayed was not. */
bool restore_captures_failed(const struct restore_result *result);

/**
 * In these cases nothing was touched: CKPT_EREFUSED, it is not safe;
 * CKPT_EDECLINED, confirm() said no; CKPT_ECORRUPT, the checkpoint is damaged.
 * The session must have a store.
 */
int restore_checkpoint(struct restore_result *out, struct session *session,
		       const struct restore_opts *opts);
void restore_result_release(struct restore_result *result);

/**
 * Run the user's own check in the restored worktree: `command`, or the setting
 * verifyCommand if that is NULL. Nothing after a dry run. The lock is not held:
 * the command may use checkpoints. `result` points at the command.
 */
void restore_own_check(struct restore_result *result, const struct session *session,
		       const char *command);

/** 0, or CKPT_EREFUSED if an interrupted restore has to be settled first. */
int restore_check_settled(struct session *session);

/* --- undo.c --- */

/**
 * Restores whose target is not named but remembered: undo and redo walk the
 * stack of restores, --continue and --abort settle an interrupted one.
 */
enum undo_way { UNDO_BACK, UNDO_FORTH, UNDO_CONTINUE, UNDO_ABORT };

struct undo_job {
	struct ckpt_record target, interrupted, previous;
	struct journal journal;
	struct strlist paths, made;
	struct restore_opts opts; /**< filled in; confirm, progress and the like are the caller's */
};

/**
 * Find out what to restore. CKPT_ENOTFOUND: there is nothing to undo, redo,
 * continue or abort. undo_job_release() in any case.
 */
int undo_job_init(struct undo_job *job, struct session *session, enum undo_way way);
void undo_job_release(struct undo_job *job);

#endif
