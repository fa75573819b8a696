/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CAPTURES_CAPTURES_H
#define CKPT_CAPTURES_CAPTURES_H

#include "record/record.h"

struct session;
struct spool;

/**
 * Captures: state outside the files that a checkpoint can hold, databases
 * above all, and the commands that save and restore it.
 *
 *     [capture "<name>"]
 *     type    = database_savepoint | file_backup | state_snapshot
 *     save    = <command>     its output is stored
 *     restore = <command>     gets that on stdin
 *     auto    = <bool>        part of every save
 *     timeout = <dur>         of either command; "none" by default
 *
 * They run commands, so they are read only from the user's file and the
 * store's (see settings.h). If both set a key, the store's file wins; an empty
 * command means none. Names are those of record_capture_name_valid().
 */
struct capture_def {
	char *name;
	char *type;
	char *save;    /**< NULL: none */
	char *restore; /**< NULL: none */
	bool automatic;
	int64_t timeout; /**< seconds; 0: none */
};

struct capture_defs {
	struct capture_def
		*items; /**< in the order in which their names first appear in the files */
	size_t nr, alloc;
	struct strlist warnings; /**< unknown keys, with file and line */
};

/**
 * Those for a worktree; without a session, or without a store, the user's alone. A bad name or value
 * is an error; the message names file and line.
 */
int capture_load(struct capture_defs *out, const struct session *session);

/** The same by name; `store_file` and `worktree`: as for settings_load(). */
int capture_defs_load(struct capture_defs *out, const char *store_file, const char *worktree);
void capture_defs_release(struct capture_defs *defs);

/** NULL if there is no such capture. */
const struct capture_def *capture_defs_find(const struct capture_defs *defs, const char *name);

#define CAPTURE_DATABASE "database_savepoint"

/**
 * Read all bytes of captures: the command that restores them must not get wrong ones. Those
 * in `sound` were read before, the others are added to it; NULL: all are read.
 */
int capture_check(struct session *session, const struct ckpt_captures *captures,
		  struct oidset *sound);

/* --- extras.c: into a checkpoint --- */

struct extras_state_file {
	const char *key;
	const char *path; /**< as for open(2); need not be a regular file */
};

/** What a checkpoint is to hold besides files: values of state keys, and captures. */
struct extras_opts {
	const struct ckpt_state *states;
	size_t states_nr;
	const struct extras_state_file *state_files;
	size_t state_files_nr;
	const struct strlist
		*captures; /**< names of those to take besides automatic ones; or NULL */
	bool no_auto;	   /**< take no automatic captures, which may take long */
	bool exact;	   /**< a checkpoint with other captures besides is not the same */
	bool alone;	   /**< there is nothing else: no files, and no automatic captures */
};

/** What was taken, until a pack has it. */
struct extras {
	const struct extras_opts *opts;
	struct spool *spools; /**< for captures and state files */
	size_t nr, alloc;
};

/**
 * Run the requested captures, read state files, and note everything in `meta`; what commands print
 * goes to `notes`. The store is locked. CKPT_ENOTFOUND: a capture is not configured.
 */
int extras_take(struct extras *extras, struct ckpt_meta *meta, struct strlist *notes,
		struct session *session, const struct extras_opts *opts);

/** True if they differ from those of another checkpoint. */
bool extras_are_new(const struct extras_opts *opts, const struct ckpt_meta *now,
		    const struct ckpt_meta *then);

/** Bytes that the store does not have yet. */
uint64_t extras_bytes(const struct extras *extras);

/** Add them to a pack; may be repeated after something was evicted. */
int extras_pack(struct extras *extras, struct pack *pack);

void extras_release(struct extras *extras);

/* --- capture_back.c: out of it --- */

enum capture_status {
	CAPTURE_PLANNED,
	CAPTURE_DONE,
	CAPTURE_FAILED,
	CAPTURE_UNCONFIGURED, /**< it no longer has a restore command */
	CAPTURE_LEFT,	      /**< because the files did not verify */
	CAPTURE_FOREIGN,      /**< it was not taken here, and nobody asked for it */
};

/** "planned", "restored", "failed", "not configured", "not replayed", "foreign". */
const char *capture_status_name(enum capture_status status);

struct capture_outcome {
	char *name;
	enum capture_status status;
};

struct capture_outcomes {
	struct capture_outcome *items; /**< in the order in which they were taken */
	size_t nr;
};

void capture_outcomes_release(struct capture_outcomes *outcomes);

/** The captures of a checkpoint that is restored. */
struct capture_back {
	struct capture_defs defs;
	struct ckpt_captures captures;
	struct strlist replayed; /**< names of those that have a restore command */
	bool foreign;		 /**< no command gets any: somebody else chose the bytes */
};

/** Takes over those of `meta`; `foreign` is set by the caller before. */
int capture_back_open(struct capture_back *back, struct session *session, struct ckpt_meta *meta);
void capture_back_close(struct capture_back *back);

/** What will happen to each. */
void capture_back_plan(struct capture_outcomes *out, struct strlist *warnings,
		       const struct capture_back *back);

/**
 * Give each to its command, unless it is to be `left`. Only an interruption is a failure; otherwise
 * `out` and the warnings say what was not possible.
 */
int capture_back_replay(struct capture_outcomes *out, struct strlist *warnings,
			struct session *session, const struct capture_back *back, bool left);

/*
 * In this folder:
 *
 *   capture_settings        which captures there are
 *   extras                  state keys and captures for a checkpoint
 *   capture_back           captures of a checkpoint that is restored
 *   capture spool           running their commands; bytes on their way into the store
 */

#endif
