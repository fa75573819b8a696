/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_SCAN_H
#define CKPT_TREE_SCAN_H

#include "tree/rules.h"
#include "tree/statcache.h"

/**
 * The walk over a working directory: parallel, each directory read once, no
 * file opened. The result does not depend on the number of threads.
 *
 * Files that the stat cache knows have WT_KNOWN set; all others must be read
 * (store/ingest.h).
 */
enum skip_why {
	SKIP_UNREADABLE, /**< no permission, or an error while reading */
	SKIP_OVERSIZE,   /**< over maxFileSize */
	SKIP_CHANGING,   /**< changed each time it was read; as a rule what was read last is kept */
	SKIP_VANISHED,   /**< listed when the directory was read, gone when it was opened */
	SKIP_SENSITIVE,
	SKIP_SPECIAL, /**< FIFO, socket, device; a set-id program of another user */
	SKIP_MOUNT, /**< nothing is in what is mounted there: a sandbox hides a path like this */
	SKIP_DEEP, /**< a directory below WT_DEPTH_MAX others */
	SKIP_WHYS,
};

/** "unreadable", ... as in `skipped` of the JSON. */
const char *skip_why_name(enum skip_why why);

/** True if a checkpoint without this path is incomplete. */
bool skip_why_incomplete(enum skip_why why);

/** The reverse of skip_why_name(); false if the name is unknown. */
bool skip_why_parse(enum skip_why *out, const char *name);

struct skip {
	char *path;
	enum skip_why why;
};

struct skip_list {
	struct skip *items;
	size_t nr, alloc;
};

void skip_list_add(struct skip_list *list, const char *path, enum skip_why why);
/** By path; duplicates removed. */
void skip_list_sort(struct skip_list *list);

/** Remove what is at or below `path`. */
void skip_list_drop(struct skip_list *list, const char *path);
void skip_list_release(struct skip_list *list);
/** How many of them make a checkpoint incomplete. */
size_t skip_list_incomplete(const struct skip_list *list);

/**
 * What changed since the cache was written: everything else is taken from the cache without
 * looking. Both lists are sorted; paths are relative to the root, which is "".
 */
struct scan_hints {
	const struct strlist *dirs;  /**< directories in which names or files changed */
	const struct strlist *trees; /**< the same, with everything below */
};

typedef void (*progress_fn)(const char *what, size_t done, size_t total, void *payload);

struct scan_opts {
	const char *root;              /**< absolute path */
	struct rules *rules;
	const struct statcache *cache; /**< NULL: nothing known; must outlive the scan, whose names
				        * may point into it */
	const struct strlist *scope;   /**< sorted paths below the root; NULL or empty: all */
	dev_t avoid_dev;               /**< a directory that is never entered: the home of the stores */
	ino_t avoid_ino;               /**< 0: none */
	const struct strlist *apart;   /**< sorted directories that are never entered; NULL: none */
	uint64_t max_files;            /**< 0: no limit; CKPT_EREFUSED if there are more */
	uint64_t max_file_size;        /**< 0: no limit */
	unsigned threads;
	bool index_same; /**< the project tracks the same files as when the cache was written */
	bool want_left_out; /**< fill `left_out` of the result */
	/** NULL: look at everything. Not with `scope` or `want_left_out`. */
	const struct scan_hints *hints;
	progress_fn progress; /**< may be NULL */
};

/** What was not looked at is loaded from the cache when somebody asks for it. */
struct scan_source {
	struct wt_source source; /**< first: a wt_dir points to it */
	const struct statcache *cache;
	struct arena arena;
	size_t listed; /**< directories whose notes were taken */
	bool unsure; /**< something is missing from the cache: the tree cannot be trusted */
};

struct scan {
	int rootfd;
	struct origin origin; /**< where it was read */
	bool hinted; /**< not everything was looked at */
	struct scan_source source;
	bool cache_is_old;    /**< there is a cache, but from another boot or mount */
	struct wt_dir *root;
	struct skip_list skips;
	struct strlist defaults_left_out; /**< topmost paths that a default pattern left out, sorted */
	struct strlist left_out; /**< if asked for: topmost paths that a rule left out, without
				  * secrets; sorted */
	struct strlist mounts; /**< where another file system begins, which is captured too; sorted */
	struct strlist repos;  /**< directories other than the root that have a .git; sorted */
	struct strlist sensitive_tracked; /**< captured, but look like secrets; sorted */
	bool moved; /**< something that was listed was gone when it was opened */
	bool dir_modes_changed;           /**< the mode of some directory differs from the cached one */

	struct scan_worker *workers; /**< private: memory of the result */
	unsigned workers_nr;
};

int scan_run(struct scan **out, const struct scan_opts *opts);

/** Something could not be captured after all; `dir` contains it. For one thread at a time. */
void scan_skip_later(struct scan *scan, struct wt_dir *dir, const char *path, enum skip_why why);
void scan_free(struct scan *scan);

#endif
