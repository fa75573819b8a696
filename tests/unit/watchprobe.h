/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_WATCHPROBE_H
#define CKPT_TESTS_WATCHPROBE_H

/*
 * The directory W of the scratch directory as a plain walk sees it, and the stat cache in the
 * store S that tells a watcher about it. To be included once.
 */

#include "unit.h"

#include "tree/tree.h"
#include "watch/watch_cover_internal.h"
#include "watchgen.h"

#include <dirent.h>

#define CACHE "S/checkpoint/statcache"

/* ---- a walk, as plain as can be ---- */

/* A directory as it was seen: a line about itself, and one for each name in it. */
struct seen {
	char *path; /* below W */
	struct strbuf lines;
	struct wt_dir wt;
};

struct walk {
	struct seen **items;
	size_t nr, alloc;
};

static void walk_release(struct walk *walk)
{
	for (size_t i = 0; i < walk->nr; i++) {
		struct seen *seen = walk->items[i];

		for (size_t k = 0; k < seen->wt.nr; k++)
			free((char *)seen->wt.loaded[k].name);
		free(seen->wt.loaded);
		strbuf_release(&seen->lines);
		free(seen->path);
		free(seen);
	}
	free(walk->items);
	memset(walk, 0, sizeof(*walk));
}

UNUSED static const struct seen *walk_find(const struct walk *walk, const char *path)
{
	for (size_t i = 0; i < walk->nr; i++)
		if (!strcmp(walk->items[i]->path, path))
			return walk->items[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_names(struct strlist *out, const char *full)
{
	DIR *dir = opendir(full);
	struct dirent *ent;

	while (dir && (ent = readdir(dir)))
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") &&
		    strcmp(ent->d_name, ".git"))
			strlist_add(out, ent->d_name);
	if (dir)
		closedir(dir);
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_name);
}

