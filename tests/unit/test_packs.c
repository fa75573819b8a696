/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "store/pack.h"
#include "store/shadow.h"
#include "unit.h"

#include "packsmall.h"

enum { LARGE = 17 << 20 };

static void test_packs_give_back_what_was_written(void **state)
{
	struct packs *packs = packs_open(store->dirfd);
	struct strbuf out = STRBUF_INIT;
	enum object_type type;
	uint64_t size;

	(void)state;
	assert_int_equal(read_all(packs), OBJECTS);
	for (int i = 0; i < 2000; i++) {
		struct oid none;

		rnd_bytes(&none, sizeof(none));
		/* Also such as begin like one that is there. */
		if (i % 2)
			memcpy(&none, &objects[rnd(OBJECTS)].oid, 1 + rnd(19));
		if (!memcmp(&none, &objects[0].oid, OID_SIZE))
			continue;
		assert_false(packs_have(packs, &none));
		assert_int_equal(packs_read(&out, &type, packs, &none), CKPT_ENOTFOUND);
		assert_int_equal(packs_stat(&type, &size, packs, &none), CKPT_ENOTFOUND);
	}
	assert_int_equal(out.len, 0);
	packs_close(packs);
	packs_close(NULL);
}

static int read_item(size_t index, unsigned worker, void *payload)
{
	struct known *object = &objects[index % OBJECTS];
	struct strbuf data = STRBUF_INIT;
	int err = objects_read(&data, payload, &object->oid, object->type);

	(void)worker;
	if (!err && (data.len != object->data.len || memcmp(data.buf, object->data.buf, data.len)))
		err = ckpt_error_set(CKPT_ERROR, "wrong bytes");
	strbuf_release(&data);
	return err;
}

static void test_packs_may_be_read_by_many_threads(void **state)
{
	struct store *again = NULL;

	(void)state;
	assert_int_equal(store_open(&again, store->worktree), 0);
	assert_int_equal(objects_open(again), 0);
	assert_int_equal(pool_for(8, 2000, read_item, again), 0);
	store_close(again);
}

/* What stock git makes of a store: deltas, which are read here, and loose objects. */
static void test_packs_read_what_git_repacked(void **state)
{
	struct store *other = NULL;
	struct strbuf data = STRBUF_INIT, text = STRBUF_INIT;
	struct pack *pack;
	struct oid oids[8];

	(void)state;
	sh("mkdir other");
	assert_int_equal(store_open_or_create(&other, in_scratch("other")), 0);
	assert_int_equal(objects_open(other), 0);
	pack = pack_new(other, 1, 1);
	for (int i = 0; i < 8; i++) {
		/* Alike, so that git makes deltas. */
		strbuf_reset(&text);
		for (int line = 0; line < 200; line++)
			strbuf_addf(&text, "line %d %d\n", line, line == 7 * i ? i : 0);
		assert_int_equal(pack_add_new(pack, &oids[i], OBJECT_BLOB, text.buf, text.len), 0);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	sh("cd '%s'; export GIT_DIR=$PWD; p=$(echo objects/pack/*.pack); "
	   "git cat-file --batch-all-objects --batch-check='%%(objectname)' >names; "
	   "sed 1d names | git pack-objects -q --no-reuse-delta --window=50 --depth=50 "
	   "objects/pack/pack >/dev/null; "
	   "git cat-file blob $(sed -n 1p names) >first; rm -f $p ${p%%.pack}.idx; "
	   "git hash-object -w first >/dev/null; "
	   "test $(git verify-pack -v objects/pack/*.idx | grep -c '^chain length') -gt 0",
	   other->path);
	store_close(other);
	assert_int_equal(store_open(&other, in_scratch("other")), 0);
	assert_int_equal(objects_open(other), 0);
	for (int i = 0; i < 8; i++) {
		uint64_t size = 0;

		strbuf_reset(&text);
		for (int line = 0; line < 200; line++)
			strbuf_addf(&text, "line %d %d\n", line, line == 7 * i ? i : 0);
		strbuf_reset(&data);
		assert_int_equal(objects_read(&data, other, &oids[i], OBJECT_BLOB), 0);
		assert_string_equal(data.buf, text.buf);
		assert_int_equal(objects_size(&size, other, &oids[i]), 0);
		assert_int_equal(size, text.len);
		strbuf_reset(&data);
		assert_int_equal(objects_stream(other, &oids[i], gather, &data), 0);
		assert_string_equal(data.buf, text.buf);
	}
	store_close(other);
	strbuf_release(&data);
	strbuf_release(&text);
}

/* ---- large ones ---- */

struct counter {
	uint64_t len;
	size_t largest;
	int fail_at;
};

static int count_piece(const void *data, size_t len, void *payload)
{
	struct counter *counter = payload;

	for (size_t i = 0; i < len; i += 4099)
		assert_int_equal(((const char *)data)[i], 'y');
	counter->len += len;
	if (len > counter->largest)
		counter->largest = len;
	return counter->fail_at && !--counter->fail_at ? -55 : 0;
}

static void test_packs_stream_large_objects_in_pieces(void **state)
{
	struct strbuf big = STRBUF_INIT, back = STRBUF_INIT;
	struct counter counter = { 0 };
	struct store *other = NULL;
	struct pack *pack;
	struct oid oid;

	(void)state;
	sh("mkdir large");
	assert_int_equal(store_open_or_create(&other, in_scratch("large")), 0);
	assert_int_equal(objects_open(other), 0);
	strbuf_grow(&big, LARGE);
	memset(big.buf, 'y', LARGE);
	strbuf_setlen(&big, LARGE);
	pack = pack_new(other, 1, 1);
	assert_int_equal(pack_add_new(pack, &oid, OBJECT_BLOB, big.buf, big.len), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store_close(other);
	assert_int_equal(store_open(&other, in_scratch("large")), 0);
	assert_int_equal(objects_open(other), 0);
	assert_int_equal(packs_stream(other->packs, &oid, count_piece, &counter), 0);
	assert_int_equal(counter.len, LARGE);
	assert_true(counter.largest < LARGE / 8);
	counter = (struct counter){ .fail_at = 3 };
	assert_int_equal(packs_stream(other->packs, &oid, count_piece, &counter), -55);
	assert_true(counter.len < LARGE / 2);
	assert_int_equal(objects_read(&back, other, &oid, OBJECT_BLOB), 0);
	assert_int_equal(back.len, LARGE);
	assert_memory_equal(back.buf, big.buf, LARGE);
	store_close(other);
	strbuf_release(&big);
	strbuf_release(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_give_back_what_was_written),
		cmocka_unit_test(test_packs_may_be_read_by_many_threads),
		cmocka_unit_test(test_packs_read_what_git_repacked),
		cmocka_unit_test(test_packs_stream_large_objects_in_pieces),
	};

	return cmocka_run_group_tests_name("packs", tests, small_setup, small_teardown);
}
