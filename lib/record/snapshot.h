/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_SNAPSHOT_H
#define CKPT_RECORD_SNAPSHOT_H

#include "record/modes.h"
#include "store/store.h"

struct ckpt_meta;
struct ckpt_record;

/**
 * The tree of a checkpoint in the same form as that of a scan, loaded on
 * demand: the entries of a directory are read on first use. For one thread.
 */
struct snapshot {
	struct store *store;
	char id[CKPT_ID_SIZE];
	struct modes modes;
	struct wt_dir *root;
	bool loaded; /**< all of it is there: nothing is read on demand */
	struct arena arena;
	bool damaged; /**< something of it could not be loaded for that reason */
};

int snapshot_open(struct snapshot **out, struct store *store, const struct ckpt_record *record);

/** The same for a caller that has read the metadata, and keeps owning it. */
int snapshot_open_meta(struct snapshot **out, struct store *store, const struct ckpt_record *record,
		       const struct ckpt_meta *meta);
/** A tree that is in memory and stays its owner's, with the modes as modes_encode() has them. */
int snapshot_wrap(struct snapshot **out, struct store *store, const char *id, struct wt_dir *root,
		  const struct strbuf *modes);

void snapshot_free(struct snapshot *snapshot);

/** Load the entries of one directory, unless they are loaded. */
int snapshot_expand(struct snapshot *snapshot, struct wt_dir *dir);

/** Load all. */
int snapshot_expand_all(struct snapshot *snapshot, struct wt_dir *dir);

/** The entry at a path, or NULL if there is none; loads the directories that lead to it. */
int snapshot_find(struct wt_entry **out, struct snapshot *snapshot, const char *path);

#endif
