/* SPDX-License-Identifier: MIT */
#include "record/compare.h"

#include "record/snapshot.h"
#include "store/ingest.h"
#include "unit.h"

#include "recordgen.h"
#include "treegen.h"

/* ---- pairs of trees that have much in common ---- */

static struct wt_dir *copy_changed(struct arena *arena, const struct wt_dir *from,
				   struct wt_dir *parent, unsigned chance, unsigned depth)
{
	struct wt_dir *dir = arena_alloc(arena, sizeof(*dir));
	struct wt_dir *fresh = treegen(arena, parent, from->path, depth, rnd(chance) ? 0 : 3);

	*dir = *from;
	dir->parent = parent;
	dir->nr = 0;
	dir->loaded = arena_alloc(arena, (from->nr + fresh->nr + 1) * sizeof(struct wt_entry));
	for (size_t i = 0; i < from->nr; i++) {
		struct wt_entry *entry = &wt_entries(dir)[dir->nr];

		*entry = wt_entries(from)[i];
		if (!rnd(chance)) {
			switch (rnd(4)) {
			case 0: /* removed */
				continue;
			case 1: /* another mode, or other contents */
				if (entry->kind == WT_DIR)
					entry->mode ^= 0055;
				else if (entry->kind == WT_FILE && rnd(2))
					entry->mode = treegen_modes[rnd(ARRAY_SIZE(treegen_modes))];
				else
					memset(entry->oid.id, 1 + (int)rnd(6), OID_SIZE);
				break;
			case 2: /* another kind */
				if (entry->kind == WT_FILE) {
					entry->kind = WT_LINK;
					entry->mode = 0;
				} else if (entry->kind == WT_LINK || !entry->dir->nr) {
					entry->kind = WT_FILE;
					entry->mode = 0644;
					memset(entry->oid.id, 3, OID_SIZE);
				}
				break;
			default: /* all of it gone but the directory */
				if (entry->kind == WT_DIR) {
					entry->dir = treegen(arena, dir, entry->dir->path, 0, 0);
					dir->nr++;
					continue;
				}
			}
		}
		dir->nr++;
		if (entry->kind == WT_DIR)
			entry->dir =
				copy_changed(arena, entry->dir, dir, chance, depth ? depth - 1 : 0);
	}
	for (size_t i = 0; i < fresh->nr; i++) {
		bool taken = false;

		for (size_t j = 0; j < dir->nr; j++)
			taken = taken || !strcmp(wt_entries(dir)[j].name, wt_entries(fresh)[i].name);
		if (!taken)
			wt_entries(dir)[dir->nr++] = wt_entries(fresh)[i];
	}
	if (dir->nr)
		qsort(wt_entries(dir), dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	return dir;
}

/* ---- the naive way: flat lists of everything, compared name by name ---- */

static unsigned shown_mode(const struct wt_entry *entry)
{
	return !entry ? 0 : entry->kind == WT_DIR ? 040000u | entry->mode : wt_entry_mode(entry);
}

static void say(struct strlist *out, const char *path, char kind, const struct wt_entry *old,
		const struct wt_entry *new)
{
	/* A directory that holds something is named by what it holds. */
	if ((kind == 'A' && new->kind == WT_DIR &&new->dir->nr) ||
	    (kind == 'D' && old->kind == WT_DIR && old->dir->nr))
		return;
	strlist_addf(out, "%s %c %06o %06o", path, kind, shown_mode(old), shown_mode(new));
}

static bool below(const struct strlist *paths, const char *path)
{
	for (size_t i = 0; paths && i < paths->nr; i++) {
		size_t len = strlen(paths->items[i]);

		if (!strncmp(path, paths->items[i], len) && (!path[len] || path[len] == '/'))
			return true;
	}
	return !paths || !paths->nr;
}

static void naive(struct strlist *out, const struct wt_dir *before, const struct wt_dir *after,
		  const struct strlist *paths)
{
	struct flat_list lists[2] = { { 0 } };
	static const struct wt_dir none;

	flat_add(&lists[0], before ? before : &none);
	flat_add(&lists[1], after ? after : &none);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < lists[side].nr; i++) {
			const char *path = lists[side].items[i].path;
			const struct wt_entry *mine = lists[side].items[i].entry;
			const struct wt_entry *other = flat_find(&lists[!side], path);
			const struct wt_entry *old = side ? other : mine,
					      *new = side ? mine : other;

			if (!below(paths, path))
				continue;
			if (!old || !new || (old->kind == WT_DIR) != (new->kind == WT_DIR)) {
				say(out, path, side ? 'A' : 'D', side ? NULL : mine,
				    side ? mine : NULL);
			} else if (!side && old->kind != new->kind) {
				say(out, path, 'T', old, new);
			} else if (!side &&
				   (old->mode != new->mode ||
				    (old->kind != WT_DIR && !oid_equal(&old->oid, &new->oid)))) {
				say(out, path, 'M', old, new);
			}
		}
	flat_release(&lists[0]);
	flat_release(&lists[1]);
	strlist_sort_unique(out);
}

