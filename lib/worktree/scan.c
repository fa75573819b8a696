/* SPDX-License-Identifier: MIT */
#include "worktree/scan.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/strbuf.h"
#include "worktree/beneath.h"
#include "worktree/statcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * One item of work is one directory. A worker lists it, asks the rules about
 * each name, stats what belongs in, sorts, compares with the cache, and puts
 * the subdirectories on the queue. Results lie in memory of the worker that
 * made them and are only linked by pointers, so workers share nothing but the
 * queue and, rarely, the lists of what was left out.
 */

enum { DIRENTS_SIZE = 64 * 1024 };

struct scan_worker {
	struct arena arena;
	struct strbuf path;
	struct strbuf names; /* of the directory at hand: a type, a name and a NUL each */
	char *dirents;       /* what the kernel fills */
	struct wt_entry *entries; /* of the directory at hand */
	size_t nr, alloc;
	struct item **children; /* likewise, in no order */
	size_t children_nr, children_alloc;
};

struct item {
	struct wt_dir *dir;
	struct rules_dir rules;
	bool partial; /* only on the way to the scope */
};

struct walk {
	const struct scan_opts *opts;
	struct scan *scan;
	pthread_mutex_t lock; /* of the lists in `scan` */
	atomic_size_t files;
	atomic_bool dir_modes_changed;
};

enum scope_relation { SCOPE_NONE, SCOPE_ABOVE, SCOPE_NAMED };

/* How an entry of a directory on the way to the scope relates to it. */
static enum scope_relation scope_relation(const struct strlist *scope, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < scope->nr; i++) {
		const char *named = scope->items[i];

		if (strncmp(named, path, len))
			continue;
		if (!named[len])
			return SCOPE_NAMED;
		if (named[len] == '/')
			return SCOPE_ABOVE;
	}
	return SCOPE_NONE;
}

static void note_skip(struct walk *walk, const char *path, enum skip_why why)
{
	pthread_mutex_lock(&walk->lock);
	skip_list_add(&walk->scan->skips, path, why);
	pthread_mutex_unlock(&walk->lock);
}

static void note_path(struct walk *walk, struct strlist *list, const char *path, bool is_dir)
{
	pthread_mutex_lock(&walk->lock);
	strlist_addf(list, "%s%s", path, is_dir ? "/" : "");
	pthread_mutex_unlock(&walk->lock);
}

static struct wt_dir *new_dir(struct scan_worker *worker, struct wt_dir *parent, const char *path)
{
	struct wt_dir *dir = arena_alloc(&worker->arena, sizeof(*dir));

	memset(dir, 0, sizeof(*dir));
	dir->parent = parent;
	dir->path = arena_memdupz(&worker->arena, path, strlen(path));
	return dir;
}

static struct wt_entry *add_entry(struct scan_worker *worker, const char *name, const struct stat *st)
{
	struct wt_entry *entry;

	ALLOC_GROW(worker->entries, worker->nr + 1, worker->alloc);
	entry = &worker->entries[worker->nr++];
	memset(entry, 0, sizeof(*entry));
	entry->name_len = (uint32_t)strlen(name);
	entry->name = arena_memdupz(&worker->arena, name, entry->name_len);
	entry->mode = st->st_mode & 07777;
	wt_stat_from(&entry->st, st);
	return entry;
}

static void add_subdir(struct scan_worker *worker, struct item *parent, const char *name,
		       const struct stat *st, bool partial, enum rules_verdict verdict)
{
	struct wt_entry *entry = add_entry(worker, name, st);
	struct item *item = arena_alloc(&worker->arena, sizeof(*item));

	memset(item, 0, sizeof(*item));
	entry->kind = WT_DIR;
	entry->dir = new_dir(worker, parent->dir, worker->path.buf);
	entry->dir->outside = partial;
	item->dir = entry->dir;
	item->rules = parent->rules;
	item->partial = partial;
	if (verdict != RULES_CAPTURE) {
		item->rules.excluded = true;
		entry->dir->ignored = true;
		if (verdict == RULES_TRACKED_DEFAULT && !item->rules.default_top)
			item->rules.default_top = entry->dir->path;
	}
	ALLOC_GROW(worker->children, worker->children_nr + 1, worker->children_alloc);
	worker->children[worker->children_nr++] = item;
}

