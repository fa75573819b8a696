/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITINDEX_H
#define CKPT_GIT_GITINDEX_H

#include "base/base.h"

/**
 * A repository's index, read without locking or writing it.
 *
 * Versions 2, 3 and 4, SHA-1 and SHA-256 are parsed here, since an unchanged save reads no more than
 * that. For a split index, one with extensions that we do not know, and the directories of a sparse
 * one, git is asked.
 *
 * Never changes once it is open, so any number of threads may use it.
 */
enum gitindex_flags {
	GITINDEX_INTENT_TO_ADD = 1 << 0,
	GITINDEX_SKIP_WORKTREE = 1 << 1,
	GITINDEX_ASSUME_UNCHANGED = 1 << 2,
};

/** What an index has, in paths. */
struct gitindex_counts {
	size_t staged; /**< that differ from HEAD, without those of the others */
	size_t unmerged;
	size_t intent_to_add;
};

struct gitindex_entry {
	const char *path;
	const unsigned char *oid; /**< `hash_len` bytes */
	uint32_t mode;
	uint8_t stage;
	uint8_t flags; /**< enum gitindex_flags */
};

struct gitindex {
	struct gitindex_entry *entries; /**< in git's order: by path, then by stage */
	size_t nr, alloc;
	size_t hash_len;
	const unsigned char *tree; /**< the extension with the ids of trees, or NULL */
	size_t tree_len;
	bool sparse;  /**< in the file, entries with mode 040000 stand for everything below them */
	char *data;   /**< what was read; the rest may point into it */
	struct arena names;
	unsigned uses; /**< how many have it */
};

/**
 * All entries, sparse directories replaced by their files. `worktree` and `gitdir` are absolute.
 * Without an index file it is empty. CKPT_ECORRUPT if the index cannot be parsed.
 *
 * Read once: as long as the file is the same, all who ask share what was read last, also in several
 * threads.
 */
int gitindex_open(struct gitindex **out, const char *worktree, const char *gitdir, bool sha256);
void gitindex_close(struct gitindex *index);

/** True if a file, symbolic link or submodule is tracked at exactly `path`. */
bool gitindex_has(const struct gitindex *index, const char *path);

/**
 * True if anything below the directory `path` ("" is the root) is tracked, or `path` itself is a
 * submodule.
 */
bool gitindex_has_below(const struct gitindex *index, const char *path);

/** True if the index says of itself that it has exactly the files of a tree (in hex). */
bool gitindex_is_tree(const struct gitindex *index, const char *tree);

/* --- for tests --- */

/**
 * Append the entries of an index file without asking git; `hash_len` must be set. `needs_git_out`:
 * only git can list all names. CKPT_ENOTFOUND if it does not exist, CKPT_ECORRUPT if it is damaged.
 */
int gitindex_parse(struct gitindex *index, bool *needs_git_out, const char *file);

/** Free what it has; it may be used again, with `hash_len` as it was. */
void gitindex_reset(struct gitindex *index);

#endif
