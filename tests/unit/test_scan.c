/* SPDX-License-Identifier: MIT */
#include "tree/scan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "unit.h"

#include "scanprobe.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- against a walk that is too simple to be wrong ---- */

static void walk(struct strlist *out, const char *root, const char *below)
{
	struct strbuf path = STRBUF_INIT;
	struct dirent *ent;
	DIR *dir;

	strbuf_addf(&path, "%s/%s", root, below);
	dir = opendir(path.buf);
	assert_non_null(dir);
	while ((ent = readdir(dir))) {
		struct strbuf rel = STRBUF_INIT;
		struct stat st;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, "..") ||
		    !strcmp(ent->d_name, ".git"))
			continue;
		strbuf_addf(&rel, "%s%s%s", below, *below ? "/" : "", ent->d_name);
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/%s", root, rel.buf);
		assert_int_equal(lstat(path.buf, &st), 0);
		if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			strlist_addf(out, "%s %o %lld", rel.buf,
				     (unsigned)(S_ISLNK(st.st_mode) ? S_IFLNK : st.st_mode),
				     S_ISDIR(st.st_mode) ? 0 : (long long)st.st_size);
		if (S_ISDIR(st.st_mode))
			walk(out, root, rel.buf);
		strbuf_release(&rel);
	}
	closedir(dir);
	strbuf_release(&path);
}

static void list_scan(struct strlist *out, const struct wt_dir *dir)
{
	static const unsigned types[] = {
		[WT_FILE] = S_IFREG, [WT_LINK] = S_IFLNK, [WT_DIR] = S_IFDIR
	};

	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		strlist_addf(out, "%s%s%s %o %lld", dir->path, *dir->path ? "/" : "", entry->name,
			     types[entry->kind] | entry->mode,
			     entry->kind == WT_DIR ? 0 : (long long)entry->st.size);
		if (i)
			assert_true(wt_entry_compare(&wt_entries(dir)[i - 1], entry) < 0);
		if (entry->kind == WT_DIR)
			list_scan(out, entry->dir);
	}
}

static void test_scan_finds_what_is_there(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 4; seed++) {
		struct strlist expect = STRLIST_INIT, got = STRLIST_INIT;
		struct scan *scan = NULL;

		sh("'%s' %s --seed %d --files %d --dirs 40 there%d; mkfifo there%d/fifo",
		   helper("mktree"), seed % 2 ? "--odd" : "", seed, 60 * seed, seed, seed);
		walk(&expect, in_scratch("there%d", seed), "");
		strlist_sort_unique(&expect);
		{
			char name[32];

			snprintf(name, sizeof(name), "there%d", seed);
			assert_int_equal(scan_in(&scan, name, (struct scan_opts){ .threads = 3 },
						 true),
					 0);
		}
		list_scan(&got, scan->root);
		assert_int_equal(got.nr, expect.nr);
		strlist_sort_unique(&got);
		for (size_t i = 0; i < got.nr; i++)
			assert_string_equal(got.items[i], expect.items[i]);
		assert_true(got.nr > 50);
		/* The FIFO is on the list of what was passed over. */
		assert_true(scan->skips.nr >= 1);
		for (size_t i = 0; i < scan->skips.nr; i++)
			assert_int_equal(scan->skips.items[i].why, SKIP_SPECIAL);
		scan_free(scan);
		strlist_release(&expect);
		strlist_release(&got);
	}
}

static void test_scan_does_not_depend_on_threads(void **state)
{
	(void)state;
	sh("'%s' --odd --seed 77 --files 600 --dirs 120 many; cd many; "
	   "mkdir -p x/node_modules/y x/dist x/z; touch x/node_modules/y/f x/dist/f x/z/.env "
	   "x/z/k.pem; "
	   "mkfifo x/fifo; printf 'b*\\n!bc\\n' >.gitignore; printf '*c*\\n' >x/.gitignore",
	   helper("mktree"));
	for (int all = 0; all < 2; all++) {
		struct strbuf first = STRBUF_INIT;

		for (unsigned threads = 0; threads <= 8; threads++) {
			struct strbuf text = STRBUF_INIT;
			struct scan *scan = NULL;

			assert_int_equal(scan_in(&scan, "many",
						 (struct scan_opts){ .threads = threads }, all),
					 0);
			describe(&text, scan->root, false);
			describe_lists(&text, scan);
			if (!threads)
				strbuf_add(&first, text.buf, text.len);
			assert_string_equal(text.buf, first.buf);
			scan_free(scan);
			strbuf_release(&text);
		}
		assert_true(first.len > 10000);
		strbuf_release(&first);
	}
}

