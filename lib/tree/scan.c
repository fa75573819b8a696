/* SPDX-License-Identifier: MIT */
#include "tree/scan_walk_internal.h"

#include <linux/magic.h>

static void add_note(struct arena *arena, struct wt_dir *dir, enum wt_note_kind kind,
		     const char *path, enum skip_why why)
{
	struct wt_note *note = arena_alloc(arena, sizeof(*note));

	*note = (struct wt_note){ .next = dir->notes,
				  .path = arena_memdupz(arena, path, strlen(path)),
				  .kind = (uint8_t)kind,
				  .why = (uint8_t)why };
	dir->notes = note;
}

/* With the lock: others may note something about the same directory, the parent of theirs. */
static void note_locked(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir,
			enum wt_note_kind kind, const char *path, enum skip_why why)
{
	pthread_mutex_lock(&walk->lock);
	add_note(&worker->arena, dir, kind, path, why);
	pthread_mutex_unlock(&walk->lock);
}

void scan_note(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir,
	       enum wt_note_kind kind, const char *path)
{
	note_locked(walk, worker, dir, kind, path, 0);
}

void scan_note_skip(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir,
		    const char *path, enum skip_why why)
{
	note_locked(walk, worker, dir, WT_NOTE_SKIP, path, why);
}

void scan_skip_later(struct scan *scan, struct wt_dir *dir, const char *path, enum skip_why why)
{
	add_note(&scan->workers[0].arena, dir, WT_NOTE_SKIP, path, why);
	skip_list_add(&scan->skips, path, why);
}

size_t scan_enter_path(struct scan_worker *worker, const struct scan_item *item)
{
	strbuf_reset(&worker->path);
	strbuf_addstr(&worker->path, item->dir->path);
	if (worker->path.len)
		strbuf_addch(&worker->path, '/');
	return worker->path.len;
}

/* Look at a directory further below, unless somebody knows that nothing changed there. */
static int look_below(struct scan_walk *walk, const struct scan_item *item, struct scan_item *child,
		      struct pool_queue *queue)
{
	const struct statcache_dir *cached = item->dir->cached;

	child->doubt = item->doubt || !cached || item->rules.fingerprint != cached->rules;
	/* Its times must agree; they cost nothing here. */
	if (scan_need(walk, child) == SCAN_NOTHING &&
	    wt_stat_equal(&child->dir->st, &child->dir->cached->st))
		return scan_take_unseen(walk, child->dir);
	pool_push(queue, child);
	return 0;
}

/* Move what the worker collected into the directory. */
static int finish_dir(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		       bool sorted, struct pool_queue *queue)
{
	struct wt_dir *dir = item->dir;
	int err = 0;

	dir->nr = worker->nr;
	dir->rules = item->rules.fingerprint;
	dir->loaded = arena_alloc(&worker->arena,
				   (worker->nr ? worker->nr : 1) * sizeof(struct wt_entry));
	if (dir->nr) {
		if (!sorted)
			qsort(worker->entries, worker->nr, sizeof(*worker->entries),
			      wt_entry_compare);
		memcpy(dir->loaded, worker->entries, worker->nr * sizeof(struct wt_entry));
	}
	/* A change in the same tick would not show in the times that were taken before it. */
	if (wt_stat_racy(&dir->st, walk->start_ns))
		dir->listing &= (uint8_t)~(WT_PLAIN | WT_TIMED);
	scan_match(walk, item);
	for (size_t i = 0; i < worker->children_nr; i++)
		if (!err)
			err = look_below(walk, item, worker->children[i], queue);
	return err;
}

static int lost_dir(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir)
{
	if (!dir->parent)
		return ckpt_error_errno("unable to read the directory '%s'", walk->opts->root);
	/* Without descriptors or memory any directory could be missing: no tree to save. */
	if (fs_is_lack(errno))
		return ckpt_error_errno("unable to read the directory '%s'", dir->path);
	/* Gone, replaced by something else, or moved out (EXDEV): captured as missing. */
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EXDEV)
		scan_note_skip(walk, worker, dir->parent, dir->path, SKIP_UNREADABLE);
	else
		atomic_store(&walk->moved, true);
	dir->lost = true;
	return 0;
}

/*
 * The names in a directory are known, and perhaps more: 1 if that is all of it, 0 if it has to be
 * listed after all.
 */
