/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_H
#define CKPT_RESTORE_RESTORE_H

#include "captures/captures.h"
#include "gitstate/gitstate.h"
#include "restore/choose.h"
#include "restore/compose.h"
#include "restore/hunks.h"
#include "restore/into.h"
#include "restore/plan.h"
#include "restore/revert.h"

/**
 * Restoring a checkpoint.
 *
 *   plan      from one scan of the worktree and the checkpoint's tree
 *   stage     all new contents, checked, beside the user's files
 *   safety    a checkpoint of the state before, from that same scan
 *   journal   from here on an interruption can be continued or undone
 *   apply     renames, then removals
 *   verify    the state hash, computed again from what is on disk
 *   git       refs, HEAD, index, operation in progress, if that was asked for
 *   replay    captures, in the order in which they were taken
 *   journal   closed
 *
 * A failure before the journal leaves the user's files untouched.
 */
struct restore_result;

/**
 * A file that others depend on: a restore leaves it as it is, and names it among the warnings, if it
 * has a word that the checkpoint's lacks.
 */
struct restore_kept {
	const char *path, *word, *why;
};

/** A target that is not a checkpoint, but composed from the worktree; see compose.h. */
struct restore_composed {
	int (*make)(struct compose *compose, void *payload); /**< NULL: there is no such target */
	void *payload;
	/** Paths that count although a rule leaves them out now, sorted; NULL: none. */
	const struct strlist *also;
};

/** What undo, redo, --continue and --abort remember of the restore that they take up; see undo.c. */
struct restore_step {
	/** After an interruption: the state before it, whose rules count too; otherwise NULL. */
	const struct ckpt_record *interrupted;
	const struct journal *journal; /**< of that restore, as it was when the target was chosen */
	bool abort; /**< the target is that state, as if nothing had happened */
	/** What is reversed: files that it put there may go. NULL: none. */
	const struct ckpt_record *previous;
	/** Directories outside the paths that it created, which go if they are empty. NULL: none. */
	const struct strlist *made;
	/** Who asked for the restore that is undone; NULL: it does not matter. */
	const char *source;
	bool foreign; /**< what is redone brought files from elsewhere */
};

struct restore_opts {
	/**
	 * With `composed` it is what that is said to lead to, for reports and the audit trail, and how
	 * the worktree is scanned: its scope and flags, which the caller may have changed.
	 */
	const struct ckpt_record *target;
	struct restore_composed composed;
	struct restore_step step;
	struct gitback_opts git; /**< what else is restored */
	/**
	 * Filled in before confirm(), or in a dry run: what there is to choose from, and to be
	 * shown as a patch. NULL: not needed.
	 */
	struct choices *choices;
	enum journal_kind kind;
	const char *reason;          /**< for the audit trail; NULL: the target's */
	const char *intent; /**< for the title of the safety checkpoint; NULL: as `kind` says */
	const char *source;	     /**< who asks for it; NULL: JOURNAL_SOURCE */
	const struct strlist *paths; /**< sorted; empty: the checkpoint's scope */
	bool dry_run;
	bool no_delete;
	const struct restore_kept *kept; /**< ends with one without a path; NULL: none */
	bool no_verify;
	bool verify_full; /**< look at every file again, not only where the restore has been */
	bool force;
	bool captures; /**< restore captures of another machine, and imported ones, too */
	/**
	 * Called before anything is done, with the plan and what is to be said about HEAD; 0 goes
	 * on. NULL: do not ask.
	 */
	int (*confirm)(const struct restore_result *preview, struct session *session,
		       void *payload);
	void *payload;
	progress_fn progress;
};