/* ---- scope ---- */

static bool in_scope(const struct strlist *scope, const char *path, bool *way)
{
	for (size_t i = 0; i < scope->nr; i++) {
		size_t len = strlen(scope->items[i]), own = strlen(path);

		if (!strncmp(path, scope->items[i], len) && (!path[len] || path[len] == '/'))
			return true;
		if (!strncmp(path, scope->items[i], own) && scope->items[i][own] == '/')
			*way = true;
	}
	return false;
}

static void collect_paths(struct strlist *out, const struct wt_dir *dir,
			  const struct strlist *scope)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		struct strbuf path = STRBUF_INIT;
		bool way = false, in;

		strbuf_addf(&path, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		in = !scope || in_scope(scope, path.buf, &way);
		if (in || way)
			strlist_add(out, path.buf);
		if (entry->kind == WT_DIR)
			collect_paths(out, entry->dir, scope);
		strbuf_release(&path);
	}
}

/* What is scanned with a scope is what is scanned without one, less what lies outside. */
static void test_scan_scope_is_a_filter(void **state)
{
	struct strlist everything = STRLIST_INIT;
	struct scan *whole = NULL;

	(void)state;
	sh("'%s' --odd --seed 5 --files 300 --dirs 60 scoped", helper("mktree"));
	assert_int_equal(scan_in(&whole, "scoped", (struct scan_opts){ .threads = 2 }, true), 0);
	collect_paths(&everything, whole->root, NULL);
	for (int round = 0; round < 60; round++) {
		struct strlist scope = STRLIST_INIT, expect = STRLIST_INIT, got = STRLIST_INIT;
		struct scan *scan = NULL;

		for (unsigned n = 1 + rnd(4); n; n--)
			strlist_add(&scope, everything.items[rnd((unsigned)everything.nr)]);
		if (!rnd(4))
			strlist_add(&scope, "not/there");
		strlist_sort_unique(&scope);
		collect_paths(&expect, whole->root, &scope);
		assert_int_equal(
			scan_in(&scan, "scoped",
				(struct scan_opts){ .threads = 1 + rnd(4), .scope = &scope }, true),
			0);
		collect_paths(&got, scan->root, NULL);
		assert_int_equal(got.nr, expect.nr);
		for (size_t i = 0; i < got.nr; i++)
			assert_string_equal(got.items[i], expect.items[i]);
		scan_free(scan);
		strlist_release(&scope);
		strlist_release(&expect);
		strlist_release(&got);
	}
	scan_free(whole);
	strlist_release(&everything);
}

/* Names that begin alike are different names. */
static void test_scan_scope_is_about_whole_names(void **state)
{
	static const struct {
		const char *scope, *expect;
	} cases[] = {
		{ "ab", "/ab 2 755\nab/f 0 644 0\n" },
		{ "ab/f", "/ab 2 755\nab/f 0 644 0\n" },
		{ "a/b/f", "/a 2 755\na/b 2 755\na/b/f 0 644 0\n" },
		{ "a-b", "/a-b 2 755\na-b/f 0 644 0\n" },
		{ "abc", "/abc 0 644 0\n" },
		{ "x", "" },
	};

	(void)state;
	sh("mkdir -p alike/a/b alike/ab alike/a-b; cd alike; touch a/b/f a/bf a/b/ff ab/f a-b/f "
	   "abc");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strlist scope = STRLIST_INIT;
		struct strbuf text = STRBUF_INIT;
		struct scan *scan = NULL;

		strlist_add(&scope, cases[i].scope);
		assert_int_equal(scan_in(&scan, "alike",
					 (struct scan_opts){ .threads = 1, .scope = &scope }, true),
				 0);
		describe(&text, scan->root, false);
		assert_string_equal(text.buf, cases[i].expect);
		scan_free(scan);
		strbuf_release(&text);
		strlist_release(&scope);
	}
}

