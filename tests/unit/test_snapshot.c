/* SPDX-License-Identifier: MIT */
#include "record/snapshot.h"

#include "unit.h"

#include "recordgen.h"
#include "treegen.h"

/* Everything that was saved is found again by its path, with its mode; nothing else is. */
static void test_snapshot_finds_every_entry(void **state)
{
	struct store *store = recordgen_store("find");

	(void)state;
	for (int round = 0; round < rounds(16); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 3, 7);
		struct flat_list all = { 0 };
		struct snapshot *snapshot = NULL;
		struct ckpt_record record;

		recordgen_tree(store, &record, "chk_20260101_000000_000001", root);
		store = recordgen_reopen(store);
		flat_add(&all, root);
		assert_int_equal(snapshot_open(&snapshot, store, &record), 0);
		for (int n = 0; n < 60; n++) {
			struct wt_entry *found = NULL;
			const struct wt_entry *expect;
			struct strbuf path = STRBUF_INIT;

			if (all.nr && rnd(3)) {
				strbuf_addstr(&path, all.items[rnd((unsigned)all.nr)].path);
				if (!rnd(4))
					strbuf_addstr(&path, "/a");
			} else {
				char name[8];

				treegen_name(name);
				strbuf_addstr(&path, name);
			}
			expect = flat_find(&all, path.buf);
			assert_int_equal(snapshot_find(&found, snapshot, path.buf), 0);
			assert_int_equal(!found, !expect);
			if (found) {
				assert_string_equal(found->name, expect->name);
				assert_int_equal(found->kind, expect->kind);
				assert_int_equal(found->mode, expect->mode);
				if (found->kind != WT_DIR)
					assert_true(oid_equal(&found->oid, &expect->oid));
			}
			strbuf_release(&path);
		}
		assert_int_equal(snapshot_expand_all(snapshot, snapshot->root), 0);
		snapshot_free(snapshot);
		flat_release(&all);
		record_release(&record);
		arena_release(&arena);
	}
	snapshot_free(NULL);
	store_close(store);
}

/* A tree that no honest program made: names that lead elsewhere, unknown modes, one name twice. */
static void test_snapshot_refuses_dishonest_trees(void **state)
{
	static const char *const bad[] = { "100644 ..",	 "100644 .",   "100644 .git",
					   "40000 .git", "100644 a/b", "100644 /",
					   "160000 m",	 "100664 w",   "0 z" };
	struct store *store = recordgen_store("dishonest");
	struct pack *pack;
	struct ckpt_record record;
	struct ckpt_meta meta;

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(bad); i++) {
		struct strbuf tree = STRBUF_INIT;
		struct snapshot *snapshot = NULL;
		char id[CKPT_ID_SIZE];

		snprintf(id, sizeof(id), "chk_20260101_000000_%06zx", i);
		pack = pack_new(store, 1, 1);
		recordgen_plain(&record, id);
		meta_init(&meta);
		strbuf_addstr(&meta.modes, "file 644 exec 755 dir 755\n");
		strbuf_addstr(&tree, i < ARRAY_SIZE(bad) ? bad[i] : "100644 twice");
		strbuf_add(&tree, "\0aaaaaaaaaaaaaaaaaaaa", 21);
		if (i == ARRAY_SIZE(bad))
			strbuf_add(&tree, "40000 twice\0aaaaaaaaaaaaaaaaaaaa", 32);
		assert_int_equal(pack_add_new(pack, &record.tree, OBJECT_TREE, tree.buf, tree.len),
				 0);
		assert_int_equal(record_write(&record, &meta, pack), 0);
		assert_int_equal(pack_commit(pack, NULL), 0);
		pack_free(pack);
		store = recordgen_reopen(store);
		assert_int_equal(refs_create(store, id, &record.commit), 0);
		assert_int_equal(snapshot_open(&snapshot, store, &record), 0);
		if (snapshot_expand(snapshot, snapshot->root) != CKPT_ECORRUPT)
			fail_msg("'%s' was taken", tree.buf);
		snapshot_free(snapshot);
		meta_release(&meta);
		record_release(&record);
		strbuf_release(&tree);
	}
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot_finds_every_entry),
		cmocka_unit_test(test_snapshot_refuses_dishonest_trees),
	};

	return cmocka_run_group_tests_name("snapshot", tests, unit_setup, unit_teardown);
}
