/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_INDEXLOAD_INTERNAL_H
#define CKPT_GIT_INDEXLOAD_INTERNAL_H

#include "base/base.h"

struct gitindex;

/**
 * All entries of a repository's index, in git's order: split ones merged, sparse
 * directories replaced by their files. Empty without an index file. CKPT_ECORRUPT
 * if the index cannot be parsed.
 *
 * Read once: as long as the file is the same, all who ask share what was read last,
 * also in several threads.
 */
int indexload(const struct gitindex **out, const char *worktree, const char *gitdir, bool sha256);

void indexload_release(const struct gitindex *index);

#endif