/* Of a file with other names only that it is there: a walk must look at it in any case. */
static void add_line(struct strbuf *out, const char *name, const struct stat *st)
{
	strbuf_addf(out, "%s %o", name, (unsigned)(st->st_mode & S_IFMT));
	if (strcmp(name, GEN_LINKED) != 0)
		strbuf_addf(out, " %o %ju", (unsigned)st->st_mode, (uintmax_t)st->st_ino);
	if (strcmp(name, GEN_LINKED) != 0 && (!S_ISDIR(st->st_mode) || !strcmp(name, ".")))
		strbuf_addf(out, " %jd.%09ld %jd.%09ld %jd", (intmax_t)st->st_mtim.tv_sec,
			    st->st_mtim.tv_nsec, (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
			    (intmax_t)st->st_size);
	strbuf_addch(out, '\n');
}

static struct seen *walk_dir(struct walk *walk, const char *path);

static void walk_name(struct walk *walk, struct seen *seen, const char *name, size_t *alloc)
{
	char *path = *seen->path ? xstrfmt("%s/%s", seen->path, name) : xstrdup(name);
	char *full = xstrfmt("W/%s", path);
	struct wt_entry *entry;
	struct stat st;

	if (!lstat(full, &st)) {
		add_line(&seen->lines, name, &st);
		ALLOC_GROW(seen->wt.loaded, seen->wt.nr + 1, *alloc);
		entry = &seen->wt.loaded[seen->wt.nr++];
		memset(entry, 0, sizeof(*entry));
		entry->name = xstrdup(name);
		entry->name_len = (uint32_t)strlen(name);
		entry->mode = st.st_mode & 07777;
		entry->kind = S_ISDIR(st.st_mode) ? WT_DIR : S_ISLNK(st.st_mode) ? WT_LINK : WT_FILE;
		wt_stat_from(&entry->st, &st);
		if (entry->kind == WT_DIR) {
			/* The array may move. */
			size_t at = seen->wt.nr - 1;
			struct seen *below = walk_dir(walk, path);

			seen->wt.loaded[at].dir = &below->wt;
		}
	}
	free(full);
	free(path);
}

static struct seen *walk_dir(struct walk *walk, const char *path)
{
	struct seen *seen = xcalloc(1, sizeof(*seen));
	char *full = xstrfmt("W/%s", path);
	struct strlist names = STRLIST_INIT;
	size_t alloc = 0;
	struct stat st;

	seen->path = xstrdup(path);
	strbuf_init(&seen->lines);
	ALLOC_GROW(walk->items, walk->nr + 1, walk->alloc);
	walk->items[walk->nr++] = seen;
	if (!lstat(full, &st)) {
		add_line(&seen->lines, ".", &st);
		wt_stat_from(&seen->wt.st, &st);
	}
	list_names(&names, full);
	for (size_t i = 0; i < names.nr; i++)
		walk_name(walk, seen, names.items[i], &alloc);
	if (seen->wt.nr)
		qsort(seen->wt.loaded, seen->wt.nr, sizeof(*seen->wt.loaded), wt_entry_compare);
	seen->wt.path = seen->path;
	seen->wt.known = seen->wt.hashed = true;
	strlist_release(&names);
	free(full);
	return seen;
}

static void walk_all(struct walk *out)
{
	memset(out, 0, sizeof(*out));
	walk_dir(out, "");
}

/* ---- the cache ---- */

static const struct statcache_dir *find_block(const struct statcache *cache, const char *path)
{
	const struct statcache_dir *dir = statcache_root(cache);

	while (dir && *path) {
		size_t len = strcspn(path, "/");
		const struct statcache_dir *next = NULL;

		for (uint32_t i = 0; i < dir->nr; i++) {
			const struct statcache_entry *entry = &statcache_entries(dir)[i];

			if (entry->kind == WT_DIR && entry->name_len == len &&
			    !memcmp(statcache_name(dir, entry), path, len))
				next = statcache_child(cache, entry);
		}
		dir = next;
		path += len + (path[len] == '/');
	}
	return dir;
}

/* From scratch, or what changed is appended, as a save does it. */
static void write_cache(struct walk *walk, struct watch_mark mark)
{
	struct statcache *cache = rnd(4) ? statcache_open(AT_FDCWD, CACHE) : NULL;
	struct statcache_head head = { .mark = mark };

	for (size_t i = 0; i < walk->nr; i++)
		walk->items[i]->wt.cached =
			cache ? find_block(cache, walk->items[i]->path) : NULL;
	if (!cache)
		cache = statcache_new();
	statcache_update(cache, &head, &walk->items[0]->wt);
	assert_int_equal(statcache_save(cache, AT_FDCWD, CACHE, false), 0);
	statcache_close(cache);
}

/* ---- asking ---- */

static struct watch_cover cover;
static struct watched_view view;
static int storefd;

UNUSED static void make_places(void)
{
	sh("rm -rf W O S; mkdir -p W O S/objects S/checkpoint");
	storefd = open("S", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	watched_view_now(&view);
}

static void open_cover(void)
{
	assert_int_equal(watch_cover_open(&cover, in_scratch("W"), storefd), WATCH_NONE);
	assert_int_equal(watch_cover_load(&cover), WATCH_NONE);
}

/* What changed since the walk of the cache. */
static void ask_watcher(struct watched *out)
{
	struct statcache *cache = statcache_open(AT_FDCWD, CACHE);
	struct watched_question question = { .view = view };
	enum watch_trouble trouble;

	if (cache) {
		question.since = statcache_head(cache)->mark;
		question.cache = statcache_id(cache);
	}
	watch_cover_answer(out, &trouble, &cover, &question, &view);
	assert_int_equal(trouble, WATCH_NONE);
	statcache_close(cache);
}

static bool is_named(const struct watched *answer, const char *path)
{
	return answer->all || pathset_has(&answer->dirs, path) ||
	       pathset_covers(&answer->trees, path);
}

/* What the kernel says about our watches. */
UNUSED static size_t count_watches(void)
{
	char *path = xstrfmt("/proc/self/fdinfo/%d", cover.inotify);
	struct strbuf text = STRBUF_INIT;
	size_t nr = 0;

	get_bytes(&text, path);
	for (const char *at = text.buf; (at = strstr(at, "inotify wd:")); at++)
		nr++;
	strbuf_release(&text);
	free(path);
	return nr;
}

#endif
