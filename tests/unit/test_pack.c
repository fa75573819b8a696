/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/pool.h"
#include "unit.h"

#include "packgen.h"

#include <inttypes.h>

/*
 * Blobs of all sizes, a tree of all of them, a tree of nothing, commits: things
 * that hold together, so that git has nothing to complain about.
 */
enum { BLOBS = 300, OBJECTS = BLOBS + 8 };

static void make_objects(struct object objects[OBJECTS])
{
	static const size_t sizes[] = { 0,     1,      14,     15,     16,     17,   127,
					128,   2047,   2048,   2049,   4095,   4096, 65535,
					65536, 262143, 262144, 300000, 3000000 };
	struct strbuf tree = STRBUF_INIT, commit = STRBUF_INIT;
	char hex[OID_HEX + 1];

	for (size_t i = 0; i < BLOBS; i++)
		make_blob(&objects[i], i < ARRAY_SIZE(sizes) ? sizes[i] : rnd(2000));
	for (size_t i = 0; i < BLOBS; i++) {
		strbuf_addf(&tree, "100644 %05zu", i);
		strbuf_addch(&tree, '\0');
		strbuf_add(&tree, objects[i].oid.id, OID_SIZE);
	}
	make_object(&objects[BLOBS], OBJECT_TREE, tree.buf, tree.len);
	make_object(&objects[BLOBS + 1], OBJECT_TREE, "", 0);
	for (size_t i = BLOBS + 2; i < OBJECTS; i++) {
		strbuf_reset(&commit);
		strbuf_addf(&commit, "tree %s\n", oid_hex(hex, &objects[BLOBS + i % 2].oid));
		if (i > BLOBS + 2)
			strbuf_addf(&commit, "parent %s\n", oid_hex(hex, &objects[i - 1].oid));
		strbuf_addf(&commit, "author A <a@b> %zu +0000\ncommitter A <a@b> 0 +0000\n\nx\n",
			    i);
		make_object(&objects[i], OBJECT_COMMIT, commit.buf, commit.len);
	}
	strbuf_release(&tree);
	strbuf_release(&commit);
}
/* ---- against git ---- */

/* git finds nothing wrong with any pack, and would have made the same index. */
static void check_by_git(struct store *store)
{
	sh("export GIT_DIR='%s'; git fsck --full --strict --no-dangling >fsck.out 2>&1 || { cat "
	   "fsck.out; exit 1; }\n"
	   "for p in \"$GIT_DIR\"/objects/pack/*.pack; do\n"
	   "	git verify-pack \"$p\"\n"
	   "	git index-pack --strict -o check.idx \"$p\" >id.out\n"
	   "	cmp check.idx \"${p%%.pack}.idx\"\n"
	   "	test \"$p\" = \"$GIT_DIR/objects/pack/pack-$(cat id.out).pack\"\n"
	   "	rm -f check.idx check.rev\n"
	   "done",
	   store->path);
}

/* Every object comes back from `git cat-file` and from objects_read() as it was. */
static void check_contents(struct store *store, const struct object *objects, size_t nr)
{
	struct strbuf input = STRBUF_INIT, output = STRBUF_INIT, data = STRBUF_INIT;
	const char *p;

	for (size_t i = 0; i < nr; i++) {
		char hex[OID_HEX + 1];

		strbuf_addf(&input, "%s\n", oid_hex(hex, &objects[i].oid));
	}
	put_bytes(in_scratch("names"), input.buf, input.len);
	ask(&output, "git --git-dir='%s' cat-file --batch <names", store->path);
	p = output.buf;
	for (size_t i = 0; i < nr; i++) {
		char line[128], hex[OID_HEX + 1];
		uint64_t size = 0;

		snprintf(line, sizeof(line), "%s %s %zu\n", oid_hex(hex, &objects[i].oid),
			 objects_type_name(objects[i].type), objects[i].len);
		assert_memory_equal(p, line, strlen(line));
		p += strlen(line);
		assert_memory_equal(p, objects[i].data, objects[i].len);
		p += objects[i].len + 1;

		strbuf_reset(&data);
		assert_int_equal(objects_read(&data, store, &objects[i].oid, objects[i].type), 0);
		assert_int_equal(data.len, objects[i].len);
		assert_memory_equal(data.buf, objects[i].data, data.len);
		assert_int_equal(objects_size(&size, store, &objects[i].oid), 0);
		assert_int_equal(size, objects[i].len);
		assert_true(objects_exist(store, &objects[i].oid));
	}
	assert_ptr_equal(p, output.buf + output.len);
	strbuf_release(&input);
	strbuf_release(&output);
	strbuf_release(&data);
}