static int read_known(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		      int fd, struct pool_queue *queue)
{
	bool unseen = scan_need(walk, item) != SCAN_LOOK && scan_may_pass(item);
	const struct statcache_dir *cached = item->dir->cached;
	int rc = 0;

	if (!unseen && !scan_names_known(walk, item))
		return 0;
	rules_enter(&item->rules, walk->opts->rules, &worker->arena, fd, item->dir->path,
		    cached->listing & WT_GITIGNORE, false);
	if (item->rules.fingerprint == cached->rules)
		rc = unseen ? scan_visit_unseen(walk, worker, item, fd) :
			      scan_visit_known(walk, worker, item, fd);
	if (rc <= 0)
		return rc;
	item->dir->listing = (uint8_t)cached->listing | (unseen ? 0 : WT_WHOLE);
	/* A file that has become too large exists, but is not captured. */
	if (worker->nr != cached->nr)
		item->dir->listing &= (uint8_t)~WT_NAMES;
	rc = finish_dir(walk, worker, item, true, queue);
	return rc ? rc : 1;
}

static int read_dir(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		    int fd, struct pool_queue *queue)
{
	bool gitignore = false, dotgit = false;
	struct rules_dir outer = item->rules;
	int rc = read_known(walk, worker, item, fd, queue), err;

	if (rc)
		return rc < 0 ? rc : 0;
	item->rules = outer;
	if (scan_list(worker, fd, &gitignore, &dotgit) < 0)
		return lost_dir(walk, worker, item->dir);
	rules_enter(&item->rules, walk->opts->rules, &worker->arena, fd, item->dir->path, gitignore,
		    dotgit);
	scan_recall(walk, item);
	/* What a repository within the worktree tracks is not known for long. */
	if (!rules_is_nested(&item->rules))
		item->dir->listing |= WT_TIMED;
	err = scan_visit(walk, worker, item, fd);
	if (err)
		return err;
	/* A repository in it has rules and an index that are not part of the fingerprint. */
	if (dotgit && item->dir->parent) {
		item->dir->listing &= (uint8_t)~WT_NAMES;
		scan_note(walk, worker, item->dir, WT_NOTE_REPO, item->dir->path);
	}
	/* Nor has anybody an eye on that index, or on what has yet to become a repository. */
	item->dir->look = !(item->dir->listing & WT_WHOLE) &&
			  ((dotgit && item->dir->parent) || rules_is_nested(&item->rules));
	if (gitignore)
		item->dir->listing |= WT_GITIGNORE;
	return finish_dir(walk, worker, item, false, queue);
}

static int scan_dir(struct pool_queue *queue, void *arg, unsigned number, void *payload)
{
	struct scan_walk *walk = payload;
	struct scan_worker *worker = &walk->scan->workers[number];
	struct scan_item *item = arg;
	int fd, err = cancel_check();

	if (err)
		return err;
	/* So far only its head was checked. */
	if (item->dir->cached && !statcache_sound(walk->opts->cache, item->dir->cached))
		item->dir->cached = NULL;
	fd = beneath_open_near(&worker->near, walk->scan->rootfd, item->dir->path,
			       O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return lost_dir(walk, worker, item->dir);
	err = read_dir(walk, worker, item, fd, queue);
	close(fd);
	if (!number && walk->opts->progress)
		walk->opts->progress("Scanning", atomic_load(&walk->files), 0, NULL);
	return err;
}

static void list_note(struct scan *scan, enum wt_note_kind kind, const char *path, enum skip_why why)
{
	struct strlist *const lists[WT_NOTES] = { [WT_NOTE_DEFAULT] = &scan->defaults_left_out,
						  [WT_NOTE_SECRET] = &scan->sensitive_tracked,
						  [WT_NOTE_REPO] = &scan->repos };

	if (kind == WT_NOTE_SKIP)
		skip_list_add(&scan->skips, path, why);
	else if (lists[kind])
		strlist_add(lists[kind], path);
}

/* It was left out; now it has a repository, and what that tracks counts. */
static bool has_become_repo(const struct scan *scan, const struct statcache_note *note)
{
	struct strbuf path = STRBUF_INIT;
	bool is_repo;

	if (note->kind != WT_NOTE_LEFT)
		return false;
	strbuf_addf(&path, "%s/.git", note->path);
	is_repo = !faccessat(scan->rootfd, path.buf, F_OK, AT_SYMLINK_NOFOLLOW);
	strbuf_release(&path);
	return is_repo;
}

/* The notes of directories that were not looked at. */
static void list_unseen(struct scan *scan, const struct statcache_dir *dir)
{
	const struct statcache *cache = scan->source.cache;
	const struct statcache_entry *entries = statcache_entries(dir);
	struct statcache_note found;
	size_t at = 0;

	if (!((dir->own | dir->below) & STATCACHE_NOTES) || scan->source.unsure)
		return;
	/* Each block is the block of one directory. */
	if (++scan->source.listed > statcache_size(cache) / sizeof(*dir) ||
	    !statcache_sound(cache, dir)) {
		scan->source.unsure = true;
		return;
	}
	while (statcache_next_note(&found, &at, dir)) {
		list_note(scan, found.kind, found.path, found.why);
		scan->source.unsure = scan->source.unsure || has_become_repo(scan, &found);
	}
	for (uint32_t i = 0; i < dir->nr && dir->below & STATCACHE_NOTES; i++) {
		const struct statcache_dir *child = statcache_glance(cache, &entries[i]);

		if (child)
			list_unseen(scan, child);
		else if (entries[i].kind == WT_DIR)
			scan->source.unsure = true;
	}
}

/*
 * A directory is known if everything below it is. An ignored one with nothing
 * in it does not count, nor does one that only leads to a scope of which
 * nothing exists.
 */
static void settle_dir(struct scan *scan, struct wt_dir *dir)
{
	if (dir->source) {
		list_unseen(scan, dir->cached);
		return;
	}
	for (const struct wt_note *note = dir->notes; note; note = note->next)
		list_note(scan, note->kind, note->path, note->why);
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->loaded[i];

		if (entry->kind != WT_DIR)
			continue;
		settle_dir(scan, entry->dir);
		if (entry->dir->lost ||
		    ((entry->dir->ignored || entry->dir->outside) && !entry->dir->nr))
			entry->flags |= WT_DEAD;
		if (entry->flags & WT_DEAD)
			wt_inherit_notes(dir, entry->dir);
		if (entry->flags & WT_DEAD || !entry->dir->known)
			dir->known = false;
		dir->same = dir->same && entry->dir->same;
	}
	dir->same = dir->same && dir->known && statcache_same_notes(dir);
	/* Nothing is dead in what is known. */
	if (!dir->known) {
		dir->hashed = false;
		wt_compact_dir(dir);
		return;
	}
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
	scan->source = (struct scan_source){ .source = { scan_load }, .cache = cache };
	if (walk->cache == ORIGIN_SAME && walk->dir_times)
		walk->hints = walk->opts->hints;
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
	/* What is mounted hides what is there, without a change that anybody could see. */
	if (all.nr)
		walk->hints = NULL;
	for (size_t i = 0; i < all.nr; i++)
		if (mounts_is_empty(walk->scan->rootfd, all.items[i]))
			strlist_add(&walk->phantoms, all.items[i]);
	strlist_sort_unique(&walk->phantoms);
	strlist_release(&all);
}

