/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "base/error.h"
#include "unit.h"

#include "packgen.h"

#include <inttypes.h>

/* The parts of the pack writer that can be looked at alone, and what reads objects back. */

static int by_oid(const void *a, const void *b)
{
	return memcmp(a, b, OID_SIZE);
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
		int fd =
			open(in_scratch("large.idx"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		for (size_t i = 0; i < nr; i++) {
			static const uint64_t edges[] = {
				12,	    0x7fffffff,	 0x80000000,	0x80000001,
				0xffffffff, 0x100000000, 0x7fffffffffff
			};

			rnd_bytes(&entries[i].oid, OID_SIZE);
			/* Crowd some of the fan-out, leave some of it empty. */
			entries[i].oid.id[0] &= 0xf3;
			entries[i].crc = (uint32_t)rnd64();
			entries[i].offset =
				i < ARRAY_SIZE(edges) ? edges[i] : rnd64() >> (20 + rnd(32));
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
		assert_int_equal(pack_add(pack, 0, objects[i].type, &objects[i].oid,
					  objects[i].data, objects[i].len),
				 0);
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	ask(&out->bytes, "cat '%s'/objects/pack/*.pack", out->store->path);
	ask(&index, "git show-index <$(echo '%s'/objects/pack/*.idx)", out->store->path);
	for (line = strtok_r(index.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct pack_entry *entry = &out->entries[out->nr++];
		char hex[OID_HEX + 1];

		assert_int_equal(sscanf(line, "%" SCNu64 " %40s (%x)", &entry->offset, hex,
					&entry->crc),
				 3);
		assert_true(oid_parse(&entry->oid, hex));
	}
	assert_int_equal(out->nr, nr);
	qsort(out->entries, nr, sizeof(*out->entries), by_offset);
	for (size_t i = 0; i < nr; i++)
		out->entries[i].len =
			(i + 1 < nr ? out->entries[i + 1].offset : out->bytes.len - OID_SIZE) -
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
			      finished->nr, false, threads, NULL);

	if (!err)
		assert_memory_equal(id.id, finished->bytes.buf + finished->bytes.len - OID_SIZE,
				    OID_SIZE);
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
		assert_int_equal(pwrite(finished.fd, finished.bytes.buf + bit / 8, 1,
					(off_t)(bit / 8)),
				 1);
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

static size_t told, told_total;

static void listen(const char *what, size_t done, size_t total, void *payload)
{
	(void)payload;
	assert_string_equal(what, "Reading back, in MB");
	assert_true(done >= told && done <= total);
	told = done;
	told_total = total;
}

/* What takes long says how far it is, to the end; the header of the pack does not count. */
static void test_pack_verify_tells_how_far_it_is(void **state)
{
	struct finished finished;
	struct object objects[2];
	struct oid id;

	(void)state;
	make_blob(&objects[0], 500);
	make_blob(&objects[1], 9000000);
	finish(&finished, objects, 2);
	assert_int_equal(pack_verify(&id, finished.fd, finished.bytes.len - OID_SIZE, finished.entries, 2,
				     false, 1, listen),
			 0);
	assert_true(told_total > 5);
	assert_true(told_total - told <= 1);
	free_objects(objects, 2);
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
	sh("chmod 600 '%s'/objects/pack/*.pack; perl -0777 -pi -e 's/plain/PLAIN/' "
	   "'%s'/objects/pack/*.pack",
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
	sh("chmod 600 '%s'/objects/pack/*.pack; truncate -s -1 $(ls '%s'/objects/pack/*.pack | "
	   "head -n 1)",
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
		struct strbuf tree = { .buf = xmemdupz(sound.buf, len),
				       .len = len,
				       .alloc = len + 1 };
		struct tree_entry entry;
		int rc, entries = 0;

		if (round)
			for (unsigned n = rnd(4); n && len; n--)
				tree.buf[rnd((unsigned)len)] = rnd(2) ? (char)rnd(256)
								      : " \0"
									"017"[rnd(5)];
		do {
			last = at;
			rc = objects_tree_next(&entry, &tree, &at);
			if (rc > 0) {
				entries++;
				assert_true(at > last && at <= len);
				assert_true(entry.name_len && strlen(entry.name) == entry.name_len);
				assert_true(entry.name + entry.name_len + 1 + OID_SIZE ==
					    tree.buf + at);
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
		cmocka_unit_test(test_pack_index_holds_large_offsets),
		cmocka_unit_test(test_pack_verify_notices_every_flipped_bit),
		cmocka_unit_test(test_pack_verify_tells_how_far_it_is),
		cmocka_unit_test(test_pack_verify_compares_names),
		cmocka_unit_test(test_objects_damage_is_told_from_absence),
		cmocka_unit_test(test_objects_fingerprint_changes_with_the_packs),
		cmocka_unit_test(test_tree_next_bears_any_bytes),
	};

	return cmocka_run_group_tests_name("pack_verify", tests, unit_setup, unit_teardown);
}
