/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_INDEXFILE_INTERNAL_H
#define CKPT_GIT_INDEXFILE_INTERNAL_H

#include "base/base.h"

/** Parsing an index file. Other folders use gitindex.h and gitstate.h. */

/** The format of an entry, for who reads and who writes it; the names are git's. */
enum {
	INDEXFILE_CTIME = 0, /**< where things are in what precedes the name of an entry */
	INDEXFILE_MTIME = 8,
	INDEXFILE_INO = 20,
	INDEXFILE_MODE = 24,
	INDEXFILE_SIZE = 36,
	INDEXFILE_OID = 40,
	INDEXFILE_ASSUME_VALID = 0x8000, /**< flags, after the id */
	INDEXFILE_EXTENDED = 0x4000,
	INDEXFILE_STAGE_SHIFT = 12,
	INDEXFILE_NAME_MASK = 0xfff,
	INDEXFILE_SKIP_WORKTREE = 0x4000, /**< extended flags, after those */
	INDEXFILE_INTENT_TO_ADD = 0x2000,
};

struct index_entry {
	const char *name;
	const unsigned char *raw; /**< as in the file: stat data, mode, id, flags */
};

struct gitindex {
	struct index_entry *entries;
	size_t nr, alloc;
	size_t hash_len;
	const unsigned char *tree; /**< the extension with the ids of trees, or NULL */
	size_t tree_len;
	const unsigned char *resolve_undo; /**< that with resolved conflicts, or NULL */
	size_t resolve_undo_len;
	bool sparse;   /**< entries with mode 040000 stand for everything below them */
	char *data[2]; /**< the index and the shared index; the rest points into them */
	struct arena names;
	unsigned uses; /**< for indexload.c: how many have it */
	const struct gitindex *of; /**< for gitindex.c: what the rest belongs to, or NULL */
};

/**
 * Append the entries of the index file `file`, merged with the shared part
 * beside it if it is split. `hash_len` must be set. `needs_git_out`: it has an
 * unknown extension, so that only git can list all names. CKPT_ENOTFOUND if the
 * file does not exist, CKPT_ECORRUPT if it is damaged.
 */
int indexfile_read(struct gitindex *index, bool *needs_git_out, const char *file,
		   const char *gitdir);

/** Free what it has; it may be used again, with `hash_len` as it was. */
void indexfile_release(struct gitindex *index);

/** Append an entry that is not in the file: `hex` is its id, `flags` one of these or a stage. */
enum { INDEXFILE_ADD_SKIPPED = 1 << 2, INDEXFILE_ADD_STAGE = 3 };
void indexfile_add(struct gitindex *index, const char *name, unsigned mode, const char *hex,
		   unsigned flags);

unsigned indexfile_mode(const struct index_entry *entry);
unsigned indexfile_stage(const struct gitindex *index, const struct index_entry *entry);

/** Of enum gitstate_flags. */
unsigned indexfile_flags(const struct gitindex *index, const struct index_entry *entry);

/** Set the message for a damaged index; CKPT_ECORRUPT. */
int indexfile_corrupt(const char *file, const char *what);

#endif
