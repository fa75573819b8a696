/* SPDX-License-Identifier: MIT */
#include "worktree/scan_walk_internal.h"

#include "base/base.h"
#include "worktree/beneath.h"
#include "worktree/mounts.h"
#include "worktree/statcache.h"

#include <linux/magic.h>

void scan_note_skip(struct scan_walk *walk, const char *path, enum skip_why why)
{
	pthread_mutex_lock(&walk->lock);
	skip_list_add(&walk->scan->skips, path, why);
	pthread_mutex_unlock(&walk->lock);
}

size_t scan_enter_path(struct scan_worker *worker, const struct scan_item *item)
{
	strbuf_reset(&worker->path);
	strbuf_addstr(&worker->path, item->dir->path);
	if (worker->path.len)
		strbuf_addch(&worker->path, '/');
	return worker->path.len;
}

/* Move what the worker collected into the directory. */
static void finish_dir(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		       bool sorted, struct pool_queue *queue)
{
	struct wt_dir *dir = item->dir;

	dir->nr = worker->nr;
	dir->rules = item->rules.fingerprint;
	dir->entries = arena_alloc(&worker->arena,
				   (worker->nr ? worker->nr : 1) * sizeof(*dir->entries));
	if (dir->nr) {
		if (!sorted)
			qsort(worker->entries, worker->nr, sizeof(*worker->entries),
			      wt_entry_compare);
		memcpy(dir->entries, worker->entries, worker->nr * sizeof(*dir->entries));
	}
	/* A change in the same tick would not show in the times that were taken before it. */
	if (wt_stat_racy(&dir->st, walk->start_ns))
		dir->listing &= (uint8_t)~WT_PLAIN;
	scan_match(walk, item);
	for (size_t i = 0; i < worker->children_nr; i++)
		pool_push(queue, worker->children[i]);
}

static int lost_dir(struct scan_walk *walk, struct wt_dir *dir)
{
	if (!dir->parent)
		return ckpt_error_errno("unable to read the directory '%s'", walk->opts->root);
	/* Without descriptors or memory any directory could be missing: no tree to save. */
	if (fs_is_lack(errno))
		return ckpt_error_errno("unable to read the directory '%s'", dir->path);
	/* Gone, replaced by something else, or moved out (EXDEV): captured as missing. */
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EXDEV)
		scan_note_skip(walk, dir->path, SKIP_UNREADABLE);
	else
		atomic_store(&walk->moved, true);
	dir->lost = true;
	return 0;
}

static int read_dir(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		    int fd, struct pool_queue *queue)
{
	bool gitignore = false, dotgit = false, known = scan_names_known(walk, item);
	struct rules_dir outer = item->rules;
	int err;

	if (known) {
		gitignore = item->dir->cached->listing & WT_GITIGNORE;
		rules_enter(&item->rules, walk->opts->rules, &worker->arena, fd, item->dir->path,
			    gitignore, false);
		if (item->rules.fingerprint == item->dir->cached->rules) {
			err = scan_visit_known(walk, worker, item, fd);
			if (err < 0)
				return err;
			if (err) {
				item->dir->listing = (uint8_t)item->dir->cached->listing | WT_WHOLE;
				/* A file that has become too large exists, but is not captured. */
				if (worker->nr != item->dir->cached->nr)
					item->dir->listing &= (uint8_t)~(WT_PLAIN | WT_WHOLE);
				finish_dir(walk, worker, item, true, queue);
				return 0;
			}
		}
		item->rules = outer;
	}
	if (scan_list(worker, fd, &gitignore, &dotgit) < 0)
		return lost_dir(walk, item->dir);
	rules_enter(&item->rules, walk->opts->rules, &worker->arena, fd, item->dir->path, gitignore,
		    dotgit);
	err = scan_visit(walk, worker, item, fd);
	if (err)
		return err;
	/* A repository in it has rules and an index that are not part of the fingerprint. */
	if (dotgit && item->dir->parent) {
		item->dir->listing &= (uint8_t)~(WT_PLAIN | WT_WHOLE);
		scan_note_path(walk, &walk->scan->repos, item->dir->path, false);
	}
	if (gitignore)
		item->dir->listing |= WT_GITIGNORE;
	finish_dir(walk, worker, item, false, queue);
	return 0;
}

static int scan_dir(struct pool_queue *queue, void *arg, unsigned number, void *payload)
{
	struct scan_walk *walk = payload;
	struct scan_worker *worker = &walk->scan->workers[number];
	struct scan_item *item = arg;
	int fd, err = cancel_check();

	if (err)
		return err;
	fd = beneath_open_near(&worker->near, walk->scan->rootfd, item->dir->path,
			       O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return lost_dir(walk, item->dir);
	err = read_dir(walk, worker, item, fd, queue);
	close(fd);
	if (!number && walk->opts->progress)
		walk->opts->progress("Scanning", atomic_load(&walk->files), 0, NULL);
	return err;
}

/*
 * A directory is known if everything below it is. An ignored one with nothing
 * in it does not count, nor does one that only leads to a scope of which
 * nothing exists.
 */
static void settle(struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->entries[i];

		if (entry->kind != WT_DIR)
			continue;
		settle(entry->dir);
		if (entry->dir->lost ||
		    ((entry->dir->ignored || entry->dir->outside) && !entry->dir->nr))
			entry->flags |= WT_DEAD;
		if (entry->flags & WT_DEAD || !entry->dir->known)
			dir->known = false;
	}
	if (!dir->known)
		return;
	dir->tree = dir->cached->tree;
	memcpy(dir->sha256, dir->cached->sha256, SHA256_SIZE);
	dir->hashed = true;
}

