/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "base/error.h"
#include "base/fs.h"
#include "unit.h"

#include "packgen.h"

/* What a piece and a batch of the writer are: where one ends, the next must fit. */
enum { PIECE = 256 << 10, BATCH = 16 * PIECE };

struct source {
	const char *data;
	size_t left;
};

static int read_source(void *buf, size_t size, void *payload)
{
	struct source *source = payload;
	size_t n = size < source->left ? size : source->left;

	memcpy(buf, source->data, n);
	source->data += n;
	source->left -= n;
	return (int)n;
}

/* Stretches of noise, of text that repeats itself far and near, and of nothing. */
static void make_mixed(struct object *out, size_t len)
{
	char *data = xmalloc(len + 1);

	for (size_t at = 0; at < len;) {
		size_t n = 1 + rnd(rnd(2) ? PIECE : BATCH / 2);

		n = n < len - at ? n : len - at;
		switch (rnd(4)) {
		case 0:
			rnd_bytes(data + at, n);
			break;
		case 1:
			memset(data + at, 0, n);
			break;
		case 2:
			for (size_t i = 0; i < n; i++)
				data[at + i] = "abcdefgh"[rnd(8)];
			break;
		default:
			n = n < at ? n : at;
			memmove(data + at, data + (at - n), n);
			break;
		}
		at += n;
	}
	make_object(out, OBJECT_BLOB, data, len);
	free(data);
}

static int add(struct pack *pack, const struct object *object, const struct oid *name,
	       struct digest *sha256)
{
	struct source source = { object->data, object->len };
	struct pack_source from = { .size = object->len, .read = read_source, .payload = &source,
				    .name = name, .sha256 = sha256 };
	struct oid oid;
	int err = pack_add_stream(pack, &oid, &from);

	if (!err && !name)
		assert_true(oid_equal(&oid, &object->oid));
	return err;
}

static int compare_piece(const void *data, size_t len, void *payload)
{
	struct source *source = payload;

	assert_true(len <= source->left);
	assert_memory_equal(data, source->data, len);
	source->data += len;
	source->left -= len;
	return 0;
}

static void check_stored(struct store *store, const struct object *object)
{
	struct source source = { object->data, object->len };

	assert_int_equal(objects_stream(store, &object->oid, compare_piece, &source), 0);
	assert_int_equal(source.left, 0);
}

static void check_by_git(struct store *store)
{
	sh("export GIT_DIR='%s'; git fsck --full --strict --no-dangling", store->path);
}

/* Store all of them with a number of threads; the name of the pack, which is that of its bytes. */
static struct oid store_all(const struct object *objects, size_t nr, unsigned threads,
			    unsigned level, bool named)
{
	struct store *store = new_store();
	struct pack *pack = pack_new(store, threads, level);
	struct digest *sha256 = hash_new(HASH_SHA256);
	unsigned char is[SHA256_SIZE], must_be[SHA256_SIZE];
	struct oid id;

	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(add(pack, &objects[i], named ? &objects[i].oid : NULL, sha256), 0);
		hash_end(sha256, is);
		hash_buffer(HASH_SHA256, must_be, objects[i].data, objects[i].len);
		assert_memory_equal(is, must_be, sizeof(is));
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	id = *pack_id(pack);
	for (size_t i = 0; i < nr; i++)
		assert_true(pack_wrote(pack, &objects[i].oid));
	pack_free(pack);
	hash_free(sha256);
	store = reopen(store);
	check_by_git(store);
	for (size_t i = 0; i < nr; i++)
		check_stored(store, &objects[i]);
	store_close(store);
	return id;
}

static void test_pack_stream_is_the_same_with_any_number_of_threads(void **state)
{
	static const size_t sizes[] = { BATCH, BATCH + 1, 2 * BATCH - 1, BATCH + 100, BATCH - PIECE };
	struct object objects[ARRAY_SIZE(sizes) + 1];
	struct oid one;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		make_mixed(&objects[i], i < ARRAY_SIZE(sizes) ? sizes[i] : 1 + rnd(2 * BATCH));
	for (unsigned level = 0; level <= 1; level++) {
		one = store_all(objects, ARRAY_SIZE(objects), 1, level, false);
		for (unsigned threads = 2; threads <= 5; threads += 3) {
			struct oid many = store_all(objects, ARRAY_SIZE(objects), threads, level,
						    threads == 5);

			assert_true(oid_equal(&one, &many));
		}
	}
	free_objects(objects, ARRAY_SIZE(objects));
}

/* What was named and then changed does not become part of the store under the wrong name. */
static void test_pack_stream_with_the_name_of_another_is_refused(void **state)
{
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 2, 1);
	struct object object;
	struct oid named;

	(void)state;
	make_mixed(&object, BATCH + 1 + rnd(BATCH));
	named = object.oid;
	object.data[rnd((unsigned)object.len)] ^= 1;
	assert_int_equal(add(pack, &object, &named, NULL), 0);
	assert_int_equal(pack_commit(pack, NULL), CKPT_ECORRUPT);
	assert_false(pack_wrote(pack, &named));
	pack_free(pack);
	assert_int_equal(count_packs(store, ""), 0);
	free_objects(&object, 1);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_stream_is_the_same_with_any_number_of_threads),
		cmocka_unit_test(test_pack_stream_with_the_name_of_another_is_refused),
	};

	return cmocka_run_group_tests_name("pack_stream", tests, unit_setup, unit_teardown);
}
