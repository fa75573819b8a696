/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_H
#define CKPT_SAVE_SAVE_H

#include "record/record.h"
#include "retention/retention.h"
#include "save/capture.h"
#include "save/extras.h"
#include "save/worktree_state.h"

#include <stdbool.h>
#include <stdint.h>

struct save_job;
struct session;

/**
 * Taking a checkpoint. What is written, in this order, and what each step
 * guarantees:
 *
 *  1. The pack with all new objects, read back and synced. A crash before or
 *     in this step leaves a temporary that the next save removes.
 *  2. The ref. This instant makes the checkpoint exist; it is durable when the
 *     call returns, and all that it needs was durable before.
 *  3. Manifest line, audit line, stat cache. Losing them loses nothing: the
 *     first is made anew from the refs, without the last all files are read.
 *
 *  4. Retention, see retain.h. What the budget asks for goes before step 1, by
 *     an estimate of what that will take.
 *
 * Nothing is written at all if nothing changed since the newest checkpoint of
 * the same scope. Captures and state files come first, before the scan.
 */
struct save_state_file {
	const char *key;
	const char *path; /**< as open(2) takes it; need not be a regular file */
};

struct save_opts {
	const char *reason;
	const char *source;
	int64_t step;   /**< -1: none */
	int64_t expiry; /**< 0: never */
	bool pin;
	const struct ckpt_state *states;
	size_t states_nr;
	const struct save_state_file *state_files;
	size_t state_files_nr;
	const struct strlist *captures; /**< names of those to take, beside automatic ones; or NULL */
	bool no_auto_captures; /**< automatic ones are not taken, however long they would need */
	bool exact_captures;   /**< a checkpoint with further captures is not the same */
	bool state_only;       /**< no files; automatic captures neither */
	uint64_t every;       /**< 0: not asked for */
	int64_t min_interval; /**< seconds, 0: not asked for */
	bool allow_empty;
	bool include_ignored;
	bool include_sensitive;
	bool no_defaults; /**< the patterns that a new store begins with do not count */
	bool force;
	double until; /**< clock_monotonic(): what will not be done by then is given up in time; 0: none */
	bool cache_later; /**< the caller writes the stat cache soon; only after long reading here */
	const struct strlist *keep;  /**< ids that retention must spare, or NULL */
	const struct strlist *scope; /**< sorted paths below the root; empty: all */
	progress_fn progress;
	/**
	 * Told what the rules left out (scan->left_out): adds the paths that are to be
	 * taken all the same, each with all below it. NULL: none are.
	 */
	int (*choose)(struct strlist *out, const struct scan *scan, void *payload);
	void *choose_payload;
	/** Makes what was read into what is to be saved, and keeps the stat cache out of it. */
	int (*amend)(struct save_job *job, void *payload);
	void *amend_payload;
	const struct strlist *notes; /**< further warnings of the checkpoint; NULL: none */
	/** Told of a new checkpoint before retention looks at it, with the store locked. */
	void (*taken)(const struct ckpt_record *record, void *payload);
	void *taken_payload;
};

enum save_outcome {
	SAVE_CREATED,
	SAVE_UNCHANGED, /**< `record` is the newest of the scope, which this state equals */
	SAVE_NOT_YET,   /**< --every or --min-interval said so; `record` is the newest, if there is one */
};

struct save_result {
	enum save_outcome outcome;
	bool have_record;
	struct ckpt_record record;
	struct skip_list skips;
	uint64_t new_bytes; /**< added to the store */
	double seconds;
	bool no_room; /**< why it failed: it does not fit into maxSize */
	bool late;    /**< why it failed: see `until`; what was read is kept for the next save */
	unsigned percent; /**< `late`: how much that is */
};

/**
 * Makes the store if there is none yet. CKPT_EREFUSED: a place that
 * is not saved without `force`. CKPT_ELOCKED: see store_lock().
 */
int save_checkpoint(struct save_result *out, struct session *session, const struct save_opts *opts);
void save_result_release(struct save_result *result);

/** CKPT_EREFUSED for places that nobody means to save as a whole: no store is to be made there. */
int save_check_place(const struct session *session);

/**
 * The same in steps, for a restore, which plans from the very state that its
 * safety checkpoint is made of. In this order; save_job_end() in any case.
 */
struct save_job {
	struct session *session;
	const struct save_opts *opts;
	struct store *store;
	struct ref_list refs; /**< as they are; all of this is known with the lock */
	bool listed; /**< the manifest agrees with them */
	bool interrupted; /**< a restore was: its journal is there */
	bool have_newest;
	struct ckpt_record newest; /**< of the same scope */
	struct ckpt_meta newest_meta;
	struct worktree_state current;
	struct extras extras;
	struct strlist notes; /**< further warnings */
	struct strlist chosen; /**< paths that a rule leaves out, but `choose` does not */
	struct pack *pack;
	struct ckpt_meta meta;
	bool no_room;   /**< why it failed: it does not fit into maxSize */
	struct retain_room room;
	char state_hash
		[STATEHASH_SIZE]; /**< of the current state, if the caller knows it; else empty */
};

/** Lock the store, find the newest checkpoint. */
int save_job_begin(struct save_job *job, struct session *session, const struct save_opts *opts);

/** The tree of files: of the scan, or with `state_only` an empty one. */
const struct wt_dir *save_job_root(const struct save_job *job);

/** The stat cache, if it is worth it: the worktree is `commit`. */
void save_job_write_cache(const struct save_job *job, const struct oid *commit);

/** Scan, after extras_take(); may be done again with other options. */
int save_job_scan(struct save_job *job, const struct worktree_state_opts *how);

/** Read what is not known into the pack. */
int save_job_read(struct save_job *job);

/** Make the checkpoint, or find that the newest one is the same; scanned is enough. */
int save_job_commit(struct save_result *out, struct save_job *job);

void save_job_end(struct save_job *job);

/** save_create.c: write the record and make the ref; for save_job_commit() alone. */
int save_create(struct save_result *out, struct save_job *job);

#endif
