/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_CACHEPROBE_H
#define CKPT_TESTS_CACHEPROBE_H

/* Stat caches in the current directory. After unit.h. */

#include "tree/statcache.h"

/* Written from scratch. */
UNUSED static int cache_write(const char *path, const struct statcache_head *head,
			      const struct wt_dir *root)
{
	struct statcache *cache = statcache_new();
	int err;

	statcache_update(cache, head, root);
	err = statcache_save(cache, AT_FDCWD, path, false);
	statcache_close(cache);
	return err;
}

#endif
