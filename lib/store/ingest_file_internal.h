/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_INGEST_FILE_INTERNAL_H
#define CKPT_STORE_INGEST_FILE_INTERNAL_H

#include "store/ingest.h"
#include "tree/tree.h"

#include <pthread.h>
#include <stdatomic.h>

/**
 * Store one file of a scan in the pack; only for ingest.c, which distributes
 * them to threads.
 */

struct digest;

/** What a thread needs to read files. */
struct ingest_reader {
	struct digest *sha1, *sha256;
	unsigned char *buf;
	size_t alloc;
	struct beneath_near near;
	int lack; /**< errno if something could not be opened or read for lack of descriptors or memory */
};

struct ingest_batch;

struct ingest {
	const struct ingest_opts *opts;
	struct ingest_batch *batches;
	size_t nr, alloc;
	size_t total; /**< files to be read */
	uint64_t large_total, large_done; /**< bytes of the large files, which one thread reads */
	struct ingest_reader *readers; /**< one for each thread */
	pthread_mutex_t lock; /**< protects the scan's skip list, and: */
	bool skipped;         /**< some were, and are dead entries now */
	atomic_size_t files, racy;
	atomic_ullong bytes;
	uint64_t total_bytes;
	double start;
	atomic_bool late;
};

/** CKPT_ECANCELLED if the user stops it, or if there is not enough time, which is noted. */
int ingest_go_on(struct ingest *ingest);

/** True for a file that is read in pieces, after all others and one at a time. */
bool ingest_is_large(const struct wt_entry *entry);

/**
 * Read one entry of the directory `dirfd`, and store it if there is a pack. If it
 * cannot be read or keeps changing, it is noted as skipped. If it has become
 * large since the scan, it is left alone unless `large`.
 */
int ingest_entry(struct ingest *ingest, unsigned worker, int dirfd, struct wt_dir *dir,
		 struct wt_entry *entry, bool large);

/** Note that an entry is not captured, and why. */
void ingest_skip(struct ingest *ingest, struct wt_dir *dir, struct wt_entry *entry,
		 enum skip_why why);

#endif
