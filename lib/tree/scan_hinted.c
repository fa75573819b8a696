/* SPDX-License-Identifier: MIT */
#include "tree/scan_walk_internal.h"

#include "base/base.h"
#include "tree/statcache.h"

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
 *     written elsewhere, and those that were being written when they were read
 *     (STATCACHE_LOOK); if a file turns out to have a new name, everything is looked
 *     at, as its other name may be anywhere;
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