/*
 * Whether the times of a directory show every change of its names. True for the
 * file systems that people work on; not assumed for network and user space file
 * systems.
 */
static bool keeps_dir_times(const struct origin *origin)
{
	return origin_on_disk(origin) || origin->fstype == TMPFS_MAGIC;
}

static void open_cache(struct scan_walk *walk)
{
	const struct statcache *cache = walk->opts->cache;
	struct scan *scan = walk->scan;

	origin_now(&scan->origin, scan->rootfd);
	walk->dir_times = keeps_dir_times(&scan->origin);
	if (!cache)
		return;
	walk->cache = origin_compare(&statcache_head(cache)->origin, &scan->origin);
	scan->cache_is_old = walk->cache != ORIGIN_SAME;
	scan->root->cached = statcache_root(cache);
}

static int open_root(struct scan_walk *walk, struct scan_item *item)
{
	struct scan *scan = walk->scan;
	struct scan_worker *worker = &scan->workers[0];
	struct stat st;

	scan->rootfd = open(walk->opts->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scan->rootfd < 0 || fstat(scan->rootfd, &st) < 0)
		return ckpt_error_errno("unable to open the directory '%s'", walk->opts->root);
	walk->dev = st.st_dev;
	scan->root = arena_alloc(&worker->arena, sizeof(*scan->root));
	memset(scan->root, 0, sizeof(*scan->root));
	scan->root->path = "";
	wt_stat_from(&scan->root->st, &st);
	open_cache(walk);
	item->dir = scan->root;
	item->rules = rules_begin(walk->opts->rules);
	item->partial = walk->opts->scope && walk->opts->scope->nr;
	return 0;
}

/*
 * The walk has seen where the device changes; but a part of the same device may be bind-mounted,
 * too.
 */
static void find_mounts(struct scan *scan, const char *root)
{
	struct strlist all = STRLIST_INIT;

	mounts_below(&all, root, scan->rootfd);
	strlist_extend(&all, &scan->mounts);
	strlist_sort_unique(&all);
	strlist_release(&scan->mounts);
	for (size_t i = 0; i < all.nr; i++)
		if (wt_find(scan->root, all.items[i]))
			strlist_add(&scan->mounts, all.items[i]);
	strlist_release(&all);
}

/* Only those that the walk may come to; whoever mounts something meanwhile is captured with it. */
static void find_phantoms(struct scan_walk *walk, const char *root)
{
	struct strlist all = STRLIST_INIT;

	mounts_below(&all, root, walk->scan->rootfd);
	for (size_t i = 0; i < all.nr; i++)
		if (mounts_is_empty(walk->scan->rootfd, all.items[i]))
			strlist_add(&walk->phantoms, all.items[i]);
	strlist_sort_unique(&walk->phantoms);
	strlist_release(&all);
}

int scan_run(struct scan **out, const struct scan_opts *opts)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));
	struct scan_walk walk = {
		.opts = opts,
		.scan = scan,
		.start_ns = clock_file_ns(),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct scan_item root = { 0 };
	int err;

	scan->rootfd = -1;
	scan->workers_nr = opts->threads ? opts->threads : 1;
	scan->workers = xcalloc(scan->workers_nr, sizeof(*scan->workers));
	for (unsigned i = 0; i < scan->workers_nr; i++) {
		strbuf_init(&scan->workers[i].path);
		strbuf_init(&scan->workers[i].names);
		scan->workers[i].dirents = xmalloc(DIRENTS_SIZE);
	}
	err = open_root(&walk, &root);
	if (!err)
		find_phantoms(&walk, opts->root);
	if (!err)
		err = pool_drain(scan->workers_nr, &root, scan_dir, &walk);
	strlist_release(&walk.phantoms);
	for (unsigned i = 0; i < scan->workers_nr; i++)
		beneath_near_release(&scan->workers[i].near);
	if (err) {
		scan_free(scan);
		return err;
	}
	settle(scan->root);
	wt_compact(scan->root);
	find_mounts(scan, opts->root);
	skip_list_sort(&scan->skips);
	strlist_sort_unique(&scan->defaults_left_out);
	strlist_sort_unique(&scan->left_out);
	strlist_sort_unique(&scan->sensitive_tracked);
	strlist_sort_unique(&scan->repos);
	scan->dir_modes_changed = atomic_load(&walk.dir_modes_changed);
	scan->moved = atomic_load(&walk.moved);
	*out = scan;
	return 0;
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	for (unsigned i = 0; i < scan->workers_nr; i++) {
		arena_release(&scan->workers[i].arena);
		strbuf_release(&scan->workers[i].path);
		strbuf_release(&scan->workers[i].names);
		free(scan->workers[i].dirents);
		free(scan->workers[i].entries);
		free(scan->workers[i].children);
	}
	free(scan->workers);
	fs_close(scan->rootfd);
	skip_list_release(&scan->skips);
	strlist_release(&scan->defaults_left_out);
	strlist_release(&scan->left_out);
	strlist_release(&scan->sensitive_tracked);
	strlist_release(&scan->repos);
	strlist_release(&scan->mounts);
	free(scan);
}
