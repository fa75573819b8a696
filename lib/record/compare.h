/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_COMPARE_H
#define CKPT_RECORD_COMPARE_H

#include "record/modes.h"

struct snapshot;
struct wt_entry;

/**
 * What differs between two trees, each of a checkpoint or the worktree.
 * Subtrees with the same id and the same modes are skipped without loading
 * them.
 *
 * Lists files, links, directories with nothing below, and directories whose
 * permission bits differ, in byte order of path.
 */
enum change_kind {
	CHANGE_ADDED = 'A',
	CHANGE_DELETED = 'D',
	CHANGE_MODIFIED = 'M',
	CHANGE_TYPE = 'T',    /**< a file became a link or vice versa */
	CHANGE_RENAMED = 'R', /**< made from an added and a deleted one by renames_find() */
};

struct change {
	char *path;
	enum change_kind kind;
	bool is_dir;
	unsigned old_mode, new_mode; /**< 0100644, 0120000, 0040755; 0 if there is nothing */
	struct oid old_oid, new_oid; /**< of files and links */
	char *from;		     /**< CHANGE_RENAMED: the old path */
	unsigned similarity;	     /**< CHANGE_RENAMED: percent */
};

struct compare_list {
	struct change *items;
	size_t nr, alloc;
};

void compare_list_release(struct compare_list *list);

/** Remove those for which `keep` is false, without changing the order. */
void compare_list_filter(struct compare_list *list,
			 bool (*keep)(struct change *change, void *payload), void *payload);

struct compare_side {
	struct wt_dir *root;       /**< NULL: an empty tree */
	struct snapshot *snapshot; /**< to which `root` belongs; NULL for the worktree */
	const struct modes *modes; /**< NULL: unknown, then nothing is skipped */
};

/**
 * The walk over two trees, for callers that need more than a list: `fn` is called for each name
 * in the root, with what each side has of it or NULL, in the order of git's trees. It descends
 * into directories with compare_walk_into(), and may stop by failing.
 */
struct compare_walk {
	const struct compare_side *before, *after;
	int (*fn)(struct compare_walk *walk, const char *dir, const struct wt_entry *before,
		  const struct wt_entry *after);
	void *payload;
	struct strlist odd; /**< set by the walk: paths whose recorded modes differ, sorted */
	bool all_odd;	    /**< set by the walk: those of any path may differ */
};

int compare_walk(struct compare_walk *walk);
int compare_walk_into(struct compare_walk *walk, struct wt_dir *before, struct wt_dir *after);

/** Load the entries of a directory of this side; those of the worktree are already loaded. */
int compare_load(const struct compare_side *side, struct wt_dir *dir);

/** `paths` (sorted; NULL or empty: all) limits it to these and everything below them. */
int compare_run(struct compare_list *out, const struct compare_side *before,
		const struct compare_side *after, const struct strlist *paths);

/** Which paths are of interest. */
struct compare_limit {
	bool (*meant)(const char *path, bool is_dir, void *payload);
	bool (*entered)(const char *dir, void *payload); /**< false if nothing in it is, nor it */
	void *payload;
};

/** The same with any limit (NULL: all); no directory is loaded that is not entered. */
int compare_run_within(struct compare_list *out, const struct compare_side *before,
		       const struct compare_side *after, const struct compare_limit *limit);

/** True if `path` is one of `paths` or below one, or if `paths` is empty. */
bool compare_in_scope(const struct strlist *paths, const char *path);

#endif
