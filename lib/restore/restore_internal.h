/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_INTERNAL_H
#define CKPT_RESTORE_RESTORE_INTERNAL_H

#include "restore/protect_internal.h"
#include "restore/restore.h"
#include "restore/restore_hash_internal.h"
#include "restore/stage_internal.h"
#include "restore/survey_internal.h"
#include "save/save.h"
#include "settings/settings.h"

/** The inside of a restore, for restore*.c alone. */

/** A checkpoint that a restore looks into: what hangs off it, and its tree. Each is read once. */
struct restore_point {
	struct ckpt_meta meta;
	struct snapshot *tree; /**< NULL: not opened */
};

struct restore {
	struct session *session;
	const struct restore_opts *opts;
	struct strlist scope; /**< what is scanned: the named paths or the checkpoint's scope */
	struct strlist keep;  /**< ids that the safety checkpoint must not push out */
	struct save_opts safety;
	struct save_job job;
	struct restore_point target;
	struct restore_point interrupted; /**< the state before an interrupted one */
	struct snapshot *previous; /**< what is taken back; NULL: nothing */
	struct protect *protect;
	struct modes modes; /**< of the worktree */
	struct strlist also;
	struct survey survey;
	struct stage stage;
	struct plan plan;
	struct strlist made; /**< directories outside of the scope that the plan makes, sorted */
	struct capture_defs defs;
	struct ckpt_captures captures; /**< of the target, those that come back with it */
	struct strlist replayed;       /**< names of those for which there is a command */
	/** As it is on the disk, where only who has the lock changes it; "" as safety: there is none. */
	struct journal journal;
};

int restore_point_open(struct restore_point *out, struct store *store,
		       const struct ckpt_record *record);
void restore_point_close(struct restore_point *source);

/** Nothing but state, and perhaps captures: no file is looked at, let alone touched. */
static inline bool restore_is_state_only(const struct restore *r)
{
	return r->opts->target->state_only;
}

#define RESTORE_NO_SAFETY "no safety checkpoint could be taken, nothing was touched"

/* --- restore_plan.c --- */

/** Look at the worktree and plan; with `store` it is read into the pack of the safety checkpoint. */
int restore_plan(struct restore *r, bool store);

/** Refuse what cannot be done, or with --force keep what stands in the way of it. */
int restore_check_plan(struct restore_result *out, struct restore *r);

/* --- restore_journal.c --- */

/** From here on an interruption has to be continued or undone; `safety` is the state before. */
int restore_begin_journal(struct restore *r, const char *safety);

/** For apply_run(): note the mode of a directory that gets another for a moment. */
int restore_note_mode(const char *path, mode_t mode, void *payload);

/** After an interruption: set the modes that were noted, where nobody else has set one since. */
void restore_settle_modes(struct restore *r);

/** Note the restore for undo and redo. */
int restore_note(struct restore *r, const char *safety);

/** Remove what interrupted restores had prepared and displaced, if all of it is stored: for its room. */
int restore_free_staging(struct restore *r);

/** Remove it; what is not stored is kept under another name. */
int restore_settle_staging(struct restore_result *out, struct restore *r);

/** From here on --abort has to replay captures, too. */
int restore_note_replay(struct restore *r);

/* --- restore_captures.c --- */

/** Find out which captures come back. */
int restore_open_captures(struct restore *r);
void restore_close_captures(struct restore *r);

/** As a dry run has it, and for the plan. */
void restore_plan_captures(struct restore_result *out, struct restore *r);

/** Make sure that they can be read, and take the same ones for the safety checkpoint. */
int restore_save_captures(struct restore_result *out, struct restore *r);

/** Replay them. Only an interruption is a failure; else the result says what was not possible. */
int restore_replay(struct restore_result *out, struct restore *r);

/* --- restore_warn.c --- */

/** What the user should know: about the project, the plan, and what is left alone. */
void restore_warn(struct restore_result *out, struct restore *r);

/* --- restore_verify.c --- */

struct restore_hash restore_hash_init(const struct restore *r);

/**
 * Paths, sorted, that the snapshot has and the scan has not although they are
 * on the disk: a rule leaves them out.
 */
int restore_find_left_out(struct strlist *out, struct snapshot *snapshot,
			  const struct strlist *paths, const struct scan *scan);

/** Look at what is on the disk now and compare; sets post_hash, verified and match. */
int restore_verify(struct restore_result *out, struct restore *r);

#endif
