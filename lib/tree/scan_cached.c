/* SPDX-License-Identifier: MIT */
#include "tree/scan_walk_internal.h"

/* --- not listing --- */

/*
 * Every name that is created, removed or renamed in a directory changes its
 * times. So if these are the cached ones, if they are not so recent that
 * another change could hide in the same tick, and if every name was captured
 * under the rules that apply now, the names are known without listing. Files
 * are still checked one by one. In a tree where nothing changed this saves a
 * quarter of the work.
 *
 * Not after another boot: the times of a directory and its names may not have
 * reached the disk together.
 *
 * It is only done on file systems that are known to keep those times, see
 * scan_run().
 */
bool scan_names_known(const struct scan_walk *walk, const struct scan_item *item)
{
	const struct statcache_dir *cached = item->dir->cached;

	return cached && walk->cache == ORIGIN_SAME && walk->dir_times && !item->partial && !item->other_device &&
	       !item->rules.excluded && cached->listing & WT_PLAIN &&
	       wt_stat_equal(&cached->st, &item->dir->st);
}

enum { NOTES_MAX = 8192 }; /* bytes, some hundred directories */

/* Files that are missing in the checkpoint for another reason than a rule may be tracked. */
static bool has_skips(const struct statcache_dir *dir)
{
	struct statcache_note note;
	size_t at = 0;

	while (statcache_next_note(&note, &at, dir))
		if (note.kind == WT_NOTE_SKIP && note.why != SKIP_SENSITIVE)
			return true;
	return false;
}

void scan_recall(const struct scan_walk *walk, struct scan_item *item)
{
	const struct statcache_dir *cached = item->dir->cached;

	/*
	 * Of repositories within the worktree it is not known whether they have the same index. And
	 * each directory that is left out is searched for in the notes: with very many of them, reading
	 * the index is faster.
	 */
	if (!cached || !walk->opts->index_same || item->partial ||
	    rules_is_nested(&item->rules) || cached->notes_len > NOTES_MAX)
		return;
	item->rules.before = (struct rules_before){
		.dir = cached,
		.names = walk->cache == ORIGIN_SAME && walk->dir_times && !item->other_device &&
			 cached->listing & WT_TIMED && item->rules.fingerprint == cached->rules &&
			 wt_stat_equal(&cached->st, &item->dir->st) && !has_skips(cached),
	};
}

int scan_visit_known(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		     int dirfd)
{
	const struct statcache_dir *cached = item->dir->cached;
	const struct statcache_entry *entries = statcache_entries(cached);
	size_t base = scan_enter_path(worker, item);

	worker->nr = worker->children_nr = 0;
	for (uint32_t i = 0; i < cached->nr; i++) {
		const char *name = statcache_name(cached, &entries[i]);
		struct stat st;
		int err = 0;

		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    S_ISDIR(st.st_mode) != (entries[i].kind == WT_DIR))
			return 0;
		strbuf_setlen(&worker->path, base);
		strbuf_add(&worker->path, name, entries[i].name_len);
		/* What is no longer entered is a name too many for the list in the cache. */
		if (S_ISDIR(st.st_mode) &&
		    !scan_add_dir(walk, worker, item, name, entries[i].name_len, &st, false))
			return 0;
		if (!S_ISDIR(st.st_mode))
			err = scan_add_file(walk, worker, item, name, entries[i].name_len, &st);
		if (err)
			return err;
	}
	return 1;
}

/* What its times prove depends on where it was read, see statcache.h. */
static void take_cached(struct wt_entry *entry, const struct statcache_entry *cached,
			enum origin_relation relation)
{
	bool same = entry->mode == cached->mode && wt_stat_equal(&entry->st, &cached->st);

	if (same && relation == ORIGIN_EARLIER)
		entry->flags |= WT_EARLIER;
	if (!same || cached->flags & WT_RACY ||
	    (relation != ORIGIN_SAME && !(cached->flags & WT_SETTLED))) {
		if (entry->st.size == cached->st.size)
			entry->flags |= WT_TOUCHED;
		return;
	}
	entry->oid = cached->oid;
	memcpy(entry->sha256, cached->sha256, SHA256_SIZE);
	entry->flags |= WT_KNOWN | (cached->flags & WT_SETTLED);
}

/*
 * A file got another name. Nobody tells that of the name it had before, perhaps in a directory that
 * is not looked at.
 */
static void note_new_link(struct scan_walk *walk, const struct wt_entry *entry,
			  const struct statcache_entry *before)
{
	if (walk->hints && entry->flags & WT_LINKED &&
	    !(before && before->flags & WT_LINKED && before->st.ino == entry->st.ino))
		atomic_store(&walk->new_link, true);
}

