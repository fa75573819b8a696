/* SPDX-License-Identifier: MIT */
#include "tree/scan.h"

#include "base/base.h"
#include "git/repo.h"
#include "record/modes.h"
#include "record/statehash.h"
#include "unit.h"

#include "scanprobe.h"

#include <dirent.h>

/* Scans that do not look at what somebody says has not changed. */

/* ---- who says so: a comparison of everything that lstat(2) tells ---- */

/* A name, what it is, and what else lstat(2) says of it. */
struct seen_name {
	char *name, *what, *more;
	ino_t ino;
	nlink_t links;
	bool only_here; /* all names of it are in the tree: nobody tells of one what happens to another */
};

struct seen {
	char *path;
	ino_t ino;
	struct seen_name *names;
	size_t nr, alloc;
};

struct seen_list {
	struct seen *items;
	size_t nr, alloc;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct seen_name *)a)->name, ((const struct seen_name *)b)->name);
}

static void see_name(struct seen *seen, const char *name, const struct stat *st)
{
	ALLOC_GROW(seen->names, seen->nr + 1, seen->alloc);
	seen->names[seen->nr++] = (struct seen_name){
		.name = xstrdup(name),
		.what = xstrfmt("%lu %o", (unsigned long)st->st_ino, st->st_mode),
		.more = xstrfmt("%lu %ld %lld.%ld %lld.%ld", (unsigned long)st->st_nlink,
				(long)st->st_size, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
				(long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec),
		.ino = st->st_ino,
		.links = S_ISREG(st->st_mode) ? st->st_nlink : 1,
	};
}

static void see_dir(struct seen_list *out, const char *root, const char *path, ino_t ino)
{
	struct strlist below = STRLIST_INIT;
	struct strbuf full = STRBUF_INIT;
	struct dirent *ent;
	size_t me = out->nr;
	DIR *dir;

	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	out->items[out->nr++] = (struct seen){ .path = xstrdup(path), .ino = ino };
	strbuf_addf(&full, "%s/%s", root, path);
	dir = opendir(full.buf);
	while (dir && (ent = readdir(dir))) {
		struct stat st;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..") ||
		    !strcmp(ent->d_name, ".git"))
			continue;
		strbuf_reset(&full);
		strbuf_addf(&full, "%s/%s%s%s", root, path, *path ? "/" : "", ent->d_name);
		assert_int_equal(lstat(full.buf, &st), 0);
		see_name(&out->items[me], ent->d_name, &st);
		if (S_ISDIR(st.st_mode))
			strlist_addf(&below, "%lu %s%s%s", (unsigned long)st.st_ino, path,
				     *path ? "/" : "", ent->d_name);
	}
	if (dir)
		closedir(dir);
	if (out->items[me].nr)
		qsort(out->items[me].names, out->items[me].nr, sizeof(struct seen_name), by_name);
	for (size_t i = 0; i < below.nr; i++) {
		char *name;
		unsigned long number = strtoul(below.items[i], &name, 10);

		see_dir(out, root, name + 1, (ino_t)number);
	}
	strlist_release(&below);
	strbuf_release(&full);
}

static size_t names_of(const struct seen_list *list, ino_t ino)
{
	size_t n = 0;

	for (size_t i = 0; i < list->nr; i++)
		for (size_t j = 0; j < list->items[i].nr; j++)
			n += list->items[i].names[j].ino == ino;
	return n;
}

static void see(struct seen_list *out, const char *root)
{
	see_dir(out, root, "", 0);
	for (size_t i = 0; i < out->nr; i++)
		for (size_t j = 0; j < out->items[i].nr; j++) {
			struct seen_name *name = &out->items[i].names[j];

			name->only_here = name->links > 1 && names_of(out, name->ino) == name->links;
		}
}

/* What happens to a file under another name, and that it gets one, is not told of this one. */
static bool same_name(const struct seen_name *a, const struct seen_name *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->what, b->what) &&
	       (!strcmp(a->more, b->more) || b->only_here || (a->links > 1 && b->links > 1));
}

static bool same_names(const struct seen *a, const struct seen *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!same_name(&a->names[i], &b->names[i]))
			return false;
	return true;
}

static struct seen *find_seen(const struct seen_list *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].path, path))
			return &list->items[i];
	return NULL;
}

static void forget(struct seen_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].path);
		for (size_t j = 0; j < list->items[i].nr; j++) {
			free(list->items[i].names[j].name);
			free(list->items[i].names[j].what);
			free(list->items[i].names[j].more);
		}
		free(list->items[i].names);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

struct told {
	struct strlist dirs, trees;
	struct scan_hints hints;
};

/* What the project tracks, as text; the caller frees it. */
static char *tracked(const char *name)
{
	struct strbuf out = STRBUF_INIT;

	sh("git -C %s ls-files >tracked", name);
	get_bytes(&out, in_scratch("tracked"));
	return strbuf_detach(&out, NULL);
}