/* A path that the user names is taken although a rule would leave it out. */
static void test_scan_scope_beats_ignore_rules(void **state)
{
	struct strlist scope = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	struct scan *scan = NULL;

	(void)state;
	sh("mkdir -p named/node_modules/p named/out; cd named; touch node_modules/p/f "
	   "node_modules/g out/o; "
	   "echo out/ >.gitignore; echo '*.o' >node_modules/p/.gitignore; touch "
	   "node_modules/p/x.o");
	strlist_add(&scope, "node_modules/p");
	strlist_add(&scope, "out");
	assert_int_equal(scan_in(&scan, "named",
				 (struct scan_opts){ .threads = 1, .scope = &scope }, false),
			 0);
	describe(&text, scan->root, false);
	assert_string_equal(text.buf,
			    "/node_modules 2 755\nnode_modules/p 2 755\n"
			    "node_modules/p/.gitignore 0 644 4\nnode_modules/p/f 0 644 0\n"
			    "/out 2 755\nout/o 0 644 0\n");
	assert_true(wt_entries(scan->root)[0].dir->outside);
	assert_false(wt_entries(wt_entries(scan->root)[0].dir)[0].dir->outside);
	scan_free(scan);
	strbuf_release(&text);
	strlist_release(&scope);
}

/* ---- limits ---- */

static void test_scan_never_enters_the_avoided_directory(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct scan *scan = NULL;
	struct stat st;

	(void)state;
	sh("mkdir -p avoid/a/stores/x avoid/b; touch avoid/a/stores/x/f avoid/b/g");
	assert_int_equal(stat(in_scratch("avoid/a/stores"), &st), 0);
	assert_int_equal(scan_in(&scan, "avoid",
				 (struct scan_opts){ .threads = 2,
						     .avoid_dev = st.st_dev,
						     .avoid_ino = st.st_ino },
				 true),
			 0);
	describe(&text, scan->root, false);
	assert_string_equal(text.buf, "/a 2 755\n/b 2 755\nb/g 0 644 0\n");
	scan_free(scan);
	strbuf_release(&text);
}

static void test_scan_limits(void **state)
{
	struct scan *scan = NULL;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	sh("mkdir -p limits/d; cd limits; for i in 1 2 3 4 5; do touch f$i d/g$i; done; "
	   "head -c 1000 /dev/zero >d/big; ln -s xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx d/link");
	for (unsigned threads = 1; threads < 4; threads++) {
		assert_int_equal(scan_in(&scan, "limits",
					 (struct scan_opts){ .threads = threads, .max_files = 12 },
					 true),
				 0);
		scan_free(scan);
		assert_int_equal(scan_in(&scan, "limits",
					 (struct scan_opts){ .threads = threads, .max_files = 11 },
					 true),
				 CKPT_EREFUSED);
		assert_non_null(strstr(ckpt_error_last(), "more than 11 files"));
	}
	/* Of files alone: links are short whatever they point at. */
	assert_int_equal(scan_in(&scan, "limits",
				 (struct scan_opts){ .threads = 1, .max_file_size = 10 }, true),
			 0);
	describe_lists(&text, scan);
	assert_string_equal(text.buf, "skip oversize d/big\n");
	assert_int_equal(skip_list_incomplete(&scan->skips), 1);
	scan_free(scan);
	assert_int_equal(scan_in(&scan, "no-such-place", (struct scan_opts){ .threads = 1 }, true),
			 CKPT_ENOTFOUND);
	strbuf_release(&text);
}

/* ---- while others change the tree ---- */

static atomic_bool stop;

