/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_PLAN_H
#define CKPT_RESTORE_PLAN_H

#include "record/record.h"

/**
 * What has to be done to make a worktree equal to a checkpoint: decided here,
 * from two trees and nothing else; done by stage_internal.h.
 *
 * Actions are in the order of their paths; removals come last, the deepest
 * first.
 */
enum plan_kind {
	PLAN_CREATE,    /**< nothing is there now; a directory with everything below it is one action */
	PLAN_OVERWRITE, /**< the contents of a file, or the target of a link, differ */
	PLAN_CHMOD,     /**< only the permission bits differ, and the file has no other name */
	PLAN_REPLACE,   /**< there is something of another kind now */
	PLAN_REMOVE,    /**< a file or a link */
	PLAN_RMDIR,     /**< a directory that becomes empty; skipped if it turns out not to be */
};

struct plan_action {
	enum plan_kind kind;
	char *path;
	const struct wt_entry *target;  /**< NULL for removals */
	const struct wt_entry *current; /**< NULL for PLAN_CREATE, and for what `made` asks for */
};

/** What happens to it, for the report: files, links, empty directories, each once. */
enum plan_effect { EFFECT_REMOVED, EFFECT_CHANGED, EFFECT_BROUGHT_BACK };

struct plan_row {
	char *path;
	enum plan_effect effect;
	char *summary;
};

/** Something that is left as it is although the checkpoint does not have it. */
struct plan_kept {
	char *path;
	char *why;
};

struct plan {
	struct plan_action *actions;
	size_t nr, alloc;
	struct plan_row *rows;
	size_t rows_nr, rows_alloc;
	struct plan_kept *kept;
	size_t kept_nr, kept_alloc;
	struct strlist captures; /**< restored after the files, in this order; filled in by the caller */
	struct strlist emptied;	 /**< directories that stay, but all in them goes, or comes */
	struct strlist whole;	 /**< directories, sorted; see plan_note_whole() */
};

/** Why a path that the checkpoint does not have must stay; NULL if it may go. */
typedef const char *(*plan_protect_fn)(const char *path, enum wt_kind kind, void *payload);

struct plan_opts {
	const struct compare_side *target;  /**< expanded as far as needed */
	const struct compare_side *current;
	const struct strlist *paths; /**< limit it to these; NULL or empty: all */
	const struct strlist *made;  /**< directories to remove if they turn out to be empty; or NULL */
	bool no_delete;
	plan_protect_fn protect; /**< may be NULL */
	void *payload;
};

int plan_make(struct plan *out, const struct plan_opts *opts);
void plan_release(struct plan *plan);

/** Drop the action for `path`, and what was to be created below: it is kept, and why. */
void plan_keep(struct plan *plan, const char *path, const char *why);

/** True if this very path is kept. */
bool plan_keeps(const struct plan *plan, const char *path);

/**
 * True if something in `paths` (empty: all) is at or below `path`, or `path` is below one of them.
 */
bool plan_concerns(const struct strlist *paths, const char *path);

/** Directories outside `paths` that the plan creates to hold restored files. */
void plan_list_made(struct strlist *out, const struct plan *plan, const struct strlist *paths);

/** True if there is nothing to do. */
bool plan_is_empty(const struct plan *plan);

/* --- a plan of thousands of paths as a few lines --- */

/**
 * Set `plan->whole`: directories of which everything goes, or everything comes; none that keeps
 * something. For a plan that is not changed any more and whose actions are still valid; `paths` are
 * those it was made with.
 */
void plan_note_whole(struct plan *plan, const struct strlist *paths);

/** A row, or a directory in place of all rows below it. */
struct plan_line {
	const char *path;	 /**< of the first row, belongs to the plan */
	size_t dir_len;		 /**< so much of it is the directory; 0: this is one row */
	enum plan_effect effect; /**< of all of them */
	size_t rows;		 /**< how many it stands for */
};

struct plan_lines {
	struct plan_line *items;
	size_t nr, alloc;
};

/** Which rows to show. */
typedef bool (*plan_pick_fn)(const struct plan_row *row, const void *payload);

/**
 * The rows that `pick` takes (NULL: all), in their order. If they are more than `max`, the topmost
 * directory of which everything goes or comes, and is picked, replaces the rows below it.
 */
void plan_fold(struct plan_lines *out, const struct plan *plan, size_t max, plan_pick_fn pick,
	       const void *payload);
void plan_lines_release(struct plan_lines *lines);

#endif
