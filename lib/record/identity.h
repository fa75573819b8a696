/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_IDENTITY_H
#define CKPT_RECORD_IDENTITY_H

#include "base/base.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct repo;
struct store;

/**
 * checkpoint/identity: which directory the checkpoints of a store are of. A
 * path is only a name: a folder may be moved away, and another one made in its
 * place. One line each:
 *
 *     device <n>
 *     inode <n>
 *     born <nanoseconds since 1970>   0: this file system does not tell
 *     root <commit>                   where the project's history begins, or
 *                                     "none" or "unknown"
 *
 * Inode numbers are used again as soon as a directory is gone, hence the time
 * of birth; numbers of devices change when the system is started, hence the
 * others must be enough on another one.
 */
enum { IDENTITY_ROOT_SIZE = 65 };

struct identity {
	uint64_t device, inode;
	int64_t born;
	char root[IDENTITY_ROOT_SIZE];
};

enum identity_relation {
	IDENTITY_SAME,
	IDENTITY_ANEW,  /**< made anew: the same project, or none to tell by */
	IDENTITY_OTHER, /**< another project */
};

/** Of a directory, links followed; its root is not looked for: "unknown". */
int identity_of(struct identity *out, const char *dir);

/**
 * Follow first parents from HEAD to the root commit. "none" if there is no
 * repository (NULL) or no commit yet; "unknown" if the history is too long,
 * shallow, damaged, or not readable by libgit2 (SHA-256).
 */
void identity_find_root(struct identity *identity, const struct repo *repo);

/** What is recorded; CKPT_ENOTFOUND if nothing is, or nothing that makes sense. */
int identity_read(struct identity *out, int store_dirfd);
int identity_write(const struct identity *identity, struct store *store);

/** What a directory is to the one that was recorded. Pure. */
enum identity_relation identity_compare(const struct identity *recorded,
					const struct identity *now);

/** True if it is beyond doubt the very directory, wherever it is now. Looks at no root. */
bool identity_is(const struct identity *recorded, const struct identity *now);

/** The same for the directory `path`; false if it is not there. */
bool identity_is_at(const struct identity *recorded, const char *path);

/** True if both histories begin with the same commit, as those of all clones of a project do. */
bool identity_same_project(const struct identity *a, const struct identity *b);

/**
 * Compare the worktree of `store` with what is recorded; if it is another
 * directory than that which the checkpoints `refs` were taken of, a sentence
 * about it is added to `warnings`. With `record`, what is new is written, so
 * that it is said once; the store must be locked then. Never fails: what
 * cannot be told is not said.
 */
void identity_check(struct strlist *warnings, struct store *store, const struct repo *repo,
		    const struct ref_list *refs, bool record);

#endif
