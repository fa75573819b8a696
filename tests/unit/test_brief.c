/* SPDX-License-Identifier: MIT */
#include "record/brief.h"

#include "base/fs.h"
#include "unit.h"

#include "recordgen.h"

#define CACHE "checkpoint/cache"

enum { NR = 40 };

static void nth(struct ckpt_record *out, int n)
{
	char id[CKPT_ID_SIZE];

	snprintf(id, sizeof(id), "chk_20260930_123456_%06x", (unsigned)n & 0xffffff);
	recordgen_plain(out, id);
	out->created_at = 1 + (int64_t)(rnd64() >> 30);
	out->expiry = rnd(2) ? 0 : 1 + (int64_t)(rnd64() >> 30);
	out->state_only = rnd(3) == 0;
	if (rnd(2))
		strlist_add(&out->scope, "some/where");
	if (rnd(2)) {
		free(out->source);
		out->source = xstrdup("flow");
	}
}

static struct store *fill(const char *name, struct ckpt_record *records, int from, int to)
{
	struct store *store = recordgen_store(name);

	for (int i = from; i < to; i++) {
		nth(&records[i], i);
		recordgen_save(store, &records[i]);
	}
	return recordgen_reopen(store);
}

static void release(struct ckpt_record *records, int nr)
{
	for (int i = 0; i < nr; i++)
		record_release(&records[i]);
}

/* All of `records` that have an id, and nothing else; `learned` of them from their commits. */
static void expect(struct store *store, struct ckpt_record *records, size_t learned)
{
	struct ckpt_briefs briefs;
	struct ref_list refs;
	size_t at = 0;

	assert_int_equal(refs_list(&refs, store), 0);
	assert_int_equal(brief_read(&briefs, store), 0);
	assert_int_equal(briefs.learned, learned);
	for (size_t i = 0; i < NR; i++)
		if (records[i].id[0]) {
			assert_true(at < briefs.nr && at < refs.nr);
			assert_string_equal(refs.items[at].id, records[i].id);
			assert_true(brief_fits(&briefs.items[at++], &records[i]));
		}
	assert_int_equal(briefs.nr, at);
	assert_int_equal(briefs.damaged.nr, 0);
	brief_release(&briefs);
	refs_release(&refs);
}

static void keep(struct store *store)
{
	struct ckpt_briefs briefs;

	assert_int_equal(brief_read(&briefs, store), 0);
	brief_keep(&briefs, store); /* who has no lock keeps nothing */
	assert_int_equal(store_lock(store, 1), 0);
	brief_keep(&briefs, store);
	store_unlock(store);
	brief_release(&briefs);
}

static void forget(struct store *store)
{
	assert_int_equal(store_lock(store, 1), 0);
	brief_forget(store);
	store_unlock(store);
}

static bool has_file(struct store *store)
{
	return !faccessat(store->dirfd, CACHE, F_OK, 0);
}

static void test_brief_needs_no_commit_that_it_knows(void **state)
{
	static struct ckpt_record records[NR];
	struct store *store = fill("known", records, 0, NR);
	struct ckpt_briefs briefs;

	(void)state;
	expect(store, records, NR);
	assert_false(has_file(store));
	keep(store);
	assert_true(has_file(store));
	expect(store, records, 0);
	/* And none is read: they are gone. What it does not know is lost then, which is said once. */
	sh("rm -rf '%s/objects/pack'", store->path);
	store = recordgen_reopen(store);
	expect(store, records, 0);
	forget(store);
	assert_int_equal(brief_read(&briefs, store), 0);
	assert_int_equal(briefs.nr, 0);
	assert_int_equal(briefs.damaged.nr, 1);
	assert_non_null(strstr(briefs.damaged.items[0], "40 checkpoints are lost"));
	assert_int_equal(brief_worth(&briefs), 0);
	brief_release(&briefs);
	release(records, NR);
	store_close(store);
}

static void test_brief_few_are_not_worth_a_file(void **state)
{
	static struct ckpt_record records[NR];
	struct store *store = fill("few", records, 0, 15);

	(void)state;
	keep(store);
	assert_false(has_file(store));
	release(records, NR);
	store_close(store);
}

