/* SPDX-License-Identifier: MIT */
#include "tree/scan_walk_internal.h"

#include <dirent.h>

enum scope_relation { SCOPE_NONE, SCOPE_ABOVE, SCOPE_NAMED };

/* How an entry of a directory on the way to the scope relates to it. */
static enum scope_relation scope_relation(const struct strlist *scope, const char *path)
{
	if (pathset_has(scope, path))
		return SCOPE_NAMED;
	return pathset_reaches(scope, path) ? SCOPE_ABOVE : SCOPE_NONE;
}

static struct wt_dir *new_dir(struct scan_worker *worker, struct wt_dir *parent, const char *path)
{
	struct wt_dir *dir = arena_alloc(&worker->arena, sizeof(*dir));

	memset(dir, 0, sizeof(*dir));
	dir->parent = parent;
	dir->depth = (uint16_t)(parent->depth + 1);
	dir->path = arena_memdupz(&worker->arena, path, strlen(path));
	return dir;
}

static struct wt_entry *new_entry(struct scan_worker *worker, const char *name, size_t name_len)
{
	struct wt_entry *entry = ALLOC_NEXT(worker->entries, worker->nr, worker->alloc);

	memset(entry, 0, sizeof(*entry));
	entry->name_len = (uint32_t)name_len;
	entry->name = name;
	return entry;
}

static struct wt_entry *add_entry(struct scan_worker *worker, const char *name, size_t name_len,
				  const struct stat *st)
{
	struct wt_entry *entry = new_entry(worker, name, name_len);

	entry->mode = st->st_mode & 07777;
	wt_stat_from(&entry->st, st);
	return entry;
}

struct wt_entry *scan_add_cached(struct scan_worker *worker, const struct statcache_dir *dir,
				 const struct statcache_entry *cached)
{
	struct wt_entry *entry = new_entry(worker, statcache_name(dir, cached), cached->name_len);

	entry->mode = cached->mode;
	entry->kind = cached->kind;
	entry->st = cached->st;
	entry->flags = cached->flags & WT_LINKED;
	return entry;
}

static bool is_avoided(const struct scan_opts *opts, const struct stat *st, const char *path)
{
	return (opts->avoid_ino && st->st_ino == opts->avoid_ino &&
		st->st_dev == opts->avoid_dev) ||
	       (opts->apart && opts->apart->nr && pathset_has(opts->apart, path));
}

/* It hides what is really there, from us as well: it is left alone. */
static bool is_phantom(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir)
{
	bool phantom = walk->phantoms.nr && pathset_has(&walk->phantoms, worker->path.buf);

	if (phantom)
		scan_note_skip(walk, worker, dir, worker->path.buf, SKIP_MOUNT);
	return phantom;
}

static bool is_too_deep(struct scan_walk *walk, struct scan_worker *worker, struct wt_dir *dir)
{
	bool deep = dir->depth >= WT_DEPTH_MAX;

	if (deep)
		scan_note_skip(walk, worker, dir, worker->path.buf, SKIP_DEEP);
	return deep;
}

struct scan_item *scan_add_dir(struct scan_walk *walk, struct scan_worker *worker,
			       struct scan_item *parent, const char *name, size_t name_len,
			       const struct stat *st, bool partial)
{
	struct wt_entry *entry;
	struct scan_item *item;

	if (is_avoided(walk->opts, st, worker->path.buf) || is_phantom(walk, worker, parent->dir) ||
	    is_too_deep(walk, worker, parent->dir))
		return NULL;
	entry = add_entry(worker, name, name_len, st);
	item = arena_alloc(&worker->arena, sizeof(*item));
	memset(item, 0, sizeof(*item));
	entry->kind = WT_DIR;
	entry->dir = new_dir(worker, parent->dir, worker->path.buf);
	entry->dir->outside = partial;
	entry->dir->st = entry->st;
	item->dir = entry->dir;
	item->rules = parent->rules;
	item->rules.before = (struct rules_before){ NULL, false };
	item->partial = partial;
	item->other_device = st->st_dev != walk->dev;
	item->doubt = parent->doubt;
	if (item->other_device && !parent->other_device) {
		pthread_mutex_lock(&walk->lock);
		strlist_add(&walk->scan->mounts, worker->path.buf);
		pthread_mutex_unlock(&walk->lock);
	}
	*ALLOC_NEXT(worker->children, worker->children_nr, worker->children_alloc) = item;
	return item;
}

