/* SPDX-License-Identifier: MIT */
/* Packs and indexes with damage: what is read is right, or is an error. */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "store/pack.h"
#include "store/shadow.h"
#include "unit.h"

#include "packsmall.h"

static size_t read_store(void)
{
	struct packs *packs = packs_open(store->dirfd);
	size_t found = read_all(packs);

	packs_close(packs);
	return found;
}

static void restore_files(void)
{
	put_bytes(index_path, good_index.buf, good_index.len);
	put_bytes(pack_path, good_pack.buf, good_pack.len);
}

static void test_packs_damage_is_never_taken_for_contents(void **state)
{
	size_t lost = 0;

	(void)state;
	for (int round = 0; round < rounds(1000); round++) {
		bool in_index = round % 2;
		const struct strbuf *from = in_index ? &good_index : &good_pack;
		char *copy = xmemdupz(from->buf, from->len);
		size_t len = rnd(8) ? from->len : rnd((unsigned)from->len);

		for (unsigned n = 1 + rnd(6); n; n--) {
			/* Half of it where counts and offsets are. */
			size_t at = in_index && rnd(2)
					    ? (rnd(2) ? rnd(8 + 1024)
						      : 1032 + OBJECTS * 24 + rnd(OBJECTS * 4))
					    : rnd((unsigned)from->len);

			copy[at] = rnd(2) ? (char)rnd(256) : (char)(rnd(2) ? 0xff : 0x80);
		}
		put_bytes(in_index ? index_path : pack_path, copy, len);
		lost += OBJECTS - read_store();
		free(copy);
		if (round % 16 > 13)
			restore_files();
		else
			put_bytes(in_index ? index_path : pack_path, from->buf, from->len);
	}
	assert_true(lost > 60);
	restore_files();
	assert_int_equal(read_store(), OBJECTS);
}

static void test_packs_every_truncation_is_borne(void **state)
{
	(void)state;
	for (size_t len = good_index.len; len--; len -= len > 7 ? rnd(7) : 0) {
		assert_int_equal(truncate(index_path, (off_t)len), 0);
		read_store();
	}
	restore_files();
	for (size_t len = good_pack.len; len > 100; len -= 1 + rnd(97)) {
		assert_int_equal(truncate(pack_path, (off_t)len), 0);
		read_store();
	}
	restore_files();
	sh("mv '%s' saved", pack_path);
	assert_int_equal(read_store(), 0);
	sh("mkdir '%s'", pack_path);
	assert_int_equal(read_store(), 0);
	sh("rmdir '%s'; mv saved '%s'", pack_path, pack_path);
	assert_int_equal(read_store(), OBJECTS);
}

/* Sound bytes under the wrong name: an index that has mixed two objects up. */
static void test_packs_contents_are_checked_against_the_name(void **state)
{
	struct pack_entry entries[2] = { { .oid = objects[3].oid }, { .oid = objects[4].oid } };
	struct strbuf out = STRBUF_INIT;
	enum object_type type;
	struct packs *packs;
	struct oid id;
	int fd;

	(void)state;
	/* The offsets that they have, each with the other's. */
	ask(&out, "git show-index <'%s'", index_path);
	for (int i = 0; i < 2; i++) {
		char hex[OID_HEX + 1], *at = strstr(out.buf, oid_hex(hex, &entries[i].oid));

		assert_non_null(at);
		while (at > out.buf && at[-1] != '\n')
			at--;
		entries[!i].offset = strtoull(at, NULL, 10);
	}
	if (memcmp(&entries[0].oid, &entries[1].oid, OID_SIZE) > 0) {
		struct pack_entry first = entries[0];

		entries[0] = entries[1];
		entries[1] = first;
	}
	memcpy(id.id, good_pack.buf + good_pack.len - OID_SIZE, OID_SIZE);
	fd = open(index_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(pack_write_index(fd, entries, 2, &id), 0);
	close(fd);
	packs = packs_open(store->dirfd);
	strbuf_reset(&out);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(packs_read(&out, &type, packs, &entries[i].oid), CKPT_ECORRUPT);
		assert_int_equal(packs_stream(packs, &entries[i].oid, gather, &out), CKPT_ECORRUPT);
	}
	packs_close(packs);
	strbuf_release(&out);
	restore_files();
}

/* Offsets that only the table of large ones can hold, up to the largest there is. */
static void test_packs_absurd_offsets_are_damage(void **state)
{
	static const uint64_t offsets[] = { 0x80000000,
					    0xffffffff,
					    0x7fffffffffffffff,
					    0x8000000000000000,
					    UINT64_MAX,
					    UINT64_MAX - 4,
					    UINT64_MAX - 19,
					    UINT64_MAX - 20,
					    UINT64_MAX - 21,
					    UINT64_MAX - 4096,
					    0,
					    1,
					    11,
					    12 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct pack_entry entry = { .oid = objects[0].oid, .offset = offsets[i] };
		enum object_type type;
		struct strbuf out = STRBUF_INIT;
		struct packs *packs;
		struct oid id;
		uint64_t size;
		int fd = open(index_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		int err;

		memcpy(id.id, good_pack.buf + good_pack.len - OID_SIZE, OID_SIZE);
		assert_int_equal(pack_write_index(fd, &entry, 1, &id), 0);
		close(fd);
		packs = packs_open(store->dirfd);
		assert_true(packs_have(packs, &objects[0].oid));
		err = packs_read(&out, &type, packs, &objects[0].oid);
		/* There is none before the first object and after the last. */
		if (offsets[i] != PACK_HEADER_SIZE && err != CKPT_ECORRUPT)
			fail_msg("%llx gives %d", (unsigned long long)offsets[i], err);
		(void)packs_stat(&type, &size, packs, &objects[0].oid);
		packs_close(packs);
		strbuf_release(&out);
	}
	restore_files();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_damage_is_never_taken_for_contents),
		cmocka_unit_test(test_packs_every_truncation_is_borne),
		cmocka_unit_test(test_packs_contents_are_checked_against_the_name),
		cmocka_unit_test(test_packs_absurd_offsets_are_damage),
	};

	return cmocka_run_group_tests_name("packs: damage", tests, small_setup, small_teardown);
}
