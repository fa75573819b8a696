/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITINDEX_H
#define CKPT_GIT_GITINDEX_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The names that a repository tracks, read from its index without locking or
 * writing it.
 *
 * Versions 2, 3 and 4, SHA-1 and SHA-256, are read here. A split index
 * is put together with its shared part, and a sparse one, which is not complete
 * in itself, is asked of `git ls-files`. libgit2 1.5 reads none of those.
 *
 * Never changes after it was opened, so any number of threads may ask.
 */
struct gitindex;

/**
 * `worktree` and `gitdir` are absolute. No index file there: an empty one.
 * CKPT_ECORRUPT if it cannot be understood.
 */
int gitindex_open(struct gitindex **out, const char *worktree, const char *gitdir, bool sha256);
void gitindex_close(struct gitindex *index);

/** True if a file, symbolic link or submodule is tracked at exactly `path`. */
bool gitindex_has(const struct gitindex *index, const char *path);

/** True if anything below the directory `path` is tracked ("" is the root), or `path` itself is a submodule. */
bool gitindex_has_below(const struct gitindex *index, const char *path);

size_t gitindex_count(const struct gitindex *index);

#endif