static void listed(struct strlist *out, const struct compare_list *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->items[i];

		if (i)
			assert_true(strcmp(changes->items[i - 1].path, change->path) <= 0);
		assert_int_equal(change->is_dir,
				 ((change->new_mode ? change->new_mode : change->old_mode) &
				  0170000) == 0040000);
		strlist_addf(out, "%s %c %06o %06o", change->path, change->kind, change->old_mode,
			     change->new_mode);
	}
}

static void check_same(struct strlist *got, struct strlist *expect)
{
	size_t nr = got->nr;

	strlist_sort_unique(got);
	assert_int_equal(got->nr, nr); /* nothing is said twice */
	for (size_t i = 0; i < got->nr || i < expect->nr; i++) {
		const char *a = i < got->nr ? got->items[i] : "nothing";
		const char *b = i < expect->nr ? expect->items[i] : "nothing";

		if (strcmp(a, b))
			fail_msg("found '%s', expected '%s'", a, b);
	}
	strlist_release(got);
	strlist_release(expect);
}

static void compare_and_check(struct compare_side *before, struct compare_side *after,
			      const struct wt_dir *old, const struct wt_dir *new,
			      const struct strlist *paths)
{
	struct strlist got = STRLIST_INIT, expect = STRLIST_INIT;
	struct compare_list changes;

	assert_int_equal(compare_run(&changes, before, after, paths), 0);
	listed(&got, &changes);
	naive(&expect, old, new, paths);
	check_same(&got, &expect);
	compare_list_release(&changes);
}

static void test_compare_equals_the_naive_way(void **state)
{
	size_t found = 0;

	(void)state;
	for (int round = 0; round < rounds(1500); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *old = treegen(&arena, NULL, "", 3, 6);
		struct wt_dir *new = rnd(3) ? copy_changed(&arena, old, NULL, 2 + rnd(8), 2)
					    : treegen(&arena, NULL, "", 3, 6);
		struct compare_side before = { .root = rnd(20) ? old : NULL };
		struct compare_side after = { .root = rnd(20) ? new : NULL };
		struct strlist paths = STRLIST_INIT;
		struct compare_list changes;

		compare_and_check(&before, &after, before.root, after.root, NULL);
		/* Limited to some paths. */
		for (unsigned n = rnd(4); n; n--) {
			char name[8], more[8];

			treegen_name(name);
			treegen_name(more);
			strlist_addf(&paths, "%s%s%s", name, rnd(2) ? "/" : "",
				     rnd(2) ? more : "a");
		}
		strlist_sort_unique(&paths);
		compare_and_check(&before, &after, before.root, after.root, &paths);
		/* With itself there is nothing. */
		assert_int_equal(compare_run(&changes, &before, &before, NULL), 0);
		assert_int_equal(changes.nr, 0);
		compare_list_release(&changes);
		assert_int_equal(compare_run(&changes, &before, &after, NULL), 0);
		found += changes.nr;
		compare_list_release(&changes);
		strlist_release(&paths);
		arena_release(&arena);
	}
	assert_true(found > (size_t)rounds(3000));
}

