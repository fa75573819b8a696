/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_H
#define CKPT_SAVE_SAVE_H

#include "captures/captures.h"
#include "gitstate/gitstate.h"
#include "keep/keep.h"
#include "save/worktree_state.h"

struct save_job;

/**
 * Taking a checkpoint. What is written, in this order, and what each step
 * guarantees:
 *
 *  1. The pack with all new objects, read back and synced. A crash before or
 *     during this step leaves a temporary that the next save removes.
 *  2. The ref. This is the moment at which the checkpoint exists; it is durable
 *     when the call returns, and everything it needs was durable before.
 *  3. Manifest line, audit line, stat cache. Losing them loses nothing: the
 *     first is rebuilt from the refs, without the last all files are read.
 *
 *  4. Retention, see retain.h. What the budget requires goes before step 1, by
 *     an estimate of the space that step needs.
 *
 * Nothing is written at all if nothing changed since the newest checkpoint of
 * the same scope. Captures and state files come first, before the scan.
 */
/** How long it stays, and what it is called. */
struct save_kept {
	int64_t expiry; /**< 0: never */
	bool pin;
	const char *name; /**< to give to it, a valid one; NULL: none */
	bool move_name;	  /**< even if another one has it */
};

/** Whether it is due at all. */
struct save_cadence {
	uint64_t every;	      /**< 0: not asked for */
	int64_t min_interval; /**< seconds, 0: not asked for */
};

/** A restore saves the state before it touches anything. */
struct save_safety {
	const char *target; /**< the id to be restored. NULL: this is no such save */
	bool cache_later;   /**< the caller writes the stat cache soon; write it here only after long
			     * reading */
};

struct save_opts {
	const char *reason;
	const char *source;
	const char *before; /**< what is about to be done, see title.h; NULL: nothing known */
	const char *done;   /**< what has just been done, likewise */
	const struct ckpt_agent *agent; /**< labels; never a reason to save. NULL: none */
	struct turn_event *turn; /**< with `agent`: the event that it is taken for. NULL: none */
	int64_t step;   /**< -1: none */
	bool automatic; /**< taken unasked, so its reason alone is not worth a checkpoint */
	bool said;      /**< the reason was given, not made up: words that are new are kept */
	struct save_kept kept;
	struct save_cadence cadence;
	struct save_safety safety;
	struct extras_opts extras;
	/** Which files: `scope` (NULL: all), what is included, `until` when, `progress`. */
	struct worktree_state_opts scan;
	bool allow_empty;
	bool force; /**< any place, however many files */
	const struct strlist *keep; /**< ids that retention must spare, or NULL */
	/**
	 * Gets what the rules left out (scan->left_out): adds the paths to save
	 * nevertheless, each with everything below it. NULL: none.
	 */
	int (*choose)(struct strlist *out, const struct scan *scan, void *payload);
	void *choose_payload;
	/** Turns what was read into what is to be saved, and keeps it out of the stat cache. */
	int (*amend)(struct save_job *job, void *payload);
	void *amend_payload;
	const struct strlist *notes; /**< more warnings for the checkpoint; NULL: none */
	/** Called with a new checkpoint before retention runs, with the store locked. */
	void (*taken)(const struct ckpt_record *record, void *payload);
	void *taken_payload;
};

enum save_outcome {
	SAVE_CREATED,
	SAVE_UNCHANGED, /**< `record` is the newest of the scope, which equals this state */
	SAVE_NOT_YET,   /**< by --every or --min-interval; `record` is the newest, if there is one */
};

struct save_result {
	enum save_outcome outcome;
	bool have_record;
	struct ckpt_record record;
	struct skip_list skips;
	struct strlist once; /**< those of the record's warnings that a person is told once */
	uint64_t new_bytes; /**< added to the store */
	double seconds;
	char *evicted; /**< "<id> (<why>)" of what it pushed out and somebody had asked for; or NULL */
	bool no_room; /**< it failed because it does not fit into maxSize */
	bool late;    /**< it failed because of `scan.until`; what was read is kept for the next save */
	unsigned percent; /**< `late`: how much was read */
};

/**
 * Creates the store if there is none yet. CKPT_EREFUSED: a place that is not
 * saved without `force`. CKPT_ELOCKED: see store_lock().
 */
int save_checkpoint(struct save_result *out, struct session *session, const struct save_opts *opts);
void save_result_release(struct save_result *result);

/**
 * CKPT_EREFUSED for places that nobody wants to save as a whole, so that no store is created for
 * them.
 */
int save_check_place(const struct session *session);

/**
 * The same in steps, for a restore, which plans from the very state that its
 * safety checkpoint saves. Call in this order; save_job_end() in any case.
 */
struct save_job {
	struct session *session;
	const struct save_opts *opts;
	struct store *store;
	struct ref_list refs; /**< the current ones; all of this is read with the lock held */
	bool listed; /**< the manifest agrees with them */
	bool interrupted; /**< a restore was interrupted: its journal exists */
	bool have_newest;
	struct ckpt_record newest; /**< of the same scope */
	bool newest_is_latest;     /**< it is also what "@" means */
	struct gitsave git;
	struct ckpt_meta newest_meta;
	struct worktree_state current;
	struct extras extras;
	struct strlist notes; /**< more warnings */
	struct strlist chosen; /**< paths that a rule leaves out, but `choose` includes */
	struct pack *pack;
	struct ckpt_meta meta;
	uint64_t more;	/**< bytes that the caller will add to the pack, at most */
	bool no_room;   /**< it failed because it does not fit into maxSize */
	struct retain_room room;
	char state_hash
		[STATEHASH_SIZE]; /**< of the current state, if the caller knows it; otherwise empty */
};

/** Lock the store, find the newest checkpoint. */
int save_job_begin(struct save_job *job, struct session *session, const struct save_opts *opts);

/** The tree of files: of the scan, or without files an empty one. */
struct wt_dir *save_job_root(const struct save_job *job);

/** Write the stat cache, if that is worth it: the worktree is `commit`. */
void save_job_write_cache(struct save_job *job, const struct oid *commit);

/** Scan, after extras_take(); may be repeated with other options. */
int save_job_scan(struct save_job *job, const struct worktree_state_opts *how);

/** Read what is not known into the pack. */
int save_job_read(struct save_job *job);

/** Create the checkpoint, or find that the newest is the same; only needs the scan. */
int save_job_commit(struct save_result *out, struct save_job *job);

void save_job_end(struct save_job *job);

/*
 * In this folder:
 *
 *   worktree_state          the current state of the worktree, scanned and read; what a watcher spares;
 *                           what the user must know about it
 *   save                    the order of events: whether a save is due, whether the newest checkpoint
 *                           is as good
 *   save_create save_room   record and ref; room in the budget
 *   save_lines              how many lines were added and deleted
 *   save_sibling            the first one of a worktree whose repository has others
 */

#endif
