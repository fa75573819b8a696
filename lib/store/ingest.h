/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_INGEST_H
#define CKPT_STORE_INGEST_H

#include "worktree/worktree.h"

#include <stdbool.h>
#include <stdint.h>

struct pack;
struct store;

/**
 * Read what a scan found and the cache did not know: each file once, SHA-1 for
 * its name and SHA-256 for the state hash from the same bytes, deflated into
 * the pack. With no pack, things are only named: that is how worktree and
 * checkpoint are compared.
 *
 * A file that changes while it is read is read again; one that does not hold
 * still, that is gone or cannot be opened, is marked dead in the tree and put
 * on the scan's list of skipped paths.
 */
struct ingest_opts {
	struct store *store;
	struct pack *pack; /**< NULL: name only */
	struct scan *scan;
	uint64_t max_file_size; /**< 0: no limit */
	bool objects_there;     /**< all that the cache knows is in the store for certain */
	unsigned threads;
	double until;           /**< clock_monotonic(): when all has to be stored; 0: whenever */
	progress_fn progress;   /**< may be NULL */
};

struct ingest_result {
	uint64_t files; /**< read */
	uint64_t racy;  /**< of these, those that have to be read again the next time */
	uint64_t bytes;
	bool late;      /**< why it failed: it would not be done by then */
	unsigned percent; /**< `late`: of what had to be read */
};

/**
 * If it becomes clear that it will not be done in time, it fails with
 * CKPT_ECANCELLED while there is time left to store what was read: those files
 * are marked WT_KNOWN.
 */
int ingest_run(struct ingest_result *out, const struct ingest_opts *opts);

#endif