/* ---- checkpoints, loaded piece by piece ---- */

/* In git's words; modes that git does not know do not change it, nor do directories. */
static void check_by_git(struct store *store, const struct ckpt_record *a,
			 const struct ckpt_record *b, const struct compare_list *changes)
{
	struct strlist expect = STRLIST_INIT, got = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	char old[OID_HEX + 1], new[OID_HEX + 1];

	ask(&out, "git --git-dir='%s' diff-tree -r -z --no-renames --name-status %s %s",
	    store->path, oid_hex(old, &a->tree), oid_hex(new, &b->tree));
	for (const char *p = out.buf; p < out.buf + out.len;) {
		const char *path = p + strlen(p) + 1;

		strlist_addf(&expect, "%s %s", path, p);
		p = path + strlen(path) + 1;
	}
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->items[i];

		if (change->is_dir || (change->kind == CHANGE_MODIFIED &&
				       oid_equal(&change->old_oid, &change->new_oid) &&
				       (change->old_mode & 0100) == (change->new_mode & 0100)))
			continue;
		strlist_addf(&got, "%s %c", change->path, change->kind);
	}
	strlist_sort_unique(&expect);
	check_same(&got, &expect);
	strbuf_release(&out);
}

static void test_compare_checkpoints_as_git_does(void **state)
{
	struct store *store = recordgen_store("worktree");

	(void)state;
	for (int round = 0; round < rounds(40); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *old = treegen(&arena, NULL, "", 3, 7);
		struct wt_dir *new = copy_changed(&arena, old, NULL, 2 + rnd(12), 2);
		struct ckpt_record records[2];
		struct snapshot *a = NULL, *b = NULL;
		struct compare_side before = { 0 }, after = { 0 };
		struct compare_list changes;

		recordgen_tree(store, &records[0], "chk_20260101_000000_000001", old);
		/* So that the second pack has what is new alone. */
		store = recordgen_reopen(store);
		recordgen_tree(store, &records[1], "chk_20260101_000000_000002", new);
		store = recordgen_reopen(store);
		assert_int_equal(snapshot_open(&a, store, &records[0]), 0);
		assert_int_equal(snapshot_open(&b, store, &records[1]), 0);
		before = (struct compare_side){ a->root, a, &a->modes };
		after = (struct compare_side){ b->root, b, &b->modes };
		compare_and_check(&before, &after, old, new, NULL);
		compare_and_check(&after, &before, new, old, NULL);
		assert_int_equal(compare_run(&changes, &before, &after, NULL), 0);
		check_by_git(store, &records[0], &records[1], &changes);
		compare_list_release(&changes);

		/* The one as a scan would have it, known or not. */
		after = (struct compare_side){ new, NULL, rnd(2) ? &b->modes : NULL };
		compare_and_check(&before, &after, old, new, NULL);
		snapshot_free(a);
		snapshot_free(b);
		record_release(&records[0]);
		record_release(&records[1]);
		arena_release(&arena);
	}
	store_close(store);
}

