/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/hash.h"
#include "base/pool.h"
#include "store/store.h"
#include "unit.h"

#include <dirent.h>
#include <inttypes.h>

/* ---- stores and objects ---- */

static struct store *new_store(void)
{
	static unsigned number;
	struct store *store = NULL;
	char worktree[2 * PATH_MAX];

	snprintf(worktree, sizeof(worktree), "%s/worktree%u", scratch, number++);
	assert_int_equal(mkdir(worktree, 0755), 0);
	assert_int_equal(store_open_or_create(&store, worktree), 0);
	assert_int_equal(objects_open(store), 0);
	return store;
}

static struct store *reopen(struct store *store)
{
	struct store *again = NULL;
	char *worktree = xstrdup(store->worktree);

	store_close(store);
	assert_int_equal(store_open(&again, worktree), 0);
	assert_int_equal(objects_open(again), 0);
	free(worktree);
	return again;
}

/* Names in objects/pack that begin with `prefix`. */
static unsigned count_packs(struct store *store, const char *prefix)
{
	char path[2 * PATH_MAX];
	struct dirent *ent;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/objects/pack", store->path);
	dir = opendir(path);
	assert_non_null(dir);
	while ((ent = readdir(dir)))
		n += ent->d_name[0] != '.' && !strncmp(ent->d_name, prefix, strlen(prefix));
	closedir(dir);
	return n;
}

struct object {
	enum object_type type;
	struct oid oid;
	char *data;
	size_t len;
};

static void make_object(struct object *out, enum object_type type, const void *data, size_t len)
{
	struct digest *sha1 = digest_new(HASH_SHA1);

	out->type = type;
	out->data = xmemdupz(data, len);
	out->len = len;
	hash_object(sha1, &out->oid, object_type_name(type), data, len);
	digest_free(sha1);
}

static void make_blob(struct object *out, size_t len)
{
	char *data = xmalloc(len + 1);

	/* Some that can be compressed and some that cannot. */
	if (rnd(2))
		rnd_bytes(data, len);
	else
		for (size_t i = 0; i < len; i++)
			data[i] = "abcdefgh"[rnd(8)];
	make_object(out, OBJECT_BLOB, data, len);
	free(data);
}

static int by_oid(const void *a, const void *b)
{
	return memcmp(a, b, OID_SIZE);
}

/*
 * Blobs of all sizes, a tree of all of them, a tree of nothing, commits: things
 * that hold together, so that git has nothing to complain about.
 */
enum { BLOBS = 300, OBJECTS = BLOBS + 8 };

static void make_objects(struct object objects[OBJECTS])
{
	static const size_t sizes[] = { 0,    1,    14,	  15,	16,   17,    127,   128,     2047,   2048,
					2049, 4095, 4096, 65535, 65536, 262143, 262144, 300000, 3000000 };
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
		strbuf_addf(&commit, "author A <a@b> %zu +0000\ncommitter A <a@b> 0 +0000\n\nx\n", i);
		make_object(&objects[i], OBJECT_COMMIT, commit.buf, commit.len);
	}
	strbuf_release(&tree);
	strbuf_release(&commit);
}

static void free_objects(struct object *objects, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(objects[i].data);
}

/* ---- against git ---- */