static bool is_avoided(const struct scan_opts *opts, const struct stat *st)
{
	return opts->avoid_ino && st->st_ino == opts->avoid_ino && st->st_dev == opts->avoid_dev;
}

/* A directory that a rule leaves out still counts if it is a repository of its own. */
static bool has_own_repo(int dirfd, const char *name)
{
	struct strbuf path = STRBUF_INIT;
	bool found;

	strbuf_addf(&path, "%s/.git", name);
	found = !faccessat(dirfd, path.buf, F_OK, AT_SYMLINK_NOFOLLOW);
	strbuf_release(&path);
	return found;
}

static int add_file(struct walk *walk, struct scan_worker *worker, const char *name,
		    const struct stat *st)
{
	const struct scan_opts *opts = walk->opts;
	struct wt_entry *entry;

	if (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)) {
		note_skip(walk, worker->path.buf, SKIP_SPECIAL);
		return 0;
	}
	if (S_ISREG(st->st_mode) && opts->max_file_size &&
	    (uint64_t)st->st_size > opts->max_file_size) {
		note_skip(walk, worker->path.buf, SKIP_OVERSIZE);
		return 0;
	}
	entry = add_entry(worker, name, st);
	entry->kind = S_ISLNK(st->st_mode) ? WT_LINK : WT_FILE;
	if (entry->kind == WT_LINK)
		entry->mode = 0;
	if (atomic_fetch_add(&walk->files, 1) >= opts->max_files && opts->max_files)
		return ckpt_error_set(CKPT_EREFUSED,
				      "more than %llu files below '%s'; use --force to save them, "
				      "or raise maxFiles",
				      (unsigned long long)opts->max_files, opts->root);
	return 0;
}

