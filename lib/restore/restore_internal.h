/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_INTERNAL_H
#define CKPT_RESTORE_RESTORE_INTERNAL_H

#include "restore/protect_internal.h"
#include "restore/restore.h"
#include "restore/stage_internal.h"
#include "save/save.h"

/** The internals of a restore, for restore*.c alone. */

/* --- survey.c --- */

/**
 * What is in the way of a plan on disk: things that the scan left out (ignored,
 * sensitive, special, unreadable) where the checkpoint has something. Only
 * looks.
 */
struct survey {
	struct strlist also;      /**< what could be captured by name, then overwritten */
	struct strlist dirs;      /**< directories that could be captured by name, as they are */
	struct strlist elsewhere; /**< on another file system, which no rename can reach */
	struct strlist denied;    /**< what this user may not change */
	struct strlist conflicts; /**< a sentence for each thing that must not be touched */
};

/**
 * Also splits up the creation of directories that already exist, so that their
 * contents are created one by one, and keeps directories in which something
 * would be left. `opts` are those with which the plan was made.
 */
int survey_run(struct survey *out, struct plan *plan, const struct plan_opts *opts, int rootfd);
void survey_release(struct survey *survey);

/** "file", "directory", "symbolic link", "special file". */
const char *survey_kind(const struct stat *st);

/* --- the restore --- */

/** A checkpoint that a restore reads: its metadata and its tree. Each is read once. */
struct restore_point {
	struct ckpt_meta meta;
	struct snapshot *tree; /**< NULL: not opened */
};

struct restore {
	struct session *session;
	const struct restore_opts *opts; /**< of a composed target `own` */
	struct restore_opts own;
	const struct ckpt_record *leads_to; /**< the target, or what a composed one is said to be */
	struct ckpt_record composed;	    /**< the target, if there is a `compose` */
	struct compose *compose;
	struct restore_point held; /**< `leads_to`, if the target is composed */
	bool is_stored;		   /**< the composed target is in the store */
	struct strlist touched;	   /**< of a composed target: what it changes, sorted */
	struct strlist scope; /**< what is scanned: the named paths or the checkpoint's scope */
	struct strlist keep;  /**< ids that the safety checkpoint must not evict */
	char *intent;	      /**< as the safety checkpoint has it */
	struct save_opts safety;
	struct save_job job;
	struct restore_point target;
	struct restore_point interrupted; /**< the state before an interrupted restore */
	struct snapshot *previous; /**< what is being undone; NULL: nothing */
	struct protect *protect;
	struct modes modes; /**< of the worktree */
	struct strlist also;
	struct strlist guarded; /**< files of opts->kept that would lose what must stay */
	struct survey survey;
	struct stage stage;
	struct plan plan;
	struct strlist made; /**< directories outside the scope that the plan creates, sorted */
	struct capture_back captures; /**< those of the target that are restored with it */
	/**
	 * As it is on disk, where only the holder of the lock changes it; "" as safety: there is
	 * none.
	 */
	struct journal journal;
	struct gitback git;
};

int restore_point_open(struct restore_point *out, struct store *store,
		       const struct ckpt_record *record);
void restore_point_close(struct restore_point *source);

/** Only state, and perhaps captures: no file is read or touched. */
static inline bool restore_is_state_only(const struct restore *r)
{
	return r->opts->target->state_only;
}

#define RESTORE_NO_SAFETY "no safety checkpoint could be taken, nothing was touched"

/* --- compose.c --- */

/** Before anything else: `opts` become the restore's own. */
void restore_compose_init(struct restore *r);

/** Compose the target from what was scanned and read, in place of the last one. */
int restore_compose(struct restore *r);

/** What it changes, when the plan is made: the scope of its undo. */
void restore_compose_touched(struct restore *r);

/** Put it into the pack of the safety checkpoint. */
int restore_compose_pack(struct restore *r);

/** For save_opts.taken, and afterwards: make it exist, unless it does. The pack is complete. */
int restore_compose_store(struct restore *r);

/** What stays as it is, of a target composed now or before an interruption. */
void restore_compose_say(struct restore_result *out, const struct restore *r);

void restore_compose_release(struct restore *r);

/** How many bytes it may add to the store. */
uint64_t restore_compose_bytes(const struct restore *r);

/** The order in which everything below a path follows it. */
int compose_compare_paths(const char *a, const char *b);

/** Append the contents of what shall be at a path of a composed target. */
int compose_read_new(struct strbuf *out, const struct compose *compose, const char *path,
		     const struct wt_entry *entry);

/** Append what is on the disk at `path`: exactly what was seen there, or CKPT_EREFUSED. */
int compose_read_disk(struct strbuf *out, int rootfd, const char *path,
		      const struct wt_entry *seen);

/* --- restore_plan.c --- */

/** How the worktree is scanned, for the plan and for the verification. */
struct worktree_state_opts restore_scan_opts(const struct restore *r);

/** Scan the worktree and plan; with `store` it is read into the pack of the safety checkpoint. */
int restore_plan(struct restore *r, bool store);

/** What the user should know: about the project, the plan, and what is left alone. */
void restore_warn(struct restore_result *out, struct restore *r);

/** Refuse what cannot be done, or with --force keep what prevents it. */
int restore_check_plan(struct restore_result *out, struct restore *r);

/** Add what is planned to what the user agreed to, which is kept sorted. */
void restore_agree(struct strlist *agreed, const struct restore_result *preview);

/**
 * Files and the repository change while the user thinks: true if something is planned that was not
 * agreed to.
 */
bool restore_has_grown(const struct plan *plan, const struct gitback_told *git,
		       const struct strlist *agreed);

/* --- restore_journal.c --- */

/** 0, or CKPT_EREFUSED if it undoes what somebody else asked for; in undo.c. */
int restore_check_source(const struct restore_opts *opts);

/** From here on an interruption must be continued or undone; `safety` is the state before. */
int restore_begin_journal(struct restore *r, const char *safety);

/** For apply_run(): record the mode of a directory that is changed for a moment. */
int restore_note_mode(const char *path, mode_t mode, void *payload);

/** After an interruption: set the recorded modes, unless somebody has changed them since. */
void restore_settle_modes(struct restore *r);

/** Record the restore for undo and redo. */
int restore_note(struct restore *r, const char *safety);

/**
 * Remove what interrupted restores had prepared and displaced, if all of it is stored: to free
 * space.
 */
int restore_free_stages(struct restore *r);

/** Remove it; what is not stored is kept under another name. */
int restore_settle_stages(struct restore_result *out, struct restore *r);

/** From here on --abort has to restore captures, too. */
int restore_note_replay(struct restore *r);

/* --- choose.c --- */

/** Fill in opts->choices, if that is wanted: a choice for each row of the plan. */
int restore_choose(struct restore *r);

/* --- restore_verify.c --- */

/**
 * State hashes of the target and of the worktree as scanned and read, over what the restore affects;
 * sets target_hash and pre_hash.
 */
int restore_hash_both(struct restore_result *out, struct restore *r);

/**
 * Paths, sorted, that the snapshot has and the scan does not although they are
 * on disk: a rule leaves them out.
 */
int restore_find_left_out(struct strlist *out, struct snapshot *snapshot,
			  const struct strlist *paths, const struct scan *scan);

/** Read what is on disk now and compare; sets post_hash, verified and match. */
int restore_verify(struct restore_result *out, struct restore *r);

#endif
