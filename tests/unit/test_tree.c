/* SPDX-License-Identifier: MIT */
#include "tree/wt_tree.h"

#include "base/strlist.h"
#include "unit.h"

#include "treegen.h"

/* ---- order ---- */

/* `git mktree` sorts what it is given; `git ls-tree` shows the order. */
static void test_tree_order_is_that_of_git(void **state)
{
	(void)state;
	sh("git init -q repo; cd repo; git hash-object -w -t tree /dev/null; "
	   "git hash-object -w --stdin </dev/null");
	for (int round = 0; round < 40; round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *dir = treegen(&arena, NULL, "", 1, 60);
		struct strbuf input = STRBUF_INIT, output = STRBUF_INIT;
		const char *p;

		/* In an order that is certainly not the right one. */
		for (size_t i = dir->nr; i--;) {
			const struct wt_entry *entry = &wt_entries(dir)[(i * 7 + 3) % dir->nr];
			static const char *const kinds[] = {
				[WT_FILE] = "100644 blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
				[WT_LINK] = "120000 blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
				[WT_DIR] = "040000 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
			};

			if (dir->nr % 7 == 0)
				entry = &wt_entries(dir)[i];
			strbuf_addf(&input, "%s\t%s", kinds[entry->kind], entry->name);
			strbuf_addch(&input, '\0');
		}
		put_bytes(in_scratch("input"), input.buf, input.len);
		ask(&output, "cd repo; git ls-tree -z $(git mktree -z <../input)");
		p = output.buf;
		for (size_t i = 0; i < dir->nr; i++) {
			assert_true(p < output.buf + output.len);
			assert_string_equal(strchr(p, '\t') + 1, wt_entries(dir)[i].name);
			assert_int_equal(*p == '0', wt_entries(dir)[i].kind == WT_DIR);
			p += strlen(p) + 1;
		}
		assert_ptr_equal(p, output.buf + output.len);
		strbuf_release(&input);
		strbuf_release(&output);
		arena_release(&arena);
	}
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* The comparison is that of the names with their slash appended. */
static void test_tree_compare_is_a_total_order(void **state)
{
	(void)state;
	for (int round = 0; round < 50000; round++) {
		char a[8], b[8], sa[10], sb[10];
		bool da = rnd(2), db = rnd(2);
		int cmp;

		treegen_name(a);
		treegen_name(b);
		cmp = wt_name_compare(a, strlen(a), da, b, strlen(b), db);
		assert_int_equal(sign(cmp),
				 -sign(wt_name_compare(b, strlen(b), db, a, strlen(a), da)));
		sprintf(sa, "%s%s", a, da ? "/" : "");
		sprintf(sb, "%s%s", b, db ? "/" : "");
		assert_int_equal(sign(cmp), sign(strcmp(sa, sb)));
	}
}

/* ---- wt_visit ---- */

struct visited {
	struct strlist paths;
	size_t stop_at;
};

static int note(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	struct visited *visited = payload;
	const char *slash = strrchr(path, '/');

	assert_int_equal(strlen(path), len);
	assert_string_equal(slash ? slash + 1 : path, entry->name);
	assert_true(entry->kind != WT_DIR || !entry->dir->nr);
	if (visited->paths.nr == visited->stop_at)
		return -77;
	strlist_add(&visited->paths, path);
	return 0;
}

static void flatten(struct strlist *out, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		if (entry->kind == WT_DIR && entry->dir->nr)
			flatten(out, entry->dir);
		else
			strlist_addf(out, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
	}
}

static void test_tree_visit_goes_in_byte_order_of_path(void **state)
{
	size_t all = 0;

	(void)state;
	for (int round = 0; round < 1500; round++) {
		struct visited visited = { .stop_at = SIZE_MAX };
		struct strlist expect = STRLIST_INIT;
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 4, 6);

		assert_int_equal(wt_visit(root, note, &visited), 0);
		for (size_t i = 1; i < visited.paths.nr; i++)
			if (strcmp(visited.paths.items[i - 1], visited.paths.items[i]) >= 0)
				fail_msg("'%s' before '%s'", visited.paths.items[i - 1],
					 visited.paths.items[i]);
		flatten(&expect, root);
		strlist_sort_unique(&expect);
		assert_true(strlist_equal(&expect, &visited.paths));
		all += expect.nr;

		/* A callback that fails ends the walk at once. */
		if (expect.nr) {
			strlist_release(&visited.paths);
			visited.stop_at = rnd((unsigned)expect.nr);
			assert_int_equal(wt_visit(root, note, &visited), -77);
			assert_int_equal(visited.paths.nr, visited.stop_at);
		}
		strlist_release(&visited.paths);
		strlist_release(&expect);
		arena_release(&arena);
	}
	assert_true(all > 10000);
}

/* ---- counting and compacting ---- */