/* Pinned is what a mark says, whatever is in the file; and that stays what was saved. */
static void test_brief_marks_count(void **state)
{
	static struct ckpt_record records[NR];
	struct store *store = fill("marks", records, 0, NR);

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < NR; i++)
			if (rnd(2)) {
				records[i].pinned = !records[i].pinned;
				assert_int_equal(records[i].pinned ?
							 keepers_add(store, KEEPER_PIN, records[i].id,
								     &records[i].commit) :
							 keepers_remove(store, KEEPER_PIN, records[i].id),
						 0);
			}
		expect(store, records, round ? 0 : NR);
		keep(store);
		expect(store, records, 0);
		if (round == 1)
			sh("git --git-dir='%s' pack-refs --all", store->path);
	}
	expect(store, records, 0);
	release(records, NR);
	store_close(store);
}

/* An old copy, put back: what is gone is gone, what is new is read, another commit is another. */
static void test_brief_old_copy_is_harmless(void **state)
{
	static struct ckpt_record records[NR];
	struct store *store = fill("old", records, 0, NR - 10);
	char id[CKPT_ID_SIZE];

	(void)state;
	keep(store);
	sh("cd '%s'; cp " CACHE " old", store->path);
	store_close(store);
	store = fill("old", records, NR - 10, NR);
	for (int i = 0; i < 10; i++) {
		int n = (int)rnd(NR - 11);

		if (!records[n].id[0])
			continue;
		assert_int_equal(refs_delete(store, records[n].id), 0);
		record_release(&records[n]);
	}
	/* The same id with another commit, as salvage may bring it. */
	strcpy(id, records[NR - 11].id);
	record_release(&records[NR - 11]);
	nth(&records[NR - 11], NR - 11);
	assert_string_equal(records[NR - 11].id, id);
	recordgen_save(store, &records[NR - 11]);
	store = recordgen_reopen(store);
	expect(store, records, 11);
	forget(store);
	keep(store);
	sh("cd '%s'; cp old " CACHE, store->path);
	expect(store, records, 11);
	release(records, NR);
	store_close(store);
}

/* Each bit, each length, and what else may lie there: read from the commits, as if it were missing. */
static void test_brief_damage_is_harmless(void **state)
{
	static struct ckpt_record records[NR];
	struct store *store = fill("damage", records, 0, 20);
	struct strbuf text = STRBUF_INIT;

	(void)state;
	keep(store);
	assert_int_equal(fs_read_file(&text, store->dirfd, CACHE), 0);
	for (size_t bit = 0; bit < 8 * text.len; bit += 1 + rnd(8)) {
		text.buf[bit / 8] ^= (char)(1 << bit % 8);
		assert_int_equal(fs_write_file(store->dirfd, CACHE, text.buf, text.len, 0600,
					       FS_FAST),
				 0);
		expect(store, records, 20);
		text.buf[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t len = 0; len < text.len; len += 1 + rnd(12)) {
		assert_int_equal(fs_write_file(store->dirfd, CACHE, text.buf, len, 0600, FS_FAST), 0);
		expect(store, records, 20);
	}
	strbuf_grow(&text, 72);
	strbuf_add(&text, text.buf, 72);
	assert_int_equal(fs_write_file(store->dirfd, CACHE, text.buf, text.len, 0600, FS_FAST), 0);
	expect(store, records, 0); /* what follows does not matter */
	sh("cd '%s'; rm " CACHE "; mkfifo " CACHE, store->path);
	expect(store, records, 20);
	keep(store);
	expect(store, records, 0);
	sh("cd '%s'; rm " CACHE "; mkdir " CACHE, store->path);
	expect(store, records, 20);
	keep(store);
	expect(store, records, 20);
	forget(store);
	keep(store);
	expect(store, records, 0);
	strbuf_release(&text);
	release(records, NR);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief_needs_no_commit_that_it_knows),
		cmocka_unit_test(test_brief_few_are_not_worth_a_file),
		cmocka_unit_test(test_brief_marks_count),
		cmocka_unit_test(test_brief_old_copy_is_harmless),
		cmocka_unit_test(test_brief_damage_is_harmless),
	};

	return cmocka_run_group_tests_name("brief", tests, unit_setup, unit_teardown);
}