struct restore_result {
	bool composed; /**< the target is, or was before an interruption */
	/** Paths of a composed target that stay as they are, and why; in the order of path. */
	struct plan_kept *conflicts;
	size_t conflicts_nr;
	bool done;         /**< false: a dry run */
	bool foreign;	   /**< somebody else may have chosen the files */
	struct plan plan;  /**< rows and kept; the actions are no longer valid */
	char pre_hash[STATEHASH_SIZE], post_hash[STATEHASH_SIZE], target_hash[STATEHASH_SIZE];
	bool verified;     /**< the result was checked */
	bool match;
	struct strlist
		differing; /**< paths that are not as in the checkpoint, if it does not match */
	bool incomplete;   /**< something was left that should have been restored or saved */
	char safety[CKPT_ID_SIZE]; /**< "" in a dry run */
	struct oid safety_commit;
	struct capture_outcomes captures;
	const char *own_check; /**< what restore_own_check() ran; NULL: nothing */
	int own_check_status;  /**< its exit status */
	struct gitleft head;
	struct gitleft *nested; /**< the same for repositories within the worktree, by path */
	size_t nested_nr, nested_alloc;
	struct gitback_told git;
	/** For confirm(): what the user agreed to before the plan grew; NULL: asked the first time. */
	const struct strlist *agreed;
	struct strlist warnings; /**< all others */
};

/** True if a capture that should have been restored was not. */
bool restore_captures_failed(const struct restore_result *result);

/**
 * In these cases nothing was touched: CKPT_EREFUSED, it is not safe, or undoes what somebody else
 * asked for;
 * CKPT_EDECLINED, confirm() said no; CKPT_ECORRUPT, the checkpoint is damaged.
 * The session must have a store.
 */
int restore_checkpoint(struct restore_result *out, struct session *session,
		       const struct restore_opts *opts);
void restore_result_release(struct restore_result *result);

/** Who asks for a restore. */
const char *restore_source(const struct restore_opts *opts);

/** Nothing is to be done, neither to files nor to the repository. */
bool restore_has_nothing_to_do(const struct restore_result *result);

/** For confirm(): true unless the user has agreed to this line about the repository before. */
bool restore_line_is_new(const struct restore_result *preview, const char *line);

/** For confirm(): true unless the user has agreed to this row of the plan before. */
bool restore_row_is_new(const struct restore_result *preview, const struct plan_row *row);

/**
 * Run the user's check in the restored worktree: `command`, or the setting
 * verifyCommand if that is NULL. Does nothing after a dry run, and leaves the
 * setting alone if the files are foreign: then a warning says so.
 * The lock is not held: the command may use checkpoints. `result` points at the command.
 */
void restore_own_check(struct restore_result *result, const struct session *session,
		       const char *command);

/** 0, or CKPT_EREFUSED if an interrupted restore must be finished first. */
int restore_check_settled(struct session *session);

/* --- undo.c --- */

/**
 * Restores whose target is not named but remembered: undo and redo walk the
 * stack of restores, --continue and --abort finish an interrupted one.
 */
enum undo_way { UNDO_BACK, UNDO_FORTH, UNDO_CONTINUE, UNDO_ABORT };

struct undo_job {
	struct ckpt_record target, interrupted, previous;
	char *source; /**< who asked for the restore that is undone */
	struct journal journal;
	struct strlist paths, made, git_refs, git_config;
	struct restore_opts opts; /**< filled in; confirm, progress and so on are up to the caller */
};

/**
 * Determine what to restore. CKPT_ENOTFOUND: there is nothing to undo, redo,
 * continue or abort. Call undo_job_release() in any case.
 */
int undo_job_init(struct undo_job *job, struct session *session, enum undo_way way);
void undo_job_release(struct undo_job *job);

/*
 * In this folder:
 *
 *   restore                 the order of events; doing what was agreed to
 *   compose                 targets that are not checkpoints, and their way into the store
 *   choose                  what a restore would change, path by path; a target of some of it
 *   hunks                   hunks as git cuts them, split, edited; the content they make
 *   plan restore_plan       what to do, from two trees, and as a few lines; from what is on disk
 *   protect survey          what must stay; what is in the way
 *   stage apply             new contents beside the user's files; putting them in place
 *   restore_verify          whether the result is right, and which directories to look at for that
 *   restore_journal         what a killed restore leaves
 *   undo                    undo, redo, --continue and --abort as restores
 *   into                    a copy in another directory; where it may be; the file that marks an
 *                           unfinished one
 *   into_write              its files, some shared with live ones; whether it is right
 *   into_worktree           a copy as a linked git worktree
 *   revert                  taking back what lies between two checkpoints; which two
 *   revert_path             one path of it: what to do, the merged text
 */

#endif