struct adding {
	struct pack *pack;
	const struct object *objects;
	size_t nr;
};

static int add_one(size_t index, unsigned worker, void *payload)
{
	struct adding *adding = payload;
	const struct object *object = &adding->objects[index % adding->nr];

	return pack_add(adding->pack, worker, object->type, &object->oid, object->data,
			object->len);
}

static void test_pack_git_reads_what_is_written(void **state)
{
	static const unsigned workers[] = { 1, 4, 3 }, levels[] = { 1, 6, 0 };
	static struct object objects[OBJECTS];

	(void)state;
	make_objects(objects);
	for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
		struct store *store = new_store();
		struct pack *pack = pack_new(store, workers[i], levels[i]);
		/* Each one twice: from whichever thread, it is written once. */
		struct adding adding = { pack, objects, OBJECTS };
		struct strbuf out = STRBUF_INIT;
		uint64_t bytes = 0, disk = 0;

		assert_true(pack_is_empty(pack));
		assert_int_equal(pool_for(workers[i], 2 * OBJECTS, add_one, &adding), 0);
		assert_false(pack_is_empty(pack));
		/* Nobody can see any of it yet. */
		assert_int_equal(count_packs(store, "pack-"), 0);
		assert_int_equal(pack_commit(pack, &bytes), 0);
		pack_free(pack);
		assert_int_equal(count_packs(store, "pack-"), 2);
		assert_int_equal(count_packs(store, ""), 2);
		store = reopen(store);
		check_by_git(store);
		check_contents(store, objects, OBJECTS);
		ask(&out,
		    "git --git-dir='%s' cat-file --batch-all-objects --batch-check | wc -l; "
		    "stat -c %%s '%s'/objects/pack/pack-* | awk '{ n += $1 } END { print n }'",
		    store->path, store->path);
		assert_int_equal(sscanf(out.buf, "%*d %" SCNu64, &disk), 1);
		assert_int_equal(atoi(out.buf), OBJECTS);
		assert_int_equal(bytes, disk);
		strbuf_release(&out);
		store_close(store);
	}
	free_objects(objects, OBJECTS);
}