/* Directories that agree are not even looked at. */
static void test_compare_does_not_load_what_is_equal(void **state)
{
	struct store *store = recordgen_store("lazy");
	struct wt_entry entries[2][2], file = { .name = "f", .name_len = 1, .mode = 0644 };
	struct wt_dir roots[2], same[2], other[2];
	struct ckpt_record records[2];
	struct snapshot *a = NULL, *b = NULL;
	struct compare_list changes;

	(void)state;
	memset(file.oid.id, 1, OID_SIZE);
	for (int i = 0; i < 2; i++) {
		static struct wt_entry inner[2][2];

		inner[i][0] = inner[i][1] = file;
		inner[i][1].oid.id[0] = (unsigned char)(5 + i);
		same[i] = (struct wt_dir){ .path = "same", .loaded = &inner[i][0], .nr = 1 };
		other[i] = (struct wt_dir){ .path = "other", .loaded = &inner[i][1], .nr = 1 };
		memset(entries[i], 0, sizeof(entries[i]));
		entries[i][0] = (struct wt_entry){ .name = "other",
						   .name_len = 5,
						   .kind = WT_DIR,
						   .mode = 0755,
						   .dir = &other[i] };
		entries[i][1] = (struct wt_entry){
			.name = "same", .name_len = 4, .kind = WT_DIR, .mode = 0755, .dir = &same[i]
		};
		roots[i] = (struct wt_dir){ .path = "", .loaded = entries[i], .nr = 2 };
		recordgen_tree(store, &records[i],
			       i ? "chk_20260101_000000_000002" : "chk_20260101_000000_000001",
			       &roots[i]);
		store = recordgen_reopen(store);
	}
	assert_int_equal(snapshot_open(&a, store, &records[0]), 0);
	assert_int_equal(snapshot_open(&b, store, &records[1]), 0);
	assert_int_equal(compare_run(&changes, &(struct compare_side){ a->root, a, &a->modes },
				     &(struct compare_side){ b->root, b, &b->modes }, NULL),
			 0);
	assert_int_equal(changes.nr, 1);
	assert_string_equal(changes.items[0].path, "other/f");
	assert_non_null(wt_entries(a->root)[0].dir->loaded);
	assert_null(wt_entries(a->root)[1].dir->loaded);
	assert_null(wt_entries(b->root)[1].dir->loaded);
	compare_list_release(&changes);
	snapshot_free(a);
	snapshot_free(b);
	record_release(&records[0]);
	record_release(&records[1]);
	store_close(store);
}

/* ---- what leads to the scope is not in it ---- */

static void test_compare_modes_on_the_way_to_a_scope_do_not_count(void **state)
{
	struct wt_entry old_entry = { .name = "d", .name_len = 1, .kind = WT_DIR, .mode = 0755 },
			new_entry;
	struct wt_dir old_dir = { .path = "d" }, new_dir = { .path = "d" };
	struct wt_dir old = { .path = "", .loaded = &old_entry, .nr = 1 };
	struct wt_dir new = { .path = "", .loaded = &new_entry, .nr = 1 };
	struct compare_list changes;

	(void)state;
	new_entry = old_entry;
	new_entry.mode = 0700;
	old_entry.dir = &old_dir;
	new_entry.dir = &new_dir;
	assert_int_equal(compare_run(&changes, &(struct compare_side){ .root = &old },
				     &(struct compare_side){ .root = &new }, NULL),
			 0);
	assert_int_equal(changes.nr, 1);
	compare_list_release(&changes);
	new_dir.outside = true;
	assert_int_equal(compare_run(&changes, &(struct compare_side){ .root = &old },
				     &(struct compare_side){ .root = &new }, NULL),
			 0);
	assert_int_equal(changes.nr, 0);
	compare_list_release(&changes);
}

static void test_compare_in_scope(void **state)
{
	struct strlist paths = STRLIST_INIT;

	(void)state;
	assert_true(compare_in_scope(NULL, "anything"));
	assert_true(compare_in_scope(&paths, "anything"));
	strlist_add(&paths, "a/b");
	assert_true(compare_in_scope(&paths, "a/b"));
	assert_true(compare_in_scope(&paths, "a/b/c"));
	assert_false(compare_in_scope(&paths, "a"));
	assert_false(compare_in_scope(&paths, "a/bc"));
	assert_false(compare_in_scope(&paths, "a/b-c/d"));
	assert_false(compare_in_scope(&paths, "x/a/b"));
	strlist_release(&paths);
	strlist_add(&paths, "");
	assert_true(compare_in_scope(&paths, "anything"));
	strlist_release(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_equals_the_naive_way),
		cmocka_unit_test(test_compare_checkpoints_as_git_does),
		cmocka_unit_test(test_compare_does_not_load_what_is_equal),
		cmocka_unit_test(test_compare_modes_on_the_way_to_a_scope_do_not_count),
		cmocka_unit_test(test_compare_in_scope),
	};

	return cmocka_run_group_tests_name("compare", tests, unit_setup, unit_teardown);
}
