/* SPDX-License-Identifier: MIT */
#include "save/save_internal.h"

#include "session/session.h"

/* The store of a worktree, and when it was last used. */
static struct store *open_store(const char *home, const char *worktree, int64_t *used_out)
{
	char key[STORE_KEY_SIZE];
	struct store *store = NULL;
	struct stat st;

	store_key(key, worktree);
	if (inventory_open(&store, home, key))
		return NULL;
	if (strcmp(store->worktree, worktree) ||
	    fstatat(store->dirfd, LAYOUT_STATCACHE, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		store_close(store);
		return NULL;
	}
	*used_out = st.st_mtime;
	return store;
}

/* The one that was used last: it probably has most of what is in the new worktree. */
static struct store *find_store(const struct session *session)
{
	struct strlist worktrees = STRLIST_INIT;
	struct store *best = NULL;
	int64_t best_used = 0;

	repo_other_worktrees(&worktrees, session->repo);
	for (size_t i = 0; i < worktrees.nr; i++) {
		int64_t used = 0;
		struct store *store = open_store(session->home, worktrees.items[i], &used);

		if (store && (!best || used > best_used)) {
			store_close(best);
			best = store;
			best_used = used;
		} else {
			store_close(store);
		}
	}
	strlist_release(&worktrees);
	return best;
}

static void add_wanted(struct oidset *out, const struct statcache *cache,
		       const struct statcache_dir *dir)
{
	const struct statcache_entry *entries = statcache_entries(dir);

	if (!oid_is_zero(&dir->tree))
		(void)oidset_add(out, &dir->tree);
	for (uint32_t i = 0; i < dir->nr; i++) {
		const struct statcache_dir *child;

		if (entries[i].kind != WT_DIR)
			(void)oidset_add(out, &entries[i].oid);
		else if ((child = statcache_child(cache, &entries[i])))
			add_wanted(out, cache, child);
	}
}

void save_sibling_share(struct save_job *job)
{
	const struct session *session = job->session;
	const struct statcache_dir *root;
	struct statcache *cache = NULL;
	struct oidset wanted = { 0 };
	struct store *from;

	from = find_store(session);
	cache = from ? statcache_open(from->dirfd, LAYOUT_STATCACHE) : NULL;
	if (cache)
		statcache_populate(cache);
	root = cache ? statcache_root(cache) : NULL;
	if (root) {
		add_wanted(&wanted, cache, root);
		/* Half of a budget is for what comes later. */
		if (share_packs(job->store, from, &wanted, session->settings.max_size / 2))
			(void)objects_reopen(job->store);
	}
	oidset_release(&wanted);
	statcache_close(cache);
	store_close(from);
}
