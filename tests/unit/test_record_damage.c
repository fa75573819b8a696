/* SPDX-License-Identifier: MIT */
/* Records and metadata of any bytes: read, or refused with a sentence. */
#include "record/checkpoint.h"

#include "store/objects.h"
#include "unit.h"

#include "recordgen.h"

static const char id[] = "chk_20260930_123456_0af9be";

/* Any bytes as the commit, the metadata commit or one of the trees: read, or refused, no more. */
static void test_record_damaged_bytes_never_crash(void **state)
{
	enum { VARIANTS = 400 };
	struct store *store = recordgen_store("damage");
	struct strbuf text = STRBUF_INIT;
	static struct oid variants[VARIANTS];
	struct ckpt_record record;
	struct pack *pack;
	unsigned good = 0, bad = 0;

	(void)state;
	recordgen_random(&record, id);
	free(record.reason);
	record.reason = xstrdup("odd\n\xff");
	recordgen_save(store, &record);
	store = recordgen_reopen(store);
	assert_int_equal(objects_read(&text, store, &record.commit, OBJECT_COMMIT), 0);
	pack = pack_new(store, 1, 1);
	for (int i = 0; i < VARIANTS; i++) {
		size_t len = rnd(4) ? text.len : rnd((unsigned)text.len);
		char *copy = xmemdupz(text.buf, len);

		for (unsigned n = rnd(6); n && len; n--) {
			static const char odd[] = "\n\n\": \0\\0a";

			copy[rnd((unsigned)len)] =
				rnd(2) ? (char)rnd(256) : odd[rnd(sizeof(odd) - 1)];
		}
		assert_int_equal(pack_add_new(pack, &variants[i], OBJECT_COMMIT, copy, len), 0);
		free(copy);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);
	for (int i = 0; i < VARIANTS; i++) {
		struct ref_item ref = { .commit = variants[i] };
		struct ckpt_record back;
		int err;

		strcpy(ref.id, id);
		err = record_read(&back, store, &ref);
		if (err) {
			assert_int_equal(err, CKPT_ECORRUPT);
			assert_non_null(strstr(ckpt_error_last(), id));
			bad++;
			continue;
		}
		assert_true(back.type && back.reason && back.source && back.created_at);
		assert_int_equal(strlen(back.state_hash), STATEHASH_SIZE - 1);
		{
			struct ckpt_meta meta;

			err = meta_read(&meta, store, &back, false);
			assert_true(!err || err == CKPT_ECORRUPT);
			if (!err)
				meta_release(&meta);
		}
		good++;
		record_release(&back);
	}
	assert_true(good > 20);
	assert_true(bad > 50);
	record_release(&record);
	strbuf_release(&text);
	store_close(store);
}

/* The parts of the metadata, each replaced by noise. */
static void test_record_damaged_metadata_never_crash(void **state)
{
	struct store *store = recordgen_store("meta");
	struct pack *pack = pack_new(store, 1, 1);
	struct ckpt_record records[400];
	unsigned good = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		static const char *const names[] = { "left-out", "missing", "modes", "state",
						     "other" };
		struct strbuf tree = STRBUF_INIT, commit = STRBUF_INIT, bytes = STRBUF_INIT;
		struct oid oid;
		char hex[OID_HEX + 1];

		recordgen_plain(&records[i], id);
		for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
			static const char *const pieces[] = {
				"unreadable a", "special ", " ", "x", "100644 k", "oversize b c", ""
			};

			strbuf_reset(&bytes);
			for (unsigned k = rnd(3); k; k--) {
				strbuf_addstr(&bytes, pieces[rnd(ARRAY_SIZE(pieces))]);
				if (rnd(3))
					strbuf_addch(&bytes, 0);
			}
			if (n == 3 && rnd(3))
				strbuf_reset(&bytes);
			assert_int_equal(pack_add_new(pack, &oid,
						      (n == 3) == !rnd(6) ? OBJECT_BLOB
									  : OBJECT_TREE,
						      bytes.buf, bytes.len),
					 0);
			if (!rnd(8))
				rnd_bytes(&oid, sizeof(oid));
			strbuf_addf(&tree, "%s %s", strcmp(names[n], "state") ? "100644" : "40000",
				    names[n]);
			strbuf_addch(&tree, 0);
			strbuf_add(&tree, oid.id, OID_SIZE);
		}
		if (!rnd(4))
			strbuf_setlen(&tree, rnd((unsigned)tree.len));
		assert_int_equal(pack_add_new(pack, &oid, OBJECT_TREE, tree.buf, tree.len), 0);
		strbuf_addf(&commit, "tree %s\nx", oid_hex(hex, &oid));
		if (!rnd(6))
			strbuf_setlen(&commit, rnd((unsigned)commit.len));
		assert_int_equal(pack_add_new(pack, &records[i].meta, OBJECT_COMMIT, commit.buf,
					      commit.len),
				 0);
		strbuf_release(&tree);
		strbuf_release(&commit);
		strbuf_release(&bytes);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = recordgen_reopen(store);
	assert_int_equal(store_lock(store, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		struct ckpt_meta meta;
		int err = meta_read(&meta, store, &records[i], false);

		assert_true(!err || err == CKPT_ECORRUPT);
		if (err)
			assert_non_null(strstr(ckpt_error_last(), id));
		else
			meta_release(&meta);
		good += !err;
		record_release(&records[i]);
	}
	assert_true(good > 5);
	store_close(store);
}

static void test_record_missing_or_foreign_commits_are_damage(void **state)
{
	struct store *store = recordgen_store("foreign");
	struct ref_item ref = { .id = "" };
	struct ckpt_record record, back;

	(void)state;
	strcpy(ref.id, id);
	assert_int_equal(record_read(&back, store, &ref), CKPT_ECORRUPT);
	assert_non_null(strstr(ckpt_error_last(), "ref is empty"));
	memset(&ref.commit, 7, sizeof(ref.commit));
	/* What has no ref any more was let go while it was read, unless nobody else can do that. */
	assert_int_equal(record_read(&back, store, &ref), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "dropped by another process"));
	assert_int_equal(store_lock(store, 1), 0);
	assert_int_equal(record_read(&back, store, &ref), CKPT_ECORRUPT);
	assert_non_null(strstr(ckpt_error_last(), id));
	/* The record of one under the name of another. */
	recordgen_plain(&record, "chk_20260101_000000_000000");
	recordgen_save(store, &record);
	store = recordgen_reopen(store);
	assert_int_equal(store_lock(store, 1), 0);
	ref.commit = record.commit;
	assert_int_equal(record_read(&back, store, &ref), CKPT_ECORRUPT);
	ref.commit = record.tree;
	assert_int_equal(record_read(&back, store, &ref), CKPT_ECORRUPT);
	record_release(&record);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_damaged_bytes_never_crash),
		cmocka_unit_test(test_record_damaged_metadata_never_crash),
		cmocka_unit_test(test_record_missing_or_foreign_commits_are_damage),
	};

	return cmocka_run_group_tests_name("record: damage", tests, unit_setup, unit_teardown);
}
