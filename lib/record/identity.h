/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_IDENTITY_H
#define CKPT_RECORD_IDENTITY_H

#include "store/store.h"

/**
 * Which directory the checkpoints of a store were taken from. A path is only a
 * name: a folder may be moved away, and another created in its place. "identity"
 * in the state of the store (store/state.h) is an object:
 *
 *     device, inode   numbers
 *     born            nanoseconds since 1970; 0: this file system does not tell
 *     root            the commit where the project's history begins, or "none" or
 *                     "unknown"
 *
 * Inode numbers are reused as soon as a directory is gone, hence the time of
 * birth; device numbers change at boot, so the others must be enough after a
 * reboot.
 */
enum { IDENTITY_ROOT_SIZE = 65 };

struct identity {
	uint64_t device, inode;
	int64_t born;
	char root[IDENTITY_ROOT_SIZE];
};

enum identity_relation {
	IDENTITY_SAME,
	IDENTITY_ANEW,  /**< created again: the same project, or none to compare */
	IDENTITY_OTHER, /**< another project */
};

/** Of a directory, links followed; its root is not determined: "unknown". */
int identity_of(struct identity *out, const char *dir);

/**
 * Follow first parents from HEAD to the root commit. "none" if there is no
 * repository (NULL) or no commit yet; "unknown" if the history is shallow or
 * damaged, or if git cannot be asked.
 */
void identity_find_root(struct identity *identity, const struct repo *repo);

/** What is recorded; CKPT_ENOTFOUND if nothing is, or nothing valid. */
int identity_read(struct identity *out, int store_dirfd);
int identity_write(const struct identity *identity, struct store *store);

/** How a directory relates to the recorded one. A pure function. */
enum identity_relation identity_compare(const struct identity *recorded,
					const struct identity *now);

/** True if it is certainly the same directory, wherever it is now. Ignores the root. */
bool identity_is(const struct identity *recorded, const struct identity *now);

/** The same for the directory `path`; false if it does not exist. */
bool identity_is_at(const struct identity *recorded, const char *path);

/** True if both histories begin with the same commit, as with all clones of a project. */
bool identity_same_project(const struct identity *a, const struct identity *b);

/**
 * Compare the worktree of `store` with what is recorded; if it is not the
 * directory from which the checkpoints `refs` were taken, add a sentence about
 * it to `warnings`. With `record`, the new identity is written, so that this
 * is said once; then the store must be locked. Never fails: what cannot be
 * determined is not mentioned. `refs` NULL: all, listed if they are needed.
 */
void identity_check(struct strlist *warnings, struct store *store, const struct repo *repo,
		    const struct ref_list *refs, bool record);

#endif
