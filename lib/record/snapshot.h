/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_SNAPSHOT_H
#define CKPT_RECORD_SNAPSHOT_H

#include "base/base.h"
#include "record/modes.h"
#include "store/store.h"
#include "worktree/worktree.h"

struct ckpt_meta;
struct ckpt_record;
struct store;

/**
 * The tree of a checkpoint in the same shape as that of a scan, read from the
 * store piece by piece: a directory's entries are loaded when they are first
 * asked for. For one thread.
 */
struct snapshot {
	struct store *store;
	char id[CKPT_ID_SIZE];
	struct modes modes;
	struct wt_dir *root;
	struct arena arena;
};

int snapshot_open(struct snapshot **out, struct store *store, const struct ckpt_record *record);

/** The same for whoever has read what hangs off it; it stays the caller's. */
int snapshot_open_meta(struct snapshot **out, struct store *store, const struct ckpt_record *record,
		       const struct ckpt_meta *meta);
void snapshot_free(struct snapshot *snapshot);

/** Load the entries of one directory, if they are not yet. */
int snapshot_expand(struct snapshot *snapshot, struct wt_dir *dir);

/** Load all. */
int snapshot_expand_all(struct snapshot *snapshot, struct wt_dir *dir);

/** The entry at a path, or NULL if there is none; loads what leads to it. */
int snapshot_find(struct wt_entry **out, struct snapshot *snapshot, const char *path);

#endif