static void test_pack_leaves_out_what_the_store_has(void **state)
{
	static struct object objects[OBJECTS];
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 2, 1);
	struct adding adding = { pack, objects, OBJECTS / 2 };
	struct strbuf out = STRBUF_INIT;
	uint64_t bytes = 1;

	(void)state;
	make_objects(objects);
	assert_int_equal(pool_for(2, OBJECTS / 2, add_one, &adding), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = reopen(store);
	pack = pack_new(store, 2, 1);
	adding = (struct adding){ pack, objects, OBJECTS / 2 };
	assert_int_equal(pool_for(2, OBJECTS / 2, add_one, &adding), 0);
	assert_true(pack_is_empty(pack));
	assert_int_equal(pack_commit(pack, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(count_packs(store, ""), 2);
	adding.nr = OBJECTS;
	assert_int_equal(pool_for(2, OBJECTS, add_one, &adding), 0);
	assert_int_equal(pack_commit(pack, &bytes), 0);
	pack_free(pack);
	store = reopen(store);
	check_by_git(store);
	check_contents(store, objects, OBJECTS);
	ask(&out, "for i in '%s'/objects/pack/*.idx; do git show-index <$i; done | wc -l",
	    store->path);
	assert_int_equal(atoi(out.buf), OBJECTS);
	strbuf_release(&out);
	store_close(store);
	free_objects(objects, OBJECTS);
}

static void test_pack_given_up_leaves_nothing(void **state)
{
	static struct object objects[OBJECTS];
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 1, 1);
	struct adding adding = { pack, objects, OBJECTS };

	(void)state;
	make_objects(objects);
	assert_int_equal(pool_for(1, OBJECTS, add_one, &adding), 0);
	assert_int_equal(count_packs(store, FS_TEMP_PREFIX), 1);
	pack_free(pack);
	assert_int_equal(count_packs(store, ""), 0);
	pack_free(NULL);
	pack = pack_new(store, 1, 1);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	assert_int_equal(count_packs(store, ""), 0);
	store_close(store);
	free_objects(objects, OBJECTS);
}

/* ---- streams ---- */

struct source {
	const char *data;
	size_t left;
	int fail;
};

static int read_source(void *buf, size_t size, void *payload)
{
	struct source *source = payload;
	size_t n = size < source->left ? size : source->left;

	/* Small pieces now and then. */
	if (n > 1000 && !rnd(4))
		n = 1 + rnd(1000);
	if (source->fail && source->left < 100000)
		return ckpt_error_set(source->fail, "the source ran dry");
	memcpy(buf, source->data, n);
	source->data += n;
	source->left -= n;
	return (int)n;
}

static int add_stream(struct pack *pack, struct oid *oid, size_t size, struct source *source)
{
	struct pack_source from = { .size = size, .read = read_source, .payload = source };

	return pack_add_stream(pack, oid, &from);
}

static void test_pack_streams_are_blobs_like_others(void **state)
{
	static const size_t sizes[] = { 0, 1, 262143, 262144, 262145, 1000000, 5000001, 6000000 };
	struct store *store = new_store();
	struct object objects[2 * ARRAY_SIZE(sizes) + 1];
	size_t nr = 0;

	(void)state;
	for (unsigned level = 1; level < 7; level += 5) {
		struct pack *pack = pack_new(store, 2, level);

		for (size_t i = 0; i < ARRAY_SIZE(sizes) - (level > 1); i++, nr++) {
			struct source source;
			struct oid oid;

			make_blob(&objects[nr], sizes[i]);
			/* One that can be compressed in some parts only. */
			if (i == 6)
				memset(objects[nr].data + 2000000, 'x', 2000000);
			{
				struct object again;

				make_object(&again, OBJECT_BLOB, objects[nr].data, sizes[i]);
				free(objects[nr].data);
				objects[nr] = again;
			}
			source = (struct source){ objects[nr].data, sizes[i], 0 };
			/* Between others that wait in a buffer. */
			if (i % 2) {
				struct oid small;
				char text[16];

				snprintf(text, sizeof(text), "%u %zu", level, i);
				assert_int_equal(pack_add_new(pack, &small, OBJECT_BLOB, text,
							      strlen(text)),
						 0);
			}
			assert_int_equal(add_stream(pack, &oid, sizes[i], &source),
					 0);
			assert_true(oid_equal(&oid, &objects[nr].oid));
			/* Again: read, found out, taken back. */
			source = (struct source){ objects[nr].data, sizes[i], 0 };
			memset(&oid, 0, sizeof(oid));
			assert_int_equal(add_stream(pack, &oid, sizes[i], &source),
					 0);
			assert_true(oid_equal(&oid, &objects[nr].oid));
		}
		assert_int_equal(pack_commit(pack, NULL), 0);
		pack_free(pack);
		store = reopen(store);
	}
	check_by_git(store);
	check_contents(store, objects, nr);
	free_objects(objects, nr);
	store_close(store);
}

static void test_pack_stream_that_fails_is_taken_back(void **state)
{
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 1, 1);
	struct object good[4], big;
	struct strbuf out = STRBUF_INIT;
	struct source source;
	struct oid oid = { { 7 } };

	(void)state;
	make_blob(&big, 3000000);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		make_blob(&good[i], 1000 + 1000000 * (i == 2));
		assert_int_equal(pack_add(pack, 0, OBJECT_BLOB, &good[i].oid, good[i].data,
					  good[i].len),
				 0);
		/* Too few bytes, too many, a reader that fails: each time nothing of it stays. */
		source = (struct source){ big.data, big.len - 1, 0 };
		assert_int_equal(add_stream(pack, &oid, big.len, &source),
				 CKPT_ERROR);
		source = (struct source){ big.data, big.len, 0 };
		assert_int_equal(add_stream(pack, &oid, big.len - 1, &source),
				 CKPT_ERROR);
		source = (struct source){ big.data, big.len, CKPT_ECANCELLED };
		assert_int_equal(add_stream(pack, &oid, big.len, &source),
				 CKPT_ECANCELLED);
		assert_string_equal(ckpt_error_last(), "the source ran dry");
		assert_int_equal(oid.id[0], 7);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = reopen(store);
	check_by_git(store);
	check_contents(store, good, ARRAY_SIZE(good));
	assert_false(objects_exist(store, &big.oid));
	ask(&out, "git --git-dir='%s' cat-file --batch-all-objects --batch-check | wc -l",
	    store->path);
	assert_int_equal(atoi(out.buf), ARRAY_SIZE(good));
	strbuf_release(&out);
	free_objects(good, ARRAY_SIZE(good));
	free_objects(&big, 1);
	store_close(store);
}

