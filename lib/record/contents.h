/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_CONTENTS_H
#define CKPT_RECORD_CONTENTS_H

#include "tree/tree.h"

struct snapshot;
struct store;

/**
 * The SHA-256 of objects that were read and found sound, so that checkpoints
 * that share them need not read them again. All zero is an empty one.
 */
struct contents_known {
	struct contents_item *items;
	size_t nr, alloc;
	struct hash_table table;
};

void contents_known_release(struct contents_known *known);

struct contents_opts {
	unsigned threads;
	struct contents_known *known; /**< used and added to; NULL: read everything */
	/**
	 * Directories that contents_remember_dirs() knows: they are not loaded, their hash is set.
	 * Not for what looks at their entries. NULL: load everything.
	 */
	const struct contents_known *dirs;
	progress_fn progress;         /**< or NULL */
};

/**
 * Compute the SHA-256 of every file of a checkpoint from its stored bytes;
 * loads the whole tree. Afterwards statehash() and similar can be used on it.
 */
int contents_hash(struct snapshot *snapshot, const struct contents_opts *opts);

/**
 * After contents_hash() and statehash(): all directories of it are sound, and so are those of
 * another checkpoint that have the same tree and the same modes.
 */
void contents_remember_dirs(struct contents_known *dirs, const struct snapshot *snapshot);

/** One file or link, which then is known. */
int contents_hash_entry(struct wt_entry *entry, struct store *store);

/** The same only for these sorted paths and everything below them. */
int contents_hash_paths(struct snapshot *snapshot, const struct strlist *paths,
			const struct contents_opts *opts);

#endif