/* One name of a directory; worker->path is its path. */
static int visit(struct walk *walk, struct scan_worker *worker, struct item *item, int dirfd,
		 const char *name, unsigned char type)
{
	enum scope_relation relation =
		item->partial ? scope_relation(walk->opts->scope, worker->path.buf) : SCOPE_NONE;
	enum rules_verdict verdict;
	struct stat st;
	bool is_dir, have_stat = false;

	if (item->partial && relation == SCOPE_NONE)
		return 0;
	if (type == DT_UNKNOWN) {
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return 0; /* gone: captured as not there */
		have_stat = true;
		type = IFTODT(st.st_mode);
	}
	is_dir = type == DT_DIR;
	if (item->partial)
		verdict = rules_judge_named(walk->opts->rules, &item->rules, worker->path.buf, name,
					    type == DT_REG);
	else
		verdict = rules_judge(walk->opts->rules, &item->rules, worker->path.buf, name, is_dir,
				      type == DT_REG);
	if (verdict == RULES_DEFAULT) {
		if (item->rules.default_top)
			note_path(walk, &walk->scan->defaults_left_out, item->rules.default_top,
				  true);
		else
			note_path(walk, &walk->scan->defaults_left_out, worker->path.buf, is_dir);
	}
	if (verdict == RULES_IGNORED || verdict == RULES_DEFAULT) {
		if (!is_dir || !has_own_repo(dirfd, name))
			return 0;
		verdict = verdict == RULES_DEFAULT ? RULES_TRACKED_DEFAULT : RULES_TRACKED_ONLY;
	}
	if (!have_stat && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (verdict == RULES_SENSITIVE) {
		note_skip(walk, worker->path.buf, SKIP_SENSITIVE);
		return 0;
	}
	if (verdict == RULES_CAPTURE_SENSITIVE)
		note_path(walk, &walk->scan->sensitive_tracked, worker->path.buf, false);
	if (S_ISDIR(st.st_mode)) {
		if (!is_avoided(walk->opts, &st))
			add_subdir(worker, item, name, &st, relation == SCOPE_ABOVE, verdict);
		return 0;
	}
	return add_file(walk, worker, name, &st);
}

/*
 * All names of a directory: .gitignore and .git must be known before the others
 * are judged. readdir(3) would cost three more system calls a directory, one
 * seventh of all in an unchanged tree.
 */
static int list_names(struct scan_worker *worker, int dirfd, bool *gitignore, bool *dotgit)
{
	ssize_t n;

	strbuf_reset(&worker->names);
	while ((n = getdents64(dirfd, worker->dirents, DIRENTS_SIZE)) > 0) {
		for (char *p = worker->dirents; p < worker->dirents + n;) {
			struct dirent64 *ent = (struct dirent64 *)p;
			const char *name = ent->d_name;

			p += ent->d_reclen;
			if (name[0] == '.') {
				if (!name[1] || (name[1] == '.' && !name[2]))
					continue;
				if (!strcmp(name, ".git")) {
					*dotgit = true;
					continue;
				}
				if (!strcmp(name, ".gitignore"))
					*gitignore = true;
			}
			strbuf_addch(&worker->names, ent->d_type);
			strbuf_add(&worker->names, name, strlen(name) + 1);
		}
	}
	return n < 0 ? -1 : 0;
}

static void take_cached(struct wt_entry *entry, const struct statcache_entry *cached)
{
	if (cached->flags & WT_RACY || entry->mode != cached->mode ||
	    !wt_stat_equal(&entry->st, &cached->st))
		return;
	entry->oid = cached->oid;
	memcpy(entry->sha256, cached->sha256, SHA256_SIZE);
	entry->flags |= WT_KNOWN;
}

/* Compare a sorted directory with its block in the cache, both in the same order. */
static void match_cache(struct walk *walk, struct wt_dir *dir)
{
	const struct statcache_dir *cached = dir->cached;
	const struct statcache_entry *other;
	size_t matched = 0, j = 0;

	if (!cached)
		return;
	other = statcache_entries(cached);
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->entries[i];
		int cmp = 1;

		while (j < cached->nr &&
		       (cmp = wt_name_compare(statcache_name(cached, &other[j]), other[j].name_len,
					      other[j].kind == WT_DIR, entry->name,
					      entry->name_len, entry->kind == WT_DIR)) < 0)
			j++;
		if (j == cached->nr || cmp || other[j].kind != entry->kind)
			continue;
		if (entry->kind == WT_DIR) {
			entry->dir->cached = statcache_child(walk->opts->cache, &other[j]);
			if (entry->mode != other[j].mode)
				atomic_store(&walk->dir_modes_changed, true);
			matched++;
		} else {
			take_cached(entry, &other[j]);
			matched += (entry->flags & WT_KNOWN) != 0;
		}
	}
	/* For now of this directory alone; settle() looks at those below. */
	dir->known = matched == dir->nr && dir->nr == cached->nr;
}

/* Move what the worker collected into the directory. */
static void finish_dir(struct walk *walk, struct scan_worker *worker, struct item *item,
		       struct pool_queue *queue)
{
	struct wt_dir *dir = item->dir;

	dir->nr = worker->nr;
	dir->entries = arena_alloc(&worker->arena, (worker->nr ? worker->nr : 1) *
							   sizeof(*dir->entries));
	if (dir->nr) {
		qsort(worker->entries, worker->nr, sizeof(*worker->entries), wt_entry_compare);
		memcpy(dir->entries, worker->entries, worker->nr * sizeof(*dir->entries));
	}
	match_cache(walk, dir);
	for (size_t i = 0; i < worker->children_nr; i++)
		pool_push(queue, worker->children[i]);
}

static int lost_dir(struct walk *walk, struct wt_dir *dir)
{
	if (!dir->parent)
		return ckpt_error_errno("unable to read the directory '%s'", walk->opts->root);
	/* Gone, or turned into something else since: captured as not there. */
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		note_skip(walk, dir->path, SKIP_UNREADABLE);
	dir->lost = true;
	return 0;
}

