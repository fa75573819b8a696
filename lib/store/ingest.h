/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_INGEST_H
#define CKPT_STORE_INGEST_H

#include "tree/tree.h"

struct pack;
struct store;

/**
 * Read what a scan found and the cache did not know: each file once, with
 * SHA-1 for its name and SHA-256 for the state hash from the same bytes,
 * deflated into the pack. Without a pack, objects are only named: that is how
 * worktree and checkpoint are compared.
 *
 * A file that changes while it is read is read again; one that keeps changing is kept as it was
 * read last, and added to the scan's list of skipped paths. So is a file that is gone or cannot be
 * opened, and that is marked dead in the tree.
 */
struct ingest_opts {
	struct store *store;
	struct pack *pack; /**< NULL: name only */
	struct scan *scan;
	uint64_t max_file_size; /**< 0: no limit */
	bool objects_there;     /**< whatever is known of the scan is certain to be in the store */
	bool once; /**< nothing of it is remembered: that it may be written later does not matter */
	unsigned threads;
	double until;           /**< clock_monotonic(): when everything must be stored; 0: no deadline */
	progress_fn progress;   /**< may be NULL */
};

struct ingest_result {
	uint64_t files; /**< read */
	uint64_t racy;  /**< how many of these must be read again the next time */
	uint64_t bytes;
	bool late;      /**< it failed because it would not be done in time */
	unsigned percent; /**< if `late`: how much of what had to be read was read */
};

/**
 * If it becomes clear that there is not enough time, it fails with
 * CKPT_ECANCELLED early enough to store what was read: those files are marked
 * WT_KNOWN.
 */
int ingest_run(struct ingest_result *out, const struct ingest_opts *opts);

/**
 * Build the trees of all directories that are not known, with `threads`
 * threads, and add them to the pack; without a pack they are only named. All
 * files below must be known.
 */
int ingest_trees(struct wt_dir *root, struct pack *pack, unsigned threads);

#endif