/* A directory that a rule leaves out still counts if it is a nested repository. */
static bool has_own_repo(int dirfd, const char *name)
{
	struct strbuf path = STRBUF_INIT;
	bool found;

	strbuf_addf(&path, "%s/.git", name);
	found = !faccessat(dirfd, path.buf, F_OK, AT_SYMLINK_NOFOLLOW);
	strbuf_release(&path);
	return found;
}

/* The same for a directory that a rule leaves out, but not with everything in it. */
static void add_ignored_dir(struct scan_walk *walk, struct scan_worker *worker,
			    struct scan_item *parent, int dirfd, const char *name,
			    const struct stat *st, enum rules_verdict verdict)
{
	struct scan_item *item = scan_add_dir(walk, worker, parent, name, strlen(name), st, false);

	if (!item)
		return;
	item->rules.excluded = true;
	/* Without a named path the walk would not come here, and see no repository further in. */
	item->rules.by_name = parent->rules.by_name ||
			      (!rules_tracks_below(&parent->rules, item->dir->path) &&
			       !has_own_repo(dirfd, name));
	item->dir->ignored = !rules_is_named(walk->opts->rules, item->dir->path);
	if (verdict == RULES_TRACKED_DEFAULT && !item->rules.default_top)
		item->rules.default_top = item->dir->path;
}

/*
 * A program that runs with the rights of its owner, another user: after a
 * restore it would run with the rights of whoever restores it.
 */
static bool is_foreign_setid(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & (S_ISUID | S_ISGID)) && st->st_uid != geteuid();
}

int scan_count_files(struct scan_walk *walk, uint64_t nr)
{
	const struct scan_opts *opts = walk->opts;

	if (atomic_fetch_add(&walk->files, nr) + nr <= opts->max_files || !opts->max_files)
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "more than %llu files below '%s'; raise maxFiles, or use 'git "
			      "checkpoint save --force' once",
			      (unsigned long long)opts->max_files, opts->root);
}

int scan_add_file(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		  const char *name, size_t name_len, const struct stat *st)
{
	const struct scan_opts *opts = walk->opts;
	struct wt_entry *entry;

	if (is_phantom(walk, worker, item->dir))
		return 0;
	if ((!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)) || is_foreign_setid(st)) {
		scan_note_skip(walk, worker, item->dir, worker->path.buf, SKIP_SPECIAL);
		return 0;
	}
	if (S_ISREG(st->st_mode) && opts->max_file_size &&
	    (uint64_t)st->st_size > opts->max_file_size) {
		scan_note_skip(walk, worker, item->dir, worker->path.buf, SKIP_OVERSIZE);
		return 0;
	}
	entry = add_entry(worker, name, name_len, st);
	entry->kind = S_ISLNK(st->st_mode) ? WT_LINK : WT_FILE;
	if (entry->kind == WT_LINK)
		entry->mode = 0;
	else if (st->st_nlink > 1)
		entry->flags |= WT_LINKED;
	return scan_count_files(walk, 1);
}

/*
 * A name that cannot be read: if it is gone, it is captured as missing; otherwise it is out of
 * reach.
 */
static int lost_name(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item)
{
	if (fs_is_lack(errno))
		return ckpt_error_errno("unable to look at '%s'", worker->path.buf);
	if (errno == ENOENT)
		atomic_store(&walk->moved, true);
	else
		scan_note_skip(walk, worker, item->dir, worker->path.buf, SKIP_UNREADABLE);
	return 0;
}

