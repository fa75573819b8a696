/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_STAGE_INTERNAL_H
#define CKPT_RESTORE_STAGE_INTERNAL_H

#include "base/base.h"
#include "restore/plan.h"
#include "tree/tree.h"

struct store;

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

#endif
