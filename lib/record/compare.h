/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_COMPARE_H
#define CKPT_RECORD_COMPARE_H

#include "base/base.h"
#include "record/modes.h"

#include <stdbool.h>
#include <stddef.h>

struct snapshot;
struct wt_dir;
struct wt_entry;

/**
 * What differs between two trees, each a checkpoint's or the worktree's.
 * Subtrees with the same name and no difference in modes are passed over
 * without being loaded.
 *
 * Listed are files, links, directories with nothing below, and directories
 * whose permission bits differ, in byte order of path.
 */
enum change_kind {
	CHANGE_ADDED = 'A',
	CHANGE_DELETED = 'D',
	CHANGE_MODIFIED = 'M',
	CHANGE_TYPE = 'T', /**< a file became a link or the reverse */
};

struct change {
	char *path;
	enum change_kind kind;
	bool is_dir;
	unsigned old_mode, new_mode; /**< 0100644, 0120000, 0040755; 0 where there is nothing */
	struct oid old_oid, new_oid; /**< of files and links */
};

struct compare_list {
	struct change *items;
	size_t nr, alloc;
};

void compare_list_release(struct compare_list *list);

struct compare_side {
	struct wt_dir *root;       /**< NULL: an empty tree */
	struct snapshot *snapshot; /**< that `root` belongs to; NULL for the worktree's */
	const struct modes *modes; /**< NULL: not known, then nothing is passed over */
};

/**
 * The walk over two trees, for whoever wants something else of it than a list: `fn` is called for
 * each name in the root, with what each side has of it or NULL, in the order of git's trees. It
 * goes on into directories by compare_walk_into(), and may stop by a failure.
 */
struct compare_walk {
	const struct compare_side *before, *after;
	int (*fn)(struct compare_walk *walk, const char *dir, const struct wt_entry *before,
		  const struct wt_entry *after);
	void *payload;
	struct strlist odd; /**< of the walk: paths whose recorded modes differ, sorted */
	bool all_odd;	    /**< of the walk: any path's may */
};

int compare_walk(struct compare_walk *walk);
int compare_walk_into(struct compare_walk *walk, struct wt_dir *before, struct wt_dir *after);

/** Load the entries of a directory of this side; of the worktree they are there. */
int compare_load(const struct compare_side *side, struct wt_dir *dir);

/** `paths` (sorted; NULL or empty: all) limits it to these and what is below them. */
int compare_run(struct compare_list *out, const struct compare_side *before,
		const struct compare_side *after, const struct strlist *paths);

/** True if `path` is one of `paths` or below one; any path is if there are none. */
bool compare_in_scope(const struct strlist *paths, const char *path);

#endif
