/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITINDEX_H
#define CKPT_GIT_GITINDEX_H

#include "base/base.h"

/**
 * The names that a repository tracks, read from its index without locking or
 * writing it.
 *
 * Reads versions 2, 3 and 4, SHA-1 and SHA-256. A split index is merged with
 * its shared part; for a sparse one, which is not complete in itself, `git
 * ls-files` is asked. libgit2 1.5 reads none of those.
 *
 * Never changes once it is open, so any number of threads may use it.
 */
struct gitindex;

/**
 * `worktree` and `gitdir` are absolute. Without an index file it is empty.
 * CKPT_ECORRUPT if the index cannot be parsed.
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

size_t gitindex_count(const struct gitindex *index);

#endif
