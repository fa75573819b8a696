/* SPDX-License-Identifier: MIT */
/* Packs with deltas that nobody makes, or that somebody made to harm us. */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/pack.h"
#include "unit.h"

#include "packprobe.h"

#include <zlib.h>

/* Begin a pack by hand; `hand/objects/pack` has nothing else. */
static void begin(struct strbuf *pack)
{
	sh("rm -f hand/objects/pack/*");
	strbuf_reset(pack);
	strbuf_add(pack, "PACK\0\0\0\2\0\0\0\0", PACK_HEADER_SIZE);
}

/* Add what stands before the bytes: type, size, and where the base is. Returns the offset. */
static size_t head(struct strbuf *pack, int type, uint64_t size)
{
	size_t at = pack->len;
	unsigned char c = (unsigned char)(type << 4 | (size & 15));

	for (size >>= 4; size; size >>= 7) {
		strbuf_addch(pack, c | 0x80);
		c = size & 0x7f;
	}
	strbuf_addch(pack, c);
	return at;
}

static void deflated(struct strbuf *pack, const void *data, size_t len)
{
	unsigned char out[4096];
	uLongf size = sizeof(out);

	assert_int_equal(compress(out, &size, data, len), Z_OK);
	strbuf_add(pack, out, size);
}

/* Distances of two bytes at most. */
static void distance(struct strbuf *pack, size_t value)
{
	if (value > 127)
		strbuf_addch(pack, (int)(0x80 | ((value >> 7) - 1)));
	strbuf_addch(pack, (int)(value & 0x7f));
}

static int by_oid(const void *a, const void *b)
{
	return memcmp(a, b, OID_SIZE);
}

