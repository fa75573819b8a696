/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_VOUCH_H
#define CKPT_TREE_VOUCH_H

#include "base/base.h"

struct gitconfig;
struct repo;
struct scan;
struct statcache;

/**
 * Mark as known what git wrote into a new worktree (git/gitfresh.h) and the stat
 * cache of another worktree has at the same path with the same object and the
 * same size: its hashes are those of the cache, and nobody has to read it.
 *
 * Only on file systems whose times prove something, and only what was written
 * since the system was booted (see origin.h): an index may survive a power cut
 * that the contents of the files did not. `start_ns` is when the scan began, by
 * clock_file_ns().
 */
void vouch(struct scan *scan, int64_t start_ns, const struct statcache *other,
	   const struct repo *repo, const struct gitconfig *config);

#endif