static void kill_some(struct wt_dir *dir, struct strlist *alive)
{
	for (size_t i = 0; i < dir->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[i];

		if (!rnd(4)) {
			entry->flags |= WT_DEAD;
			continue;
		}
		strlist_addf(alive, "%s/%s %d", dir->path, entry->name, entry->kind);
		if (entry->kind == WT_DIR)
			kill_some(entry->dir, alive);
	}
}

static void list_all(struct strlist *out, const struct wt_dir *dir, struct wt_counts *counts)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		strlist_addf(out, "%s/%s %d", dir->path, entry->name, entry->kind);
		if (entry->kind == WT_DIR) {
			counts->dirs++;
			list_all(out, entry->dir, counts);
		} else {
			counts->files++;
			counts->bytes += entry->st.size;
		}
	}
}

static void test_tree_compact_removes_the_dead_and_count_counts(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct strlist alive = STRLIST_INIT, left = STRLIST_INIT;
		struct wt_counts counts, expect = { 0 };
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 4, 8);

		kill_some(root, &alive);
		wt_compact(root);
		list_all(&left, root, &expect);
		assert_true(strlist_equal(&alive, &left));
		wt_count(&counts, root);
		assert_int_equal(counts.files, expect.files);
		assert_int_equal(counts.dirs, expect.dirs);
		assert_int_equal(counts.bytes, expect.bytes);
		strlist_release(&alive);
		strlist_release(&left);
		arena_release(&arena);
	}
}

/* ---- modes and times ---- */

static void test_tree_modes(void **state)
{
	struct wt_entry entry = { .kind = WT_FILE };

	(void)state;
	for (unsigned mode = 0; mode < 010000; mode++) {
		entry.mode = (uint16_t)mode;
		assert_int_equal(wt_entry_mode(&entry), 0100000 | mode);
		assert_int_equal(wt_git_mode(&entry), mode & 0100 ? 0100755 : 0100644);
	}
	entry.kind = WT_LINK;
	assert_int_equal(wt_entry_mode(&entry), 0120000);
	assert_int_equal(wt_git_mode(&entry), 0120000);
	entry.kind = WT_DIR;
	assert_int_equal(wt_entry_mode(&entry), 0040000);
	assert_int_equal(wt_git_mode(&entry), 0040000);
}

static void test_tree_stat_sees_every_field(void **state)
{
	struct wt_stat a = { 1, 2, 3, 4 }, b;
	struct stat st;

	(void)state;
	b = a;
	assert_true(wt_stat_equal(&a, &b));
	b.size++;
	assert_false(wt_stat_equal(&a, &b));
	b = a, b.mtime_ns++;
	assert_false(wt_stat_equal(&a, &b));
	b = a, b.ctime_ns++;
	assert_false(wt_stat_equal(&a, &b));
	b = a, b.ino++;
	assert_false(wt_stat_equal(&a, &b));

	put_text(in_scratch("stat"), "12345");
	assert_int_equal(stat(in_scratch("stat"), &st), 0);
	wt_stat_from(&a, &st);
	assert_int_equal(a.size, 5);
	assert_int_equal(a.ino, st.st_ino);
	assert_int_equal(a.mtime_ns, (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	assert_int_equal(a.ctime_ns, (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
}

/* Times are trusted only if they are older than the coarsest tick they could have come from. */
static void test_tree_racy_is_what_is_too_young(void **state)
{
	static const int64_t second = 1000000000, tick = 10000000;
	int64_t now = 1000 * second + 123456789;
	struct wt_stat st = { .size = 1 };

	(void)state;
	st.mtime_ns = st.ctime_ns = now;
	assert_true(wt_stat_racy(&st, now));
	st.mtime_ns = st.ctime_ns = now - tick;
	assert_true(wt_stat_racy(&st, now));
	/* The younger of the two counts. */
	st.mtime_ns = 5;
	assert_true(wt_stat_racy(&st, now));
	st.ctime_ns = 5;
	st.mtime_ns = now + 1;
	assert_true(wt_stat_racy(&st, now));
	st.mtime_ns = st.ctime_ns = now - second;
	assert_false(wt_stat_racy(&st, now));
	/* Whole seconds may come from a file system that has no others, even of two seconds. */
	st.mtime_ns = st.ctime_ns = 998 * second;
	assert_true(wt_stat_racy(&st, 1000 * second));
	st.mtime_ns = st.ctime_ns = 990 * second;
	assert_false(wt_stat_racy(&st, 1000 * second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_order_is_that_of_git),
		cmocka_unit_test(test_tree_compare_is_a_total_order),
		cmocka_unit_test(test_tree_visit_goes_in_byte_order_of_path),
		cmocka_unit_test(test_tree_compact_removes_the_dead_and_count_counts),
		cmocka_unit_test(test_tree_modes),
		cmocka_unit_test(test_tree_stat_sees_every_field),
		cmocka_unit_test(test_tree_racy_is_what_is_too_young),
	};

	return cmocka_run_group_tests_name("tree", tests, unit_setup, unit_teardown);
}
