/* SPDX-License-Identifier: MIT */
#include "watch/watch_poll_internal.h"

#include "base/base.h"
#include "store/store.h"
#include "tree/tree.h"

/* A pause is at least this many times as long as the look before it. */
#define REST 50.0

enum { DEPTH_MAX = 1000 }; /* what is deeper is left to saves */

struct look {
	const struct statcache *cache;
	int rootfd;
	struct beneath_near near;
	struct strbuf path;
	unsigned depth;
	uint64_t sum;
};

/* A directory that is gone, or is something else by now, counts as one without times. */
static void add_times(struct look *look)
{
	int fd = beneath_open_near(&look->near, look->rootfd, look->path.buf, O_PATH | O_DIRECTORY);
	struct wt_stat times = { 0 };
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		wt_stat_from(&times, &st);
	fs_close(fd);
	look->sum = hash_mix(look->sum, &times, sizeof(times));
}

static void add_dir(struct look *look, const struct statcache_dir *dir)
{
	size_t len = look->path.len;

	add_times(look);
	if (!dir || look->depth >= DEPTH_MAX)
		return;
	look->depth++;
	for (uint32_t i = 0; i < dir->nr; i++) {
		const struct statcache_entry *entry = &statcache_entries(dir)[i];

		if (entry->kind != WT_DIR)
			continue;
		path_append(&look->path, statcache_name(dir, entry));
		add_dir(look, statcache_child(look->cache, entry));
		strbuf_setlen(&look->path, len);
	}
	look->depth--;
}

/* Of all directories that the last save captured; never 0. */
static uint64_t sum_of(const char *root, int storefd)
{
	struct look look = { .path = STRBUF_INIT, .sum = HASH_MIX_START };
	struct statcache *cache = statcache_open(storefd, LAYOUT_STATCACHE);

	look.cache = cache;
	look.rootfd = open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (look.rootfd >= 0)
		add_dir(&look, cache ? statcache_root(cache) : NULL);
	fs_close(look.rootfd);
	beneath_near_release(&look.near);
	strbuf_release(&look.path);
	statcache_close(cache);
	return look.sum ? look.sum : 1;
}

bool watch_poll_look(struct watch_poll *poll, const char *root, int storefd, double pause)
{
	double began = clock_monotonic(), ended;
	uint64_t sum = sum_of(root, storefd);
	bool differs = poll->seen && poll->seen != sum;

	ended = clock_monotonic();
	if (pause < REST * (ended - began))
		pause = REST * (ended - began);
	poll->seen = sum;
	poll->next = ended + pause;
	return differs;
}