/* By its topmost directory, which has a slash. */
static void note_default(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
			 bool is_dir)
{
	const char *top = item->rules.default_top;
	char *path = xstrfmt("%s%s", top ? top : worker->path.buf, top || is_dir ? "/" : "");

	scan_note(walk, worker, item->dir, WT_NOTE_DEFAULT, path);
	free(path);
}

static void note_left_out(struct scan_walk *walk, const char *path)
{
	pthread_mutex_lock(&walk->lock);
	strlist_add(&walk->scan->left_out, path);
	pthread_mutex_unlock(&walk->lock);
}

/* One name of a directory; worker->path is its path. */
static int visit_name(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		      int dirfd, const char *name, unsigned char type)
{
	enum scope_relation relation =
		item->partial ? scope_relation(walk->opts->scope, worker->path.buf) : SCOPE_NONE;
	enum rules_verdict verdict;
	struct stat st;
	bool is_dir, have_stat = false;
	size_t len;

	if (item->partial && relation == SCOPE_NONE)
		return 0;
	if (type == DT_UNKNOWN) {
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return lost_name(walk, worker, item);
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
	if (verdict == RULES_DEFAULT)
		note_default(walk, worker, item, is_dir);
	if (verdict == RULES_IGNORED || verdict == RULES_DEFAULT) {
		if (!is_dir || item->rules.by_name || !has_own_repo(dirfd, name)) {
			if (walk->opts->want_left_out)
				note_left_out(walk, worker->path.buf);
			if (is_dir && !item->rules.by_name)
				scan_note(walk, worker, item->dir, WT_NOTE_LEFT, worker->path.buf);
			return 0;
		}
		verdict = verdict == RULES_DEFAULT ? RULES_TRACKED_DEFAULT : RULES_TRACKED_ONLY;
	}
	if (!have_stat && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return lost_name(walk, worker, item);
	if (verdict == RULES_SENSITIVE) {
		scan_note_skip(walk, worker, item->dir, worker->path.buf, SKIP_SENSITIVE);
		return 0;
	}
	worker->odd += verdict != RULES_CAPTURE;
	if (verdict == RULES_CAPTURE_TRACKED)
		verdict = RULES_CAPTURE;
	if (verdict == RULES_CAPTURE_SENSITIVE)
		scan_note(walk, worker, item->dir, WT_NOTE_SECRET, worker->path.buf);
	len = strlen(name);
	name = arena_memdupz(&worker->arena, name, len);
	if (!S_ISDIR(st.st_mode))
		return scan_add_file(walk, worker, item, name, len, &st);
	if (verdict != RULES_CAPTURE)
		add_ignored_dir(walk, worker, item, dirfd, name, &st, verdict);
	else
		scan_add_dir(walk, worker, item, name, len, &st, relation == SCOPE_ABOVE);
	return 0;
}

/*
 * All names of a directory: .gitignore and .git must be known before the others
 * are judged. readdir(3) would cost three more system calls a directory, one
 * seventh of all in an unchanged tree.
 */
int scan_list(struct scan_worker *worker, int dirfd, bool *gitignore, bool *dotgit)
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

int scan_visit(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
	       int dirfd)
{
	const char *end = worker->names.buf + worker->names.len;
	size_t base = scan_enter_path(worker, item), names = 0;
	int err = 0;

	worker->nr = worker->children_nr = 0;
	worker->odd = 0;
	for (const char *name = worker->names.buf; name < end && !err; names++) {
		size_t len = strlen(name + 1);

		strbuf_setlen(&worker->path, base);
		strbuf_add(&worker->path, name + 1, len);
		/* The rules want the name as the end of the path. */
		err = visit_name(walk, worker, item, dirfd, worker->path.buf + base,
				 (unsigned char)name[0]);
		name += len + 2;
	}
	if (names == worker->nr && !worker->odd)
		item->dir->listing |= WT_PLAIN | WT_WHOLE;
	return err;
}