static struct packs *finish(struct strbuf *pack, const char *name, struct pack_entry *entries,
			    size_t nr)
{
	struct pack_entry *sorted = xcalloc(nr, sizeof(*sorted));
	struct packs *packs;
	struct oid id;
	int fd;

	rnd_bytes(&id, sizeof(id));
	strbuf_add(pack, id.id, OID_SIZE);
	put_bytes(in_scratch("hand/objects/pack/pack-%s.pack", name), pack->buf, pack->len);
	fd = open(in_scratch("hand/objects/pack/pack-%s.idx", name),
		  O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	memcpy(sorted, entries, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_oid);
	assert_int_equal(pack_write_index(fd, sorted, nr, &id), 0);
	close(fd);
	free(sorted);
	fd = open_dir("hand");
	packs = packs_open(fd);
	close(fd);
	return packs;
}

static void name_blob(struct oid *out, const char *text)
{
	struct digest *sha1 = hash_new(HASH_SHA1);

	hash_object(sha1, out, "blob", text, strlen(text));
	hash_free(sha1);
}

/* One object that cannot be read, in any way, and costs neither time nor memory. */
static void is_damaged(struct packs *packs, const struct oid *oid)
{
	struct strbuf out = STRBUF_INIT;
	enum object_type type;

	assert_int_equal(packs_read(&out, &type, packs, oid), CKPT_ECORRUPT);
	assert_int_equal(out.len, 0);
	assert_int_equal(packs_stream(packs, oid, gather, &out), CKPT_ECORRUPT);
	assert_int_equal(out.len, 0);
	assert_false(packs_sound(packs, oid));
	assert_true(out.alloc < 1 << 20);
	strbuf_release(&out);
}

static void test_packs_delta_circles_are_damage(void **state)
{
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entries[3] = { 0 };
	enum object_type type;
	struct packs *packs;
	uint64_t size;

	(void)state;
	begin(&pack);
	for (int i = 0; i < 3; i++)
		rnd_bytes(&entries[i].oid, OID_SIZE);
	for (int i = 0; i < 3; i++) {
		entries[i].offset = head(&pack, 7, 4);
		/* Two that are made from each other, and one from itself. */
		strbuf_add(&pack, entries[i == 2 ? 2 : !i].oid.id, OID_SIZE);
		deflated(&pack, "\x01\x01\x90\x01", 4);
	}
	packs = finish(&pack, "circle", entries, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(packs_stat(&type, &size, packs, &entries[i].oid), CKPT_ECORRUPT);
		is_damaged(packs, &entries[i].oid);
	}
	packs_close(packs);
	strbuf_release(&pack);
}

static void test_packs_delta_chains_have_a_limit(void **state)
{
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entry = { 0 };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	name_blob(&entry.oid, "a");
	for (int links = 4094; links <= 4097; links++) {
		enum object_type type;
		struct packs *packs;
		size_t before;

		begin(&pack);
		before = head(&pack, OBJECT_BLOB, 1);
		deflated(&pack, "a", 1);
		for (int i = 0; i < links; i++) {
			size_t at = head(&pack, 6, 4);

			distance(&pack, at - before);
			deflated(&pack, "\x01\x01\x90\x01", 4);
			before = at;
		}
		entry.offset = before;
		packs = finish(&pack, "long", &entry, 1);
		if (links <= 4095) {
			strbuf_reset(&out);
			assert_int_equal(packs_read(&out, &type, packs, &entry.oid), 0);
			assert_string_equal(out.buf, "a");
		} else {
			is_damaged(packs, &entry.oid);
		}
		packs_close(packs);
	}
	strbuf_release(&pack);
	strbuf_release(&out);
}

static void test_packs_delta_bases_may_be_in_another_pack(void **state)
{
	struct strbuf pack = STRBUF_INIT, out = STRBUF_INIT;
	struct pack_entry base = { 0 }, entry = { 0 };
	enum object_type type;
	struct packs *packs;
	uint64_t size;

	(void)state;
	name_blob(&base.oid, "hello");
	name_blob(&entry.oid, "hello!");
	begin(&pack);
	base.offset = head(&pack, OBJECT_BLOB, 5);
	deflated(&pack, "hello", 5);
	packs_close(finish(&pack, "base", &base, 1));
	strbuf_setlen(&pack, PACK_HEADER_SIZE);
	entry.offset = head(&pack, 7, 6);
	strbuf_add(&pack, base.oid.id, OID_SIZE);
	deflated(&pack, "\x05\x06\x90\x05\x01!", 6);
	packs = finish(&pack, "thin", &entry, 1);
	assert_int_equal(packs_stat(&type, &size, packs, &entry.oid), 0);
	assert_int_equal(size, 6);
	assert_int_equal(type, OBJECT_BLOB);
	assert_int_equal(packs_read(&out, &type, packs, &entry.oid), 0);
	assert_string_equal(out.buf, "hello!");
	packs_close(packs);
	/* And without that one it cannot be made. */
	sh("rm hand/objects/pack/pack-base.*");
	packs = finish(&pack, "thin", &entry, 1);
	is_damaged(packs, &entry.oid);
	packs_close(packs);
	strbuf_release(&pack);
	strbuf_release(&out);
}

/* Distances, sizes and instructions that lead nowhere. */
static void test_packs_delta_promises_are_not_believed(void **state)
{
	static const struct {
		const char *distance; /* as it stands there */
		size_t distance_len;
		uint64_t size;
		const char *delta;
		size_t len;
	} cases[] = {
		{ "\x00", 1, 4, "\x01\x01\x90\x01", 4 }, /* itself */
		{ "\x0b", 1, 4, "\x01\x01\x90\x01", 4 }, /* not the begin of an object */
		{ "\x7f", 1, 4, "\x01\x01\x90\x01", 4 }, /* before the pack */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, 4, "\x01\x01\x90\x01", 4 },
		{ "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\x7f", 9, 4, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 5, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 3, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 0, "", 0 },
		{ NULL, 0, 1ull << 50, "\x01\x01\x90\x01", 4 }, /* a delta of petabytes */
		{ NULL, 0, 1ull << 62, "\x01\x01\x90\x01", 4 },
		{ NULL, 0, 11, "\x01\xff\xff\xff\xff\xff\xff\x7f\x90\x01", 10 },
		{ NULL, 0, 10, "\x01\xff\xff\xff\xff\xff\xff\x7f\x90\x01", 10 }, /* or result */
		{ NULL, 0, 4, "\x02\x01\x90\x01", 4 },
		{ NULL, 0, 5, "\x01\x01\x91\x01\x01", 5 },
		{ NULL, 0, 4, "\x01\x01\x01z", 4 }, /* sound, but not "a" */
	};
	struct strbuf pack = STRBUF_INIT;
	struct pack_entry entry = { 0 };

	(void)state;
	name_blob(&entry.oid, "a");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum object_type type;
		struct packs *packs;
		size_t base;
		uint64_t size;

		begin(&pack);
		base = head(&pack, OBJECT_BLOB, 1);
		deflated(&pack, "a", 1);
		entry.offset = head(&pack, 6, cases[i].size);
		if (cases[i].distance)
			strbuf_add(&pack, cases[i].distance, cases[i].distance_len);
		else
			distance(&pack, entry.offset - base);
		deflated(&pack, cases[i].delta, cases[i].len);
		packs = finish(&pack, "odd", &entry, 1);
		is_damaged(packs, &entry.oid);
		(void)packs_stat(&type, &size, packs, &entry.oid);
		packs_close(packs);
	}
	/* The pack ends within what stands before the bytes. */
	for (int i = 0; i < 5; i++) {
		struct packs *packs;

		begin(&pack);
		entry.offset = head(&pack, i < 2 ? 6 : 7, i == 4 ? UINT64_MAX : 4);
		if (i % 2)
			strbuf_add(&pack, i == 1 ? "\xff" : "0123456789012345678", i == 1 ? 1 : 19);
		packs = finish(&pack, "short", &entry, 1);
		is_damaged(packs, &entry.oid);
		packs_close(packs);
	}
	strbuf_release(&pack);
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("git init -q --bare hand");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_delta_circles_are_damage),
		cmocka_unit_test(test_packs_delta_chains_have_a_limit),
		cmocka_unit_test(test_packs_delta_bases_may_be_in_another_pack),
		cmocka_unit_test(test_packs_delta_promises_are_not_believed),
	};

	return cmocka_run_group_tests_name("packs: forged", tests, setup, unit_teardown);
}
