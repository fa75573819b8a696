/* SPDX-License-Identifier: MIT */
/*
 * Contents from live files, where the file system lets two files share them
 * (FICLONE). Which live file has which contents is known from the stat cache; its
 * stat data must be the same before and after. What a process writes through a
 * mapping meanwhile shows in none of them: the copy is read and compared at the
 * end in any case.
 */
#include "restore/into_internal.h"

#include "base/base.h"
#include "tree/tree.h"

#include <linux/fs.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

enum {
	SAME_MAX = 4,	  /* of so many files with the same contents one will be unchanged */
	REFUSALS_MAX = 16, /* after so many, and no success, it is not tried any more */
};

struct into_live {
	struct oid oid;
	const char *path;
	struct wt_stat st;
};

static atomic_uint refusals, successes;

/* --- finding them --- */

static size_t slot_of(const struct into_clones *clones, const struct oid *oid)
{
	size_t at;

	memcpy(&at, oid->id, sizeof(at));
	return at & (clones->slots_nr - 1);
}

static void put(struct into_clones *clones, uint32_t item)
{
	size_t mask = clones->slots_nr - 1, at = slot_of(clones, &clones->items[item].oid);
	unsigned same = 0;

	for (; clones->slots[at]; at = (at + 1) & mask) {
		same += oid_equal(&clones->items[clones->slots[at] - 1].oid,
				  &clones->items[item].oid);
		if (same == SAME_MAX)
			return;
	}
	clones->slots[at] = item + 1;
}

static bool is_trusted(const struct statcache_entry *entry, enum origin_relation relation)
{
	return entry->kind == WT_FILE && entry->st.size && !(entry->flags & WT_RACY) &&
	       (relation == ORIGIN_SAME || entry->flags & WT_SETTLED);
}

static void gather(struct into_clones *clones, const struct statcache *cache,
		   const struct statcache_dir *dir, struct strbuf *path,
		   enum origin_relation relation)
{
	const struct statcache_entry *entries = dir ? statcache_entries(dir) : NULL;
	size_t len = path->len;

	for (uint32_t i = 0; dir && i < dir->nr; i++) {
		strbuf_setlen(path, len);
		if (len)
			strbuf_addch(path, '/');
		strbuf_add(path, statcache_name(dir, &entries[i]), entries[i].name_len);
		if (entries[i].kind == WT_DIR)
			gather(clones, cache, statcache_child(cache, &entries[i]), path, relation);
		if (!is_trusted(&entries[i], relation) || clones->nr == UINT32_MAX)
			continue;
		ALLOC_GROW(clones->items, clones->nr + 1, clones->alloc);
		clones->items[clones->nr++] = (struct into_live){
			.oid = entries[i].oid,
			.path = arena_memdupz(&clones->paths, path->buf, path->len),
			.st = entries[i].st,
		};
	}
	strbuf_setlen(path, len);
}

/* No file system shares anything with one of another kind. */
static bool may_share(int a, int b)
{
	struct statfs of_a, of_b;

	return !fstatfs(a, &of_a) && !fstatfs(b, &of_b) && of_a.f_type == of_b.f_type;
}

void into_clones_open(struct into_clones *out, const struct into *into)
{
	const struct session *session = into->session;
	struct statcache *cache;
	struct strbuf path = STRBUF_INIT;
	struct origin now;

	out->rootfd = open(session->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->rootfd < 0 || !may_share(out->rootfd, into->fd))
		return;
	cache = statcache_open(session->store->dirfd, LAYOUT_STATCACHE);
	if (cache) {
		origin_now(&now, out->rootfd);
		gather(out, cache, statcache_root(cache), &path,
		       origin_compare(&statcache_head(cache)->origin, &now));
		statcache_close(cache);
	}
	for (out->slots_nr = 1024; out->slots_nr < out->nr * 2; out->slots_nr *= 2)
		;
	out->slots = xcalloc(out->slots_nr, sizeof(*out->slots));
	for (size_t i = 0; i < out->nr; i++)
		put(out, (uint32_t)i);
	strbuf_release(&path);
}

void into_clones_close(struct into_clones *clones)
{
	fs_close(clones->rootfd);
	free(clones->items);
	free(clones->slots);
	arena_release(&clones->paths);
	*clones = (struct into_clones){ .rootfd = -1 };
}

/* --- using them --- */

static bool is_unchanged(int fd, const struct into_live *live)
{
	struct wt_stat now;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	wt_stat_from(&now, &st);
	return wt_stat_equal(&now, &live->st);
}

static bool clone_one(const struct into_clones *clones, int fd, const struct into_live *live)
{
	int from = beneath_open(clones->rootfd, live->path, O_RDONLY | O_NONBLOCK);
	bool done = false;

	if (from >= 0 && is_unchanged(from, live)) {
		done = !ioctl(fd, FICLONE, from);
		atomic_fetch_add(done ? &successes : &refusals, 1);
		if (done && !is_unchanged(from, live)) {
			/* It is a new file, so this cannot lose anything. */
			(void)!ftruncate(fd, 0);
			done = false;
		}
	}
	fs_close(from);
	return done;
}

bool into_clone(struct into_clones *clones, int fd, const struct oid *oid, uint64_t *size_out)
{
	if (!clones->nr ||
	    (atomic_load(&refusals) >= REFUSALS_MAX && !atomic_load(&successes)))
		return false;
	for (size_t at = slot_of(clones, oid); clones->slots[at];
	     at = (at + 1) & (clones->slots_nr - 1)) {
		const struct into_live *live = &clones->items[clones->slots[at] - 1];

		if (oid_equal(&live->oid, oid) && clone_one(clones, fd, live)) {
			*size_out = live->st.size;
			return true;
		}
	}
	return false;
}
