/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_INDEXLOAD_INTERNAL_H
#define CKPT_GIT_INDEXLOAD_INTERNAL_H

#include "base/base.h"

struct gitindex;

/**
 * All entries of a repository's index, in git's order: split ones merged, sparse
 * directories replaced by their files. Empty without an index file. `index`
 * needs no initialisation; indexfile_release() frees it, also after an error.
 * CKPT_ECORRUPT if the index cannot be parsed.
 */
int indexload(struct gitindex *index, const char *worktree, const char *gitdir, bool sha256);

#endif
