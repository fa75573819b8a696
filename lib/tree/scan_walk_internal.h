/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_SCAN_WALK_INTERNAL_H
#define CKPT_TREE_SCAN_WALK_INTERNAL_H

#include "tree/beneath.h"
#include "tree/scan.h"

#include <pthread.h>
#include <stdatomic.h>

/**
 * The internals of the walk, for scan*.c alone.
 *
 * One item of work is one directory. A worker lists it (scan_visit.c), or takes
 * the names from the cache if they cannot have changed or all of it if
 * somebody has told that nothing changed in it (scan_cached.c), asks the
 * rules about each name, stats what is captured, sorts, compares with the
 * cache, and puts the subdirectories on the queue (scan.c). Results are in the
 * memory of the worker that made them and are only linked by pointers, so
 * workers share nothing but the queue and, rarely, the lists of what was left
 * out.
 */
enum { DIRENTS_SIZE = 64 * 1024 };

struct scan_worker {
	struct arena arena;
	struct strbuf path;       /**< of the current name */
	struct strbuf names;      /**< of the current directory: a type, a name and a NUL each */
	char *dirents;            /**< filled by the kernel */
	struct wt_entry *entries; /**< of the current directory */
	size_t nr, alloc;
	struct scan_item **children; /**< likewise, in no particular order */
	size_t children_nr, children_alloc;
	struct beneath_near near;
	size_t odd; /**< names that were captured although a rule matches */
};

struct scan_item {
	struct wt_dir *dir;
	struct rules_dir rules;
	bool partial; /**< only on the way to the scope */
	bool other_device;
	bool doubt; /**< the rules are not those of the cache: look at everything in it */
};

struct scan_walk {
	const struct scan_opts *opts;
	const struct scan_hints *hints; /**< NULL: there are none, or they are of no use here */
	struct scan *scan;
	int64_t start_ns;     /**< by the clock of file times */
	dev_t dev;            /**< of the root */
	bool dir_times;       /**< the file system keeps the times of directories exactly */
	enum origin_relation cache; /**< how far the contents of the cache are trusted */
	struct strlist phantoms; /**< empty mounts below the root; sorted, not changed by the walk */
	pthread_mutex_t lock; /**< protects the lists in `scan` */
	atomic_size_t files;
	atomic_bool dir_modes_changed;
	atomic_bool moved;
	atomic_bool new_link; /**< with hints: a file has got another name since */
};

/** Keep a note with the directory that contains the path, for the lists in `walk->scan`. */
void scan_note(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir,
	       enum wt_note_kind kind, const char *path);
void scan_note_skip(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir,
		    const char *path, enum skip_why why);

/**
 * Set the worker's path to the item's directory, with a slash unless it is the root; returns its
 * length.
 */
size_t scan_enter_path(struct scan_worker *worker, const struct scan_item *item);

/* --- scan_visit.c --- */

/** List a directory into worker->names; -1 with errno. */
int scan_list(struct scan_worker *worker, int dirfd, bool *gitignore, bool *dotgit);

/**
 * Judge and stat all of worker->names; the entries are then in the worker, in no particular order.
 */
int scan_visit(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
	       int dirfd);

/** Add what a name turned out to be; `name` must live as long as the scan. */
int scan_add_file(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		  const char *name, size_t name_len, const struct stat *st);
/** The same for one that is as the cache says. */
struct wt_entry *scan_add_cached(struct scan_worker *worker, const struct statcache_dir *dir,
				 const struct statcache_entry *entry);
/** So many files more: CKPT_EREFUSED if these are too many. */
int scan_count_files(struct scan_walk *walk, uint64_t nr);
/** The same for a directory: the item to walk next; NULL if it must not be entered. */
struct scan_item *scan_add_dir(struct scan_walk *walk, struct scan_worker *worker,
			       struct scan_item *parent, const char *name, size_t name_len,
			       const struct stat *st, bool partial);

/* --- scan_cached.c --- */

/** True if the names in a directory must be those that the cache has. */
bool scan_names_known(const struct scan_walk *walk, const struct scan_item *item);

/** Before the names of a directory are judged: what the cache knows of them, see rules_before. */
void scan_recall(const struct scan_walk *walk, struct scan_item *item);

/**
 * Replaces scan_list() and scan_visit(): 1 if the entries are in the worker,
 * sorted; 0 if something was not as expected and the directory has to be listed
 * after all; negative on failure.
 */
int scan_visit_known(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		     int dirfd);

/** Compare a directory, whose entries are sorted, with its block in the cache. */
void scan_match(struct scan_walk *walk, const struct scan_item *item);

/** What has to be done about a directory. */
enum scan_need {
	SCAN_LOOK,    /**< look at it, as if there were no hints */
	SCAN_PASS,    /**< nothing in it changed, but perhaps something further below */
	SCAN_NOTHING, /**< nothing changed, here or below */
};

/** From the hints and the head of its block. */
enum scan_need scan_need(const struct scan_walk *walk, const struct scan_item *item);

/** Whether a directory that was opened, and is in the cache, can do without being looked at. */
bool scan_may_pass(const struct scan_item *item);

/** It is as the cache says, with everything below; loaded when somebody asks for it. */
int scan_take_unseen(struct scan_walk *walk, struct wt_dir *dir);

/**
 * If scan_may_pass(), like scan_visit_known(): the entries of the cache; only directories further below
 * that need it are looked at.
 */
int scan_visit_unseen(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		      int dirfd);

/** Make the directory's entries from its block. */
void scan_load(struct wt_dir *dir);

#endif