/*
 * A descriptor that reaches a file by a name that is gone again tells no watcher of what is written
 * through it. Each name that comes or goes changes the times of its directory.
 */
static bool is_renamed(const struct scan_walk *walk, const struct wt_dir *dir)
{
	return walk->hints && (!dir->cached || dir->cached->listing & WT_RENAMED ||
			       !wt_stat_equal(&dir->st, &dir->cached->st));
}

void scan_match(struct scan_walk *walk, const struct scan_item *item)
{
	/* If another file system is mounted there, nothing is known about its memory. */
	enum origin_relation relation = walk->cache == ORIGIN_EARLIER && item->other_device ?
						ORIGIN_UNSURE :
						walk->cache;
	struct wt_dir *dir = item->dir;
	const struct statcache_dir *cached = dir->cached;
	const struct statcache_entry *other;
	size_t matched = 0, same = 0, j = 0;

	dir->listing = (uint8_t)((dir->listing & ~WT_RENAMED) | (is_renamed(walk, dir) ? WT_RENAMED : 0));
	if (!cached) {
		for (size_t i = 0; i < dir->nr; i++)
			note_new_link(walk, &dir->loaded[i], NULL);
		return;
	}
	other = statcache_entries(cached);
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];
		int cmp = 1;

		while (j < cached->nr &&
		       (cmp = wt_name_compare(statcache_name(cached, &other[j]), other[j].name_len,
					      other[j].kind == WT_DIR, entry->name,
					      entry->name_len, entry->kind == WT_DIR)) < 0)
			j++;
		if (j == cached->nr || cmp || other[j].kind != entry->kind) {
			note_new_link(walk, entry, NULL);
			continue;
		}
		if (entry->kind == WT_DIR) {
			entry->dir->cached = statcache_glance(walk->opts->cache, &other[j]);
			if (entry->mode != other[j].mode)
				atomic_store(&walk->dir_modes_changed, true);
			matched++;
			same += entry->mode == other[j].mode &&
				wt_stat_equal(&entry->st, &other[j].st);
		} else {
			take_cached(entry, &other[j], relation);
			note_new_link(walk, entry, &other[j]);
			matched += (entry->flags & WT_KNOWN) != 0;
			same += (entry->flags & (WT_LINKED | WT_SETTLED)) == other[j].flags;
		}
	}
	/* So far only this directory; scan_run() checks those below. */
	dir->known = matched == dir->nr && dir->nr == cached->nr;
	dir->same = dir->known && same == dir->nr && dir->listing == cached->listing &&
		    dir->rules == cached->rules && wt_stat_equal(&dir->st, &cached->st);
}

/* --- not looking --- */

/*
 * Not looking. The caller knows in which directories something changed since the
 * cache was written. The others are taken from the cache, and a directory below
 * which nothing changed is not even loaded. This is right because
 *
 *  1. the hints name every directory in which a name or a file, or the mode of
 *     either, changed after the walk began that filled the cache;
 *  2. the rules in a directory are those with which the cache was written: this is
 *     checked from the root down to each directory that is looked at, and the rules
 *     of the others can only change with a file in a directory that the hints name;
 *  3. a directory that depends on an index, of the project or of a nested repository,
 *     is looked at unless that index is the same (STATCACHE_INDEX, STATCACHE_LOOK);
 *  4. files that may change unseen are looked at: those with other names, which may be
 *     written elsewhere, those that were being written when they were read, and all in
 *     a directory in which names came or went since everything was looked at, as they
 *     may have had other names (STATCACHE_LOOK); if a file turns out to have a new
 *     name, everything is looked at, as its other name may be anywhere;
 *  5. nothing is mounted in the worktree, and the cache is of this boot and mount.
 *
 * Two changes escape: a file got another name after the cache was written, outside of
 * the worktree, where the rules leave it out, or for a moment, and was changed under
 * that name; or it was mapped after that, changed in memory, and still is mapped. That
 * is why the caller looks at everything now and then.
 *
 * The caller makes sure that everything else is the same: limits, the user, and what
 * is left out because it belongs to another worktree.
 */

static bool is_changed(const struct scan_hints *hints, const char *path)
{
	return pathset_has(hints->dirs, path) || pathset_covers(hints->trees, path);
}

static bool changes_below(const struct scan_hints *hints, const char *path)
{
	return pathset_reaches(hints->dirs, path) || pathset_reaches(hints->trees, path);
}

/*
 * Where names are left out, only judging them again tells what holds further below, and what has to
 * be noted. Where none is, there is nothing to note.
 */
bool scan_may_pass(const struct scan_item *item)
{
	return item->dir->cached->listing & WT_WHOLE && !item->rules.excluded;
}

enum scan_need scan_need(const struct scan_walk *walk, const struct scan_item *item)
{
	const struct scan_hints *hints = walk->hints;
	const struct statcache_dir *cached = item->dir->cached;
	uint8_t flags;