/* A store whose disk is full or gone fails with a message and leaves no pack. */
static void test_pack_commit_fails_cleanly(void **state)
{
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 1, 1);
	static char noise[400000];
	struct object object;

	(void)state;
	/* More than is held back in memory. */
	rnd_bytes(noise, sizeof(noise));
	make_object(&object, OBJECT_BLOB, noise, sizeof(noise));
	sh("rm -r '%s/objects/pack'", store->path);
	assert_int_not_equal(pack_add(pack, 0, OBJECT_BLOB, &object.oid, object.data, object.len),
			     0);
	assert_int_not_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	sh("mkdir '%s/objects/pack'", store->path);
	assert_int_equal(count_packs(store, ""), 0);
	free_objects(&object, 1);
	store_close(store);
}

/* What a tree or commit names must be there before, whatever has the tree itself. */
static void test_pack_demands_what_objects_name(void **state)
{
	static struct object objects[OBJECTS];
	struct store *store = new_store();

	(void)state;
	make_objects(objects);
	for (size_t left_out = rnd(60); left_out < OBJECTS; left_out += rnd(60) + 1) {
		struct pack *pack = pack_new(store, 1, 1);
		size_t i = 0;
		int err = 0;

		pack_demand_whole(pack);
		for (; i < OBJECTS && !err; i++)
			if (i != left_out)
				err = pack_add(pack, 0, objects[i].type, &objects[i].oid, objects[i].data,
					       objects[i].len);
		/* Nothing names the last one; of the others those that do cannot be added. */
		assert_int_equal(err, left_out == OBJECTS - 1 ? 0 : CKPT_ECORRUPT);
		assert_true(i - 1 > left_out || left_out == OBJECTS - 1);
		pack_free(pack);
	}
	free_objects(objects, OBJECTS);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_git_reads_what_is_written),
		cmocka_unit_test(test_pack_leaves_out_what_the_store_has),
		cmocka_unit_test(test_pack_given_up_leaves_nothing),
		cmocka_unit_test(test_pack_streams_are_blobs_like_others),
		cmocka_unit_test(test_pack_stream_that_fails_is_taken_back),
		cmocka_unit_test(test_pack_commit_fails_cleanly),
		cmocka_unit_test(test_pack_demands_what_objects_name),
	};

	return cmocka_run_group_tests_name("pack", tests, unit_setup, unit_teardown);
}