/* git finds nothing wrong with any pack, and would have made the same index. */
static void check_by_git(struct store *store)
{
	sh("export GIT_DIR='%s'; git fsck --full --strict --no-dangling >fsck.out 2>&1 || { cat fsck.out; exit 1; }\n"
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
			 object_type_name(objects[i].type), objects[i].len);
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

	return pack_add(adding->pack, worker, object->type, &object->oid, object->data, object->len);
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
		ask(&out, "git --git-dir='%s' cat-file --batch-all-objects --batch-check | wc -l; "
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
	ask(&out, "for i in '%s'/objects/pack/*.idx; do git show-index <$i; done | wc -l", store->path);
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
			assert_int_equal(pack_add_stream(pack, &oid, sizes[i], read_source, &source), 0);
			assert_true(oid_equal(&oid, &objects[nr].oid));
			/* Again: read, found out, taken back. */
			source = (struct source){ objects[nr].data, sizes[i], 0 };
			memset(&oid, 0, sizeof(oid));
			assert_int_equal(pack_add_stream(pack, &oid, sizes[i], read_source, &source), 0);
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
		assert_int_equal(pack_add(pack, 0, OBJECT_BLOB, &good[i].oid, good[i].data, good[i].len), 0);
		/* Too few bytes, too many, a reader that fails: each time nothing of it stays. */
		source = (struct source){ big.data, big.len - 1, 0 };
		assert_int_equal(pack_add_stream(pack, &oid, big.len, read_source, &source), CKPT_ERROR);
		source = (struct source){ big.data, big.len, 0 };
		assert_int_equal(pack_add_stream(pack, &oid, big.len - 1, read_source, &source), CKPT_ERROR);
		source = (struct source){ big.data, big.len, CKPT_ECANCELLED };
		assert_int_equal(pack_add_stream(pack, &oid, big.len, read_source, &source),
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
	ask(&out, "git --git-dir='%s' cat-file --batch-all-objects --batch-check | wc -l", store->path);
	assert_int_equal(atoi(out.buf), ARRAY_SIZE(good));
	strbuf_release(&out);
	free_objects(good, ARRAY_SIZE(good));
	free_objects(&big, 1);
	store_close(store);
}

/* ---- the index ---- */

/* Offsets of packs that no test could write: git reads them back from the index. */
static void test_pack_index_holds_large_offsets(void **state)
{
	enum { NR = 3000 };
	struct pack_entry *entries = xcalloc(NR, sizeof(*entries));
	struct oid pack_id;

	(void)state;
	rnd_bytes(&pack_id, sizeof(pack_id));
	for (int round = 0; round < 3; round++) {
		size_t nr = round == 0 ? 0 : round == 1 ? 1 : NR;
		struct strbuf out = STRBUF_INIT;
		const char *p;
		int fd = open(in_scratch("large.idx"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		for (size_t i = 0; i < nr; i++) {
			static const uint64_t edges[] = { 12, 0x7fffffff, 0x80000000, 0x80000001,
							  0xffffffff, 0x100000000, 0x7fffffffffff };

			rnd_bytes(&entries[i].oid, OID_SIZE);
			/* Crowd some of the fan-out, leave some of it empty. */
			entries[i].oid.id[0] &= 0xf3;
			entries[i].crc = (uint32_t)rnd64();
			entries[i].offset = i < ARRAY_SIZE(edges) ? edges[i] : rnd64() >> (20 + rnd(32));
		}
		qsort(entries, nr, sizeof(*entries), by_oid);
		assert_int_equal(pack_write_index(fd, entries, nr, &pack_id), 0);
		close(fd);
		ask(&out, "git show-index <large.idx");
		p = out.buf;
		for (size_t i = 0; i < nr; i++) {
			char line[128], hex[OID_HEX + 1];

			snprintf(line, sizeof(line), "%" PRIu64 " %s (%08x)\n", entries[i].offset,
				 oid_hex(hex, &entries[i].oid), entries[i].crc);
			assert_memory_equal(p, line, strlen(line));
			p += strlen(line);
		}
		assert_string_equal(p, "");
		strbuf_release(&out);
	}
	free(entries);
}

/* ---- verifying ---- */

/* A finished pack, and what its index says of it. */
struct finished {
	struct store *store;
	struct strbuf bytes;
	struct pack_entry entries[16];
	size_t nr;
	int fd; /* of a copy */
};

static int by_offset(const void *x, const void *y)
{
	const struct pack_entry *a = x, *b = y;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void finish(struct finished *out, struct object *objects, size_t nr)
{
	struct pack *pack;
	struct strbuf index = STRBUF_INIT;
	char *line, *rest = NULL;

	memset(out, 0, sizeof(*out));
	strbuf_init(&out->bytes);
	out->store = new_store();
	pack = pack_new(out->store, 1, 1);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(pack_add(pack, 0, objects[i].type, &objects[i].oid, objects[i].data,
					  objects[i].len),
				 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	ask(&out->bytes, "cat '%s'/objects/pack/*.pack", out->store->path);
	ask(&index, "git show-index <$(echo '%s'/objects/pack/*.idx)", out->store->path);
	for (line = strtok_r(index.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct pack_entry *entry = &out->entries[out->nr++];
		char hex[OID_HEX + 1];

		assert_int_equal(sscanf(line, "%" SCNu64 " %40s (%x)", &entry->offset, hex, &entry->crc), 3);
		assert_true(oid_parse(&entry->oid, hex));
	}
	assert_int_equal(out->nr, nr);
	qsort(out->entries, nr, sizeof(*out->entries), by_offset);
	for (size_t i = 0; i < nr; i++)
		out->entries[i].len = (i + 1 < nr ? out->entries[i + 1].offset : out->bytes.len - OID_SIZE) -
				      out->entries[i].offset;
	put_bytes(in_scratch("copy.pack"), out->bytes.buf, out->bytes.len);
	out->fd = open(in_scratch("copy.pack"), O_RDWR | O_CLOEXEC);
	strbuf_release(&index);
}

static void finished_release(struct finished *finished)
{
	store_close(finished->store);
	strbuf_release(&finished->bytes);
	close(finished->fd);
}

static int verify(struct finished *finished, unsigned threads)
{
	struct oid id;
	int err = pack_verify(&id, finished->fd, finished->bytes.len - OID_SIZE, finished->entries,
			      finished->nr, threads);

	if (!err)
		assert_memory_equal(id.id, finished->bytes.buf + finished->bytes.len - OID_SIZE, OID_SIZE);
	return err;
}

static void test_pack_verify_notices_every_flipped_bit(void **state)
{
	struct finished finished;
	struct object objects[6];

	(void)state;
	make_blob(&objects[0], 0);
	make_blob(&objects[1], 40);
	make_blob(&objects[2], 300);
	make_object(&objects[3], OBJECT_TREE, "", 0);
	make_object(&objects[4], OBJECT_COMMIT, "tree", 4);
	make_object(&objects[5], OBJECT_BLOB, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36);
	finish(&finished, objects, 6);
	assert_int_equal(verify(&finished, 1), 0);
	assert_int_equal(verify(&finished, 3), 0);
	for (size_t bit = 0; bit < (finished.bytes.len - OID_SIZE) * 8; bit++) {
		char byte = finished.bytes.buf[bit / 8] ^ (char)(1 << bit % 8);

		assert_int_equal(pwrite(finished.fd, &byte, 1, (off_t)(bit / 8)), 1);
		if (verify(&finished, 1) != CKPT_ECORRUPT)
			fail_msg("bit %zu of byte %zu makes no difference", bit % 8, bit / 8);
		assert_int_equal(pwrite(finished.fd, finished.bytes.buf + bit / 8, 1, (off_t)(bit / 8)), 1);
	}
	assert_int_equal(verify(&finished, 2), 0);
	/* Cut off anywhere. */
	for (size_t len = finished.bytes.len - OID_SIZE; len--;) {
		assert_int_equal(ftruncate(finished.fd, (off_t)len), 0);
		assert_int_not_equal(verify(&finished, 1 + len % 2), 0);
	}
	free_objects(objects, 6);
	finished_release(&finished);
}

/* Right checksums over the wrong contents: the name still tells. */
static void test_pack_verify_compares_names(void **state)
{
	struct finished finished;
	struct object objects[2];

	(void)state;
	make_blob(&objects[0], 500);
	make_blob(&objects[1], 9000000); /* too large to be checked in memory */
	finish(&finished, objects, 2);
	assert_int_equal(verify(&finished, 2), 0);
	for (int i = 0; i < 2; i++) {
		finished.entries[i].oid.id[5] ^= 4;
		assert_int_equal(verify(&finished, 2), CKPT_ECORRUPT);
		finished.entries[i].oid.id[5] ^= 4;
		finished.entries[i].crc ^= 1;
		assert_int_equal(verify(&finished, 2), CKPT_ECORRUPT);
		finished.entries[i].crc ^= 1;
	}
	/* Of the large one some bits all over it. */
	for (int round = 0; round < 12; round++) {
		size_t at = 12 + rnd((unsigned)(finished.bytes.len - OID_SIZE - 12));
		char byte = finished.bytes.buf[at] ^ (char)(1 << rnd(8));

		assert_int_equal(pwrite(finished.fd, &byte, 1, (off_t)at), 1);
		assert_int_equal(verify(&finished, 2), CKPT_ECORRUPT);
		assert_int_equal(pwrite(finished.fd, finished.bytes.buf + at, 1, (off_t)at), 1);
	}
	free_objects(objects, 2);
	finished_release(&finished);
}

/* A store whose disk is full or gone fails with a sentence and leaves no pack behind. */
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
	assert_int_not_equal(pack_add(pack, 0, OBJECT_BLOB, &object.oid, object.data, object.len), 0);
	assert_int_not_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	sh("mkdir '%s/objects/pack'", store->path);
	assert_int_equal(count_packs(store, ""), 0);
	free_objects(&object, 1);
	store_close(store);
}

/* ---- trees and objects ---- */

static void test_objects_damage_is_told_from_absence(void **state)
{
	struct store *store = new_store();
	struct pack *pack = pack_new(store, 1, 0);
	struct strbuf out = STRBUF_INIT;
	struct oid oid, none = { { 9 } };

	(void)state;
	assert_int_equal(pack_add_new(pack, &oid, OBJECT_BLOB, "some plain text to find", 23), 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	store = reopen(store);
	assert_int_equal(objects_read(&out, store, &none, OBJECT_BLOB), CKPT_ENOTFOUND);
	assert_int_equal(objects_read(&out, store, &oid, OBJECT_TREE), CKPT_ECORRUPT);
	assert_int_equal(out.len, 0);
	sh("chmod 600 '%s'/objects/pack/*.pack; perl -0777 -pi -e 's/plain/PLAIN/' '%s'/objects/pack/*.pack",
	   store->path, store->path);
	store = reopen(store);
	assert_int_equal(objects_read(&out, store, &oid, OBJECT_BLOB), CKPT_ECORRUPT);
	strbuf_release(&out);
	store_close(store);
}

static void test_objects_fingerprint_changes_with_the_packs(void **state)
{
	struct store *store = new_store();
	uint64_t seen[4];
	struct oid oid;

	(void)state;
	seen[0] = objects_packs_fingerprint(store);
	for (int i = 1; i < 3; i++) {
		struct pack *pack = pack_new(store, 1, 0);
		char text[8];

		snprintf(text, sizeof(text), "%u", (unsigned)i % 10);
		assert_int_equal(pack_add_new(pack, &oid, OBJECT_BLOB, text, 1), 0);
		assert_int_equal(pack_commit(pack, NULL), 0);
		pack_free(pack);
		seen[i] = objects_packs_fingerprint(store);
		assert_int_equal(objects_packs_fingerprint(store), seen[i]);
	}
	sh("chmod 600 '%s'/objects/pack/*.pack; truncate -s -1 $(ls '%s'/objects/pack/*.pack | head -n 1)",
	   store->path, store->path);
	seen[3] = objects_packs_fingerprint(store);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			assert_true(seen[i] != seen[j]);
	store_close(store);
}

/* Any bytes for a tree: entries or CKPT_ECORRUPT, nothing read outside of them. */
static void test_tree_next_bears_any_bytes(void **state)
{
	struct strbuf sound = STRBUF_INIT;
	size_t whole = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		strbuf_addf(&sound, "%o name%d", i % 2 ? 0100644 : 040000, i);
		strbuf_add(&sound, "\0aaaaaaaaaaaaaaaaaaaa", 21);
	}
	for (int round = 0; round < 30000; round++) {
		size_t len = rnd(2) ? sound.len : rnd((unsigned)sound.len), at = 0, last;
		struct strbuf tree = { .buf = xmemdupz(sound.buf, len), .len = len, .alloc = len + 1 };
		struct tree_entry entry;
		int rc, entries = 0;

		if (round)
			for (unsigned n = rnd(4); n && len; n--)
				tree.buf[rnd((unsigned)len)] = rnd(2) ? (char)rnd(256) : " \0" "017"[rnd(5)];
		do {
			last = at;
			rc = tree_next(&entry, &tree, &at);
			if (rc > 0) {
				entries++;
				assert_true(at > last && at <= len);
				assert_true(entry.name_len && strlen(entry.name) == entry.name_len);
				assert_true(entry.name + entry.name_len + 1 + OID_SIZE == tree.buf + at);
			}
		} while (rc > 0);
		assert_true(rc == 0 || rc == CKPT_ECORRUPT);
		assert_true(rc || at == len);
		whole += entries == 5 && !rc;
		strbuf_release(&tree);
	}
	assert_true(whole > 100);
	strbuf_release(&sound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_git_reads_what_is_written),
		cmocka_unit_test(test_pack_leaves_out_what_the_store_has),
		cmocka_unit_test(test_pack_given_up_leaves_nothing),
		cmocka_unit_test(test_pack_streams_are_blobs_like_others),
		cmocka_unit_test(test_pack_stream_that_fails_is_taken_back),
		cmocka_unit_test(test_pack_index_holds_large_offsets),
		cmocka_unit_test(test_pack_verify_notices_every_flipped_bit),
		cmocka_unit_test(test_pack_verify_compares_names),
		cmocka_unit_test(test_pack_commit_fails_cleanly),
		cmocka_unit_test(test_objects_damage_is_told_from_absence),
		cmocka_unit_test(test_objects_fingerprint_changes_with_the_packs),
		cmocka_unit_test(test_tree_next_bears_any_bytes),
	};

	return cmocka_run_group_tests_name("pack", tests, unit_setup, unit_teardown);
}