	if (!hints || !cached || item->doubt || item->partial || item->other_device ||
	    is_changed(hints, item->dir->path))
		return SCAN_LOOK;
	flags = STATCACHE_LOOK | (walk->opts->index_same ? 0 : STATCACHE_INDEX);
	if (cached->own & flags)
		return SCAN_LOOK;
	if (!(cached->below & flags) && !changes_below(hints, item->dir->path))
		return SCAN_NOTHING;
	return scan_may_pass(item) ? SCAN_PASS : SCAN_LOOK;
}

static void take_head(struct wt_dir *dir)
{
	const struct statcache_dir *cached = dir->cached;

	dir->nr = cached->nr;
	dir->st = cached->st;
	dir->rules = cached->rules;
	dir->listing = (uint8_t)cached->listing;
	dir->tree = cached->tree;
	memcpy(dir->sha256, cached->sha256, SHA256_SIZE);
	dir->known = dir->hashed = dir->same = true;
}

int scan_take_unseen(struct scan_walk *walk, struct wt_dir *dir)
{
	take_head(dir);
	dir->source = &walk->scan->source.source;
	return scan_count_files(walk, dir->cached->counts.files);
}

/* A directory below one that is passed: only looked at if it has to be. */
static int add_dir(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *parent,
		   int dirfd, const char *name, const struct statcache_entry *cached)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return scan_add_dir(walk, worker, parent, name, cached->name_len, &st, false) ? 1 : 0;
}

int scan_visit_unseen(struct scan_walk *walk, struct scan_worker *worker, struct scan_item *item,
		      int dirfd)
{
	const struct statcache_dir *cached = item->dir->cached;
	const struct statcache_entry *entries = statcache_entries(cached);
	size_t base = scan_enter_path(worker, item);
	uint64_t files = 0;
	int err;

	if (!wt_stat_equal(&item->dir->st, &cached->st))
		return 0;
	worker->nr = worker->children_nr = 0;
	for (uint32_t i = 0; i < cached->nr; i++) {
		strbuf_setlen(&worker->path, base);
		strbuf_add(&worker->path, statcache_name(cached, &entries[i]), entries[i].name_len);
		if (entries[i].kind != WT_DIR) {
			scan_add_cached(worker, cached, &entries[i]);
			files++;
		} else if (!add_dir(walk, worker, item, dirfd, statcache_name(cached, &entries[i]),
				    &entries[i])) {
			return 0;
		}
	}
	err = scan_count_files(walk, files);
	return err ? err : 1;
}

/* As scan_visit_unseen() does it, but with nothing on the disk to compare with. */
static void load_dir(struct wt_dir *out, struct scan_source *source, struct wt_dir *parent,
		     const struct wt_entry *entry, const struct statcache_dir *cached)
{
	char *path = xstrfmt("%s%s%s", parent->path, *parent->path ? "/" : "", entry->name);

	memset(out, 0, sizeof(*out));
	out->path = arena_memdupz(&source->arena, path, strlen(path));
	out->parent = parent;
	out->depth = (uint16_t)(parent->depth + 1);
	out->cached = cached;
	free(path);
	if (cached) {
		take_head(out);
		out->source = &source->source;
	} else {
		source->unsure = true;
	}
}

void scan_load(struct wt_dir *dir)
{
	/* The scan's own; a directory only sees the outside of it. */
	struct scan_source *source = (struct scan_source *)dir->source;
	const struct statcache_dir *cached = dir->cached;
	const struct statcache_entry *entries = statcache_entries(cached);
	bool sound = statcache_sound(source->cache, cached);

	dir->source = NULL;
	source->unsure = source->unsure || !sound;
	dir->loaded = arena_alloc(&source->arena, (dir->nr ? dir->nr : 1) * sizeof(*dir->loaded));
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &dir->loaded[i];

		/* The caller already knows how many there are. */
		if (!sound) {
			*entry = (struct wt_entry){ .name = "", .kind = WT_FILE };
			continue;
		}
		*entry = (struct wt_entry){ .name = statcache_name(cached, &entries[i]),
					    .name_len = entries[i].name_len,
					    .mode = entries[i].mode,
					    .kind = entries[i].kind,
					    .flags = entries[i].flags,
					    .st = entries[i].st,
					    .oid = entries[i].oid };
		memcpy(entry->sha256, entries[i].sha256, SHA256_SIZE);
		if (entry->kind != WT_DIR) {
			entry->flags |= WT_KNOWN;
			continue;
		}
		entry->dir = arena_alloc(&source->arena, sizeof(*entry->dir));
		load_dir(entry->dir, source, dir, entry,
			 statcache_glance(source->cache, &entries[i]));
	}
}
