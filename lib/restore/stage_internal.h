/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_STAGE_INTERNAL_H
#define CKPT_RESTORE_STAGE_INTERNAL_H

#include "restore/plan.h"

/**
 * Everything that a plan will put into the worktree, written in advance into a
 * separate directory in the worktree's root (so that a rename puts it in
 * place): contents, links, whole directories. This touches none of the user's
 * files. Contents are checked against their names on the way.
 *
 * What belongs to action `i` is called `i` (decimal) in that directory.
 */
struct stage {
	struct store *store;
	int rootfd;
	int fd;	    /**< of the stage; -1: none */
	char *name; /**< in the root */
	/**
	 * chmod(2) has no effect on this file system: all files have the one mode, all directories
	 * the other.
	 */
	bool fixed_modes;
	mode_t file_mode, dir_mode;
};

struct stage_opts {
	struct store *store;
	const struct plan *plan;
	const struct strlist *paths; /**< limit of the plan; NULL or empty: no limit */
	unsigned threads;
	/** Do not refuse if an overlay may have to copy a file for which it has no space. */
	bool any_room;
	progress_fn progress;
};

/**
 * Create the directory `name` (which must not exist, see stage_dir.h) and fill
 * it; durable when it returns.
 */
int stage_fill(struct stage *stage, int rootfd, const char *name, const struct stage_opts *opts);

/** Remove it with everything left in it. */
int stage_remove(struct stage *stage);

/** Remove all but these; it gets a plain name, see record/stage_dir.h. */
int stage_keep(struct strbuf *rescued_out, struct stage *stage, const struct strlist *names);
void stage_close(struct stage *stage);

/** Write stored contents to a new, empty file, with holes where there are zeros. */
int stage_write_contents(uint64_t *size_out, int fd, struct store *store, const struct oid *oid);

/** Append the stored target of a link; CKPT_ECORRUPT if it is none. */
int stage_read_link(struct strbuf *target, struct store *store, const struct oid *oid);

/* --- apply.c --- */

/**
 * Carrying out a plan, once everything it needs is staged.
 *
 * Invariants:
 *  1. Nothing is written or removed through a symbolic link or outside the
 *     root: every step is relative to a directory opened by beneath_open().
 *  2. What is displaced is exchanged with, or renamed into, the
 *     stage in one step, and only then checked, including its contents: if it
 *     is not what the scan saw (and the safety checkpoint holds), it is put
 *     back. Nothing is ever replaced unchecked. What another process has open
 *     for writing is checked once more at the end.
 *  3. Nothing is removed before everything new is in place.
 *  4. At every moment each path holds the old or the new file, whole; on a file
 *     system that cannot exchange two names there is a moment with neither, and
 *     a directory that cannot be renamed is moved name by name.
 */

struct apply_opts {
	struct stage *stage;
	const struct plan *plan;
	const struct strlist *paths; /**< limit of the plan; empty: no limit */
	unsigned threads;
	/**
	 * A directory outside the paths, or the root (""), is about to be made
	 * writable for a moment; its mode must be recorded in case this process dies
	 * then.
	 */
	int (*note_mode)(const char *path, mode_t mode, void *payload);
	void *payload;
};

struct apply_result {
	struct strlist changed; /**< paths that changed meanwhile and were left as they are */
	/**
	 * Of what was displaced: paths to which another process wrote afterwards, or
	 * that were replaced twice meanwhile, and their names in the stage
	 *, in which they must not be removed; and paths that another
	 * process still has open.
	 */
	struct strlist late, late_names, open;
};

/** Put in place, set modes, remove. */
int apply_run(struct apply_result *out, const struct apply_opts *opts);
void apply_result_release(struct apply_result *result);

#endif