static void *make_and_remove(void *arg)
{
	const char *root = arg;
	char path[2 * PATH_MAX], other[2 * PATH_MAX];

	for (unsigned i = 0; !atomic_load(&stop); i++) {
		snprintf(path, sizeof(path), "%s/moving%u", root, i % 7);
		if (!mkdir(path, 0755)) {
			snprintf(path, sizeof(path), "%s/moving%u/sub", root, i % 7);
			(void)!mkdir(path, 0755);
		} else {
			snprintf(path, sizeof(path), "%s/moving%u/sub", root, i % 7);
			(void)!rmdir(path);
			snprintf(path, sizeof(path), "%s/moving%u", root, i % 7);
			(void)!rmdir(path);
		}
		/* A directory turns into a link that leads outside, and back. */
		snprintf(path, sizeof(path), "%s/swap", root);
		snprintf(other, sizeof(other), "%s-link", root);
		(void)!renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
	}
	return NULL;
}

static void test_scan_bears_what_vanishes_and_stays_inside(void **state)
{
	char root[2 * PATH_MAX];
	pthread_t thread;

	(void)state;
	sh("mkdir -p moving/swap moving/still secret; touch moving/swap/inside moving/still/f "
	   "secret/outside; "
	   "mkdir secret/deeper; touch secret/deeper/outside; ln -s secret moving-link");
	snprintf(root, sizeof(root), "%s/moving", scratch);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, make_and_remove, root), 0);
	for (int i = 0; i < 300; i++) {
		struct strbuf text = STRBUF_INIT;
		struct scan *scan = NULL;
		int err =
			scan_in(&scan, "moving", (struct scan_opts){ .threads = 1 + i % 4 }, true);

		if (err) {
			atomic_store(&stop, true);
			pthread_join(thread, NULL);
			fail_msg("%s", ckpt_error_last());
		}
		describe(&text, scan->root, false);
		assert_null(strstr(text.buf, "outside"));
		assert_null(strstr(text.buf, "deeper"));
		assert_non_null(strstr(text.buf, "still/f 0 644"));
		/* What is gone is not skipped: the checkpoint is right without it. */
		for (size_t s = 0; s < scan->skips.nr; s++)
			fail_msg("%s %s", skip_why_name(scan->skips.items[s].why),
				 scan->skips.items[s].path);
		scan_free(scan);
		strbuf_release(&text);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}

/* ---- lists of skipped paths ---- */

static void test_skip_list(void **state)
{
	struct skip_list list = { 0 };
	enum skip_why why;

	(void)state;
	for (int i = SKIP_UNREADABLE; i <= SKIP_SPECIAL; i++) {
		assert_true(skip_why_parse(&why, skip_why_name((enum skip_why)i)));
		assert_int_equal(why, i);
		skip_list_add(&list, "b", (enum skip_why)i);
		skip_list_add(&list, i % 2 ? "a" : "c", (enum skip_why)i);
	}
	assert_false(skip_why_parse(&why, "nonsense"));
	assert_false(skip_why_parse(&why, ""));
	skip_list_sort(&list);
	assert_int_equal(list.nr, 3);
	assert_string_equal(list.items[0].path, "a");
	assert_string_equal(list.items[2].path, "c");
	assert_int_equal(list.items[1].why, SKIP_UNREADABLE);
	skip_list_release(&list);
	skip_list_sort(&list);
	assert_int_equal(skip_list_incomplete(&list), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_finds_what_is_there),
		cmocka_unit_test(test_scan_does_not_depend_on_threads),
		cmocka_unit_test(test_scan_scope_is_a_filter),
		cmocka_unit_test(test_scan_scope_is_about_whole_names),
		cmocka_unit_test(test_scan_scope_beats_ignore_rules),
		cmocka_unit_test(test_scan_never_enters_the_avoided_directory),
		cmocka_unit_test(test_scan_limits),
		cmocka_unit_test(test_scan_bears_what_vanishes_and_stays_inside),
		cmocka_unit_test(test_skip_list),
	};

	return cmocka_run_group_tests_name("scan", tests, scanprobe_setup, scanprobe_teardown);
}