static void tell(struct told *out, const struct seen_list *before, const struct seen_list *after)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < after->nr; i++) {
		const struct seen *now = &after->items[i], *then = find_seen(before, now->path);

		if (!then || then->ino != now->ino)
			strlist_add(&out->trees, now->path);
		else if (!same_names(then, now))
			strlist_add(&out->dirs, now->path);
		/* More than necessary is harmless. */
		else if (!rnd(40))
			strlist_add(rnd(4) ? &out->dirs : &out->trees, now->path);
	}
	if (!rnd(4))
		strlist_add(&out->dirs, "not/there");
	strlist_sort_unique(&out->dirs);
	strlist_sort_unique(&out->trees);
	out->hints = (struct scan_hints){ .dirs = &out->dirs, .trees = &out->trees };
}

static void untell(struct told *told)
{
	strlist_release(&told->dirs);
	strlist_release(&told->trees);
}

/* ---- all that a save takes from a scan ---- */

static struct scan *look(struct strbuf *out, const char *name, const struct statcache *cache,
			 const struct scan_hints *hints, bool index_same,
			 struct ingest_result *read)
{
	struct ingest_opts ingest = { .threads = 2 };
	char hash[STATEHASH_SIZE];
	struct scan *scan = NULL;
	struct wt_counts counts;

	assert_int_equal(scan_in(&scan, name,
				 (struct scan_opts){ .threads = 1 + rnd(3),
						     .cache = cache,
						     .index_same = index_same,
						     .hints = hints },
				 false),
			 0);
	ingest.scan = scan;
	assert_int_equal(ingest_run(read, &ingest), 0);
	assert_int_equal(ingest_trees(scan->root, NULL, 2), 0);
	strbuf_reset(out);
	/* Before anybody loads what was not looked at. */
	wt_count(&counts, scan->root);
	strbuf_addf(out, "%llu %llu %llu\n", (unsigned long long)counts.files,
		    (unsigned long long)counts.dirs, (unsigned long long)counts.bytes);
	strbuf_addf(out, "%s\n", statehash(hash, scan->root));
	modes_encode(out, scan->root);
	describe_lists(out, scan);
	for (size_t i = 0; i < scan->repos.nr; i++)
		strbuf_addf(out, "repo %s\n", scan->repos.items[i]);
	for (char *nul; (nul = memchr(out->buf, '\0', out->len));)
		*nul = '\n';
	return scan;
}

static void keep(struct scan *scan, struct statcache *cache)
{
	struct statcache_head head = { .origin = scan->origin };

	if (!cache) {
		assert_int_equal(cache_write("cache", &head, scan->root), 0);
		return;
	}
	statcache_update(cache, &head, scan->root);
	assert_int_equal(statcache_save(cache, AT_FDCWD, "cache", !rnd(20)), 0);
}

static size_t count_unseen(const struct wt_dir *dir)
{
	size_t n = dir->source != NULL;

	for (size_t i = 0; !n && i < dir->nr; i++)
		if (dir->loaded[i].kind == WT_DIR)
			n += count_unseen(dir->loaded[i].dir);
	return n;
}

/* ---- the property ---- */

/* Something for each reason to look at a directory in which nothing changed. */
static const char setup[] = "git init -q . && mkdir -p ig/sub/deep in/a/b in/c ne/x/y build &&"
			    "echo ig/ >.gitignore && touch ig/sub/t ig/sub/u ig/sub/deep/v build/w &&"
			    "echo 1 >in/a/b/one && echo 2 >in/a/b/two && echo 3 >in/c/three &&"
			    "git add -f ig/sub/t && git init -q ne && echo 'i*' >ne/x/.gitignore &&"
			    "touch ne/x/y/in ne/x/y/out && echo s >in/a/.env";