static int visit_all(struct walk *walk, struct scan_worker *worker, struct item *item, int dirfd)
{
	const char *end = worker->names.buf + worker->names.len;
	size_t base;
	int err = 0;

	worker->nr = worker->children_nr = 0;
	strbuf_reset(&worker->path);
	strbuf_addstr(&worker->path, item->dir->path);
	if (worker->path.len)
		strbuf_addch(&worker->path, '/');
	base = worker->path.len;
	for (const char *name = worker->names.buf; name < end && !err;) {
		size_t len = strlen(name + 1);

		strbuf_setlen(&worker->path, base);
		strbuf_add(&worker->path, name + 1, len);
		err = visit(walk, worker, item, dirfd, name + 1, (unsigned char)name[0]);
		name += len + 2;
	}
	return err;
}

static int scan_dir(struct pool_queue *queue, void *arg, unsigned number, void *payload)
{
	struct walk *walk = payload;
	struct scan_worker *worker = &walk->scan->workers[number];
	struct item *item = arg;
	bool gitignore = false, dotgit = false;
	int fd, err = cancel_check();

	if (err)
		return err;
	fd = beneath_open(walk->scan->rootfd, item->dir->path, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || list_names(worker, fd, &gitignore, &dotgit) < 0) {
		err = lost_dir(walk, item->dir);
		goto out;
	}
	rules_enter(&item->rules, walk->opts->rules, &worker->arena, fd, item->dir->path,
		    gitignore, dotgit);
	err = visit_all(walk, worker, item, fd);
	if (!err)
		finish_dir(walk, worker, item, queue);
	if (!number && walk->opts->progress)
		walk->opts->progress("Scanning", atomic_load(&walk->files), 0, NULL);
out:
	if (fd >= 0)
		close(fd);
	return err;
}

/* A directory is known if all below it is; an ignored one with nothing in it is none. */
static void settle(struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->entries[i];

		if (entry->kind != WT_DIR)
			continue;
		settle(entry->dir);
		if (entry->dir->lost || (entry->dir->ignored && !entry->dir->nr))
			entry->flags |= WT_DEAD;
		if (entry->flags & WT_DEAD || !entry->dir->known)
			dir->known = false;
	}
	if (dir->known)
		dir->tree = dir->cached->tree;
}

int scan_run(struct scan **out, const struct scan_opts *opts)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));
	struct walk walk = {
		.opts = opts,
		.scan = scan,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct item root = { .rules = rules_begin(opts->rules) };
	int err;

	scan->workers_nr = opts->threads ? opts->threads : 1;
	scan->workers = xcalloc(scan->workers_nr, sizeof(*scan->workers));
	for (unsigned i = 0; i < scan->workers_nr; i++) {
		strbuf_init(&scan->workers[i].path);
		strbuf_init(&scan->workers[i].names);
		scan->workers[i].dirents = xmalloc(DIRENTS_SIZE);
	}
	scan->rootfd = open(opts->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scan->rootfd < 0) {
		err = ckpt_error_errno("unable to open the directory '%s'", opts->root);
		goto out;
	}
	scan->root = new_dir(&scan->workers[0], NULL, "");
	root.dir = scan->root;
	root.partial = opts->scope && opts->scope->nr;
	scan->root->cached = opts->cache ? statcache_root(opts->cache) : NULL;
	err = pool_drain(scan->workers_nr, &root, scan_dir, &walk);
	if (err)
		goto out;
	settle(scan->root);
	wt_compact(scan->root);
	skip_list_sort(&scan->skips);
	strlist_sort_unique(&scan->defaults_left_out);
	strlist_sort_unique(&scan->sensitive_tracked);
	scan->dir_modes_changed = atomic_load(&walk.dir_modes_changed);
	*out = scan;
out:
	if (err)
		scan_free(scan);
	return err;
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
	if (scan->rootfd > 0)
		close(scan->rootfd);
	skip_list_release(&scan->skips);
	strlist_release(&scan->defaults_left_out);
	strlist_release(&scan->sensitive_tracked);
	free(scan);
}