/* A few directories are not worth a thread. */
static unsigned count_workers(const struct scan_opts *opts)
{
	enum { FEW = 32 };

	if (opts->hints && opts->hints->dirs->nr <= FEW && !opts->hints->trees->nr)
		return 1;
	return opts->threads ? opts->threads : 1;
}

static struct scan *new_scan(unsigned workers)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));

	scan->rootfd = -1;
	scan->workers_nr = workers;
	scan->workers = xcalloc(workers, sizeof(*scan->workers));
	for (unsigned i = 0; i < workers; i++) {
		strbuf_init(&scan->workers[i].path);
		strbuf_init(&scan->workers[i].names);
		scan->workers[i].dirents = xmalloc(DIRENTS_SIZE);
	}
	return scan;
}

static int run_walk(struct scan **out, const struct scan_opts *opts)
{
	struct scan *scan = new_scan(count_workers(opts));
	struct scan_walk walk = {
		.opts = opts,
		.scan = scan,
		.start_ns = clock_file_ns(),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct scan_item root = { 0 };
	int err;

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
	scan->source.unsure = atomic_load(&walk.new_link);
	settle_dir(scan, scan->root);
	find_mounts(scan, opts->root);
	skip_list_sort(&scan->skips);
	strlist_sort_unique(&scan->defaults_left_out);
	strlist_sort_unique(&scan->left_out);
	strlist_sort_unique(&scan->sensitive_tracked);
	strlist_sort_unique(&scan->repos);
	scan->hinted = walk.hints != NULL;
	scan->dir_modes_changed = atomic_load(&walk.dir_modes_changed);
	scan->moved = atomic_load(&walk.moved);
	*out = scan;
	return 0;
}

/* What turns out not to be as the hints say needs a walk that sees everything. */
int scan_run(struct scan **out, const struct scan_opts *opts)
{
	struct scan_opts all = *opts;
	int err = run_walk(out, opts);

	if (err || !(*out)->source.unsure)
		return err;
	scan_free(*out);
	all.hints = NULL;
	return run_walk(out, &all);
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
	arena_release(&scan->source.arena);
	fs_close(scan->rootfd);
	skip_list_release(&scan->skips);
	strlist_release(&scan->defaults_left_out);
	strlist_release(&scan->left_out);
	strlist_release(&scan->sensitive_tracked);
	strlist_release(&scan->repos);
	strlist_release(&scan->mounts);
	free(scan);
}