/* $any: a directory; $some: a file, neither in a .git. */
static const char *const moves[] = {
	/* directories that move, or change places */
	"mv \"$any\" moved$n",
	"mv \"$any\" in/x$n; mkdir -p \"$any\"; echo new >\"$any/new\"",
	"mv \"$any\" x$n && mv in/a \"$any\" && mv x$n in/a",
	/* files with other names */
	"ln -f \"$some\" ../outside$((n % 5))",
	"ln -f \"$some\" link-${n%${n#?}}",
	"ln -f \"$some\" link; echo more >>link",
	"for f in link*; do echo more >>$f; done",
	"for f in ../outside*; do echo more >>$f; done",
	"echo elsewhere >../outside$((n % 5))",
	/* rules */
	"echo 'o*' >\"$any/.gitignore\"",
	"echo 't*' >>.gitignore",
	"echo 'a/' >>in/.gitignore",
	"echo '*[13].*' >>.git/info/exclude",
	"find . -name .gitignore -delete; echo ig/ >.gitignore",
	/* what is tracked */
	"git ls-files -o -i --exclude-standard | shuf -n 2 --random-source=../random | xargs git add -f",
	"git ls-files -c | shuf -n 2 --random-source=../random | xargs git rm -q --cached",
	"git -C ne add -f x/y/in",
	"git -C ne rm -q --cached x/y/in",
	/* what is left out and noted */
	"mkdir -p \"$any/build\"; echo x >\"$any/build/y\"",
	"echo s >\"$any/.env\"",
	"mkdir -p \"$any/n$n\"; git init -q \"$any/n$n\"; echo z >\"$any/n$n/z\"",
	"mkfifo \"$any/fifo\"",
	"rm -rf in/a/.env build",
	/* in places of which not everything is captured */
	"echo new >ig/sub/deep/v; echo $n >ig/sub/new$n; echo t >>ig/sub/t",
	"echo new >ne/x/y/j$n; echo new >ne/x/y/i$n",
	"git add -f ig/sub/deep/v",
	"rm -rf ig/sub/t",
	"chmod 7$((n % 8))5 \"$any\"",
	"chmod 6$((n % 8))4 \"$some\"",
	"true",
};

static void disturb(const char *name, unsigned seed)
{
	sh("seq %u %u >random", seed, seed + 20000);
	for (unsigned i = rnd(4); i; i--)
		sh("cd %s; n=%u; { test -d ne && test -d in/a && test -d ig; } || { %s; } >/dev/null 2>&1; "
		   "any=$(find . -name .git -prune -o -type d -print | sed 1d | "
		   "shuf -n 1 --random-source=../random); "
		   "some=$(find . -name .git -prune -o -type f -print | shuf -n 1 --random-source=../random); "
		   "{ %s; } >/dev/null 2>&1 || :",
		   name, rnd(10000), setup, moves[rnd(ARRAY_SIZE(moves))]);
	if (!rnd(3))
		sh("'%s' --damage --seed %u --edits %u %s", helper("mktree"), seed, 1 + rnd(6), name);
}

static void test_scan_with_hints_equals_a_full_scan(void **state)
{
	size_t unseen = 0, read_less = 0;

	(void)state;
	for (int run = 0; run < rounds(5); run++) {
		struct seen_list before = { 0 }, after = { 0 };
		struct ingest_result read = { 0 };
		struct strbuf with = STRBUF_INIT, without = STRBUF_INIT;
		char name[32], *index_before, *index_after;
		struct scan *scan;

		snprintf(name, sizeof(name), "tree%d", run);
		sh("'%s' --seed %u --files %u --dirs 20 %s; cd %s; %s", helper("mktree"),
		   (unsigned)rnd64() >> 1, rnd(60), name, name, setup);
		assert_int_equal(repo_open_at(&in_repo, in_scratch("%s", name)), 0);
		see(&before, in_scratch("%s", name));
		index_before = tracked(name);
		scan = look(&with, name, NULL, NULL, false, &read);
		keep(scan, NULL);
		scan_free(scan);
		for (int round = 0; round < 40; round++) {
			struct statcache *cache;
			struct ingest_result all = { 0 };
			struct told told;
			bool index_same;

			disturb(name, (unsigned)rnd64() >> 8);
			see(&after, in_scratch("%s", name));
			tell(&told, &before, &after);
			index_after = tracked(name);
			index_same = !strcmp(index_before, index_after);
			free(index_before);
			index_before = index_after;
			cache = statcache_open(AT_FDCWD, "cache");
			assert_non_null(cache);
			if (rnd(2))
				statcache_populate(cache);
			/* Without hints everything is looked at, and only the index may be passed over. */
			scan = look(&with, name, cache, rnd(3) ? &told.hints : NULL, index_same, &read);
			unseen += count_unseen(scan->root);
			scan_free(look(&without, name, NULL, NULL, false, &all));
			assert_string_equal(with.buf, without.buf);
			read_less += all.files > read.files;
			keep(scan, cache);
			/* What was not looked at loads as what it is. */
			strbuf_reset(&with);
			strbuf_reset(&without);
			describe(&with, scan->root, true);
			scan_free(scan);
			statcache_close(cache);
			scan = look(&without, name, NULL, NULL, false, &all);
			strbuf_reset(&without);
			describe(&without, scan->root, true);
			scan_free(scan);
			assert_string_equal(with.buf, without.buf);
			forget(&before);
			before = after;
			memset(&after, 0, sizeof(after));
			untell(&told);
		}
		free(index_before);
		forget(&before);
		repo_free(in_repo);
		in_repo = NULL;
		strbuf_release(&with);
		strbuf_release(&without);
	}
	assert_true(unseen > 10);
	assert_true(read_less > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_with_hints_equals_a_full_scan),
	};

	return cmocka_run_group_tests_name("scan_hinted", tests, scanprobe_setup, scanprobe_teardown);
}
