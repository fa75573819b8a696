/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/pool.h"
#include "store/pack.h"
#include "store/shadow.h"
#include "unit.h"

enum { OBJECTS = 40, LARGE = 17 << 20 };

struct object {
	enum object_type type;
	struct oid oid;
	struct strbuf data;
};

static struct object objects[OBJECTS];
static struct store *store;
static struct strbuf good_index = STRBUF_INIT, good_pack = STRBUF_INIT;
static char index_path[2 * PATH_MAX], pack_path[2 * PATH_MAX];

static void first_line(char *out, size_t size, const char *glob)
{
	struct strbuf text = STRBUF_INIT;

	ask(&text, "ls '%s'/objects/pack/%s | head -n 1", store->path, glob);
	strbuf_trim(&text);
	snprintf(out, size, "%s", text.buf);
	strbuf_release(&text);
}

/* A store with one pack of small objects. */
static int setup(void **state)
{
	struct pack *pack;

	if (unit_setup(state))
		return -1;
	sh("mkdir worktree");
	if (store_open_or_create(&store, in_scratch("worktree")) || objects_open(store))
		return -1;
	pack = pack_new(store, 1, 6);
	for (int i = 0; i < OBJECTS; i++) {
		struct object *object = &objects[i];
		size_t len = i < 3 ? (size_t)i : rnd(3000);

		strbuf_init(&object->data);
		object->type = i % 5 ? OBJECT_BLOB : i % 10 ? OBJECT_TREE : OBJECT_COMMIT;
		while (object->data.len < len)
			strbuf_addch(&object->data, rnd(3) ? 'x' : (int)rnd(256));
		strbuf_addf(&object->data, "%d", i);
		if (pack_add_new(pack, &object->oid, object->type, object->data.buf,
				 object->data.len))
			return -1;
	}
	if (pack_commit(pack, NULL))
		return -1;
	pack_free(pack);
	store_close(store);
	if (store_open(&store, in_scratch("worktree")) || objects_open(store))
		return -1;
	first_line(index_path, sizeof(index_path), "*.idx");
	first_line(pack_path, sizeof(pack_path), "*.pack");
	get_bytes(&good_index, index_path);
	get_bytes(&good_pack, pack_path);
	return chmod(index_path, 0600) || chmod(pack_path, 0600) ? -1 : 0;
}

static int teardown(void **state)
{
	for (int i = 0; i < OBJECTS; i++)
		strbuf_release(&objects[i].data);
	strbuf_release(&good_index);
	strbuf_release(&good_pack);
	store_close(store);
	return unit_teardown(state);
}

static int gather(const void *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

/*
 * Read everything: what comes is right or is an error. Returns how many came.
 */
static size_t read_all(struct packs *packs)
{
	size_t found = 0;

	for (int i = 0; i < OBJECTS; i++) {
		struct object *object = &objects[i];
		struct strbuf data = STRBUF_INIT, pieces = STRBUF_INIT;
		enum object_type type = 0;
		uint64_t size = 0;
		int err = packs_read(&data, &type, packs, &object->oid);
		int stream_err = packs_stream(packs, &object->oid, gather, &pieces);

		assert_true(!err || err == CKPT_ENOTFOUND || err == CKPT_ECORRUPT);
		assert_int_equal(stream_err, err);
		if (!err) {
			assert_int_equal(type, object->type);
			assert_int_equal(data.len, object->data.len);
			assert_memory_equal(data.buf, object->data.buf, data.len);
			assert_int_equal(pieces.len, object->data.len);
			assert_memory_equal(pieces.buf, object->data.buf, data.len);
			assert_int_equal(packs_stat(&type, &size, packs, &object->oid), 0);
			assert_int_equal(size, object->data.len);
			assert_true(packs_have(packs, &object->oid));
			found++;
		}
		strbuf_release(&data);
		strbuf_release(&pieces);
	}
	return found;
}

static size_t read_store(void)
{
	struct packs *packs = packs_open(store->dirfd);
	size_t found = read_all(packs);

	packs_close(packs);
	return found;
}

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
	struct object *object = &objects[index % OBJECTS];
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

/* ---- packs that come and go ---- */

enum { ALIKE = 40 };

static struct oid alike[ALIKE];

static void alike_text(struct strbuf *out, int i)
{
	for (int line = 0; line < 100; line++)
		strbuf_addf(out, "line %d %d\n", line, line == 2 * i ? i : 0);
}

/* A store with one pack of blobs from which git makes deltas; their names in its file `names`. */
static struct store *store_of_alike(const char *name)
{
	struct strbuf text = STRBUF_INIT;
	struct store *made = NULL;
	struct pack *pack;

	sh("mkdir %s", name);
	assert_int_equal(store_open_or_create(&made, in_scratch("%s", name)), 0);
	assert_int_equal(objects_open(made), 0);
	pack = pack_new(made, 1, 1);
	for (int i = 0; i < ALIKE; i++) {
		strbuf_reset(&text);
		alike_text(&text, i);
		assert_int_equal(pack_add_new(pack, &alike[i], OBJECT_BLOB, text.buf, text.len), 0);
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	sh("cd '%s'; GIT_DIR=$PWD git cat-file --batch-all-objects --batch-check='%%(objectname)' "
	   ">names",
	   made->path);
	strbuf_release(&text);
	return made;
}

/* The same objects in a pack of another name; the others are removed. */
static void replace_packs(const struct store *in, int turn)
{
	sh("cd '%s'; export GIT_DIR=$PWD; old=$(ls objects/pack/*); "
	   "new=$(git -c pack.compression=%d pack-objects -q --no-reuse-object --depth=%d "
	   "--delta-base-offset objects/pack/pack <names); "
	   "for f in $old; do case $f in *$new*) ;; *) rm -f $f ;; esac; done",
	   in->path, 1 + turn % 9, 3 + turn / 9 % 20);
}

static void test_packs_refresh_finds_new_ones_only(void **state)
{
	struct store *other = store_of_alike("refreshed");
	struct packs *packs = packs_open(other->dirfd);
	struct strbuf data = STRBUF_INIT;
	enum object_type type;

	(void)state;
	assert_int_equal(packs_count(packs), 1);
	assert_false(packs_refresh(packs));
	assert_true(packs_have(packs, &alike[0]));
	replace_packs(other, 0);
	/* What was mapped stays, whatever becomes of the file. */
	assert_int_equal(packs_read(&data, &type, packs, &alike[1]), 0);
	assert_true(packs_refresh(packs));
	assert_int_equal(packs_count(packs), 2);
	assert_false(packs_refresh(packs));
	assert_int_equal(packs_count(packs), 2);
	assert_int_equal(packs_read(&data, &type, packs, &alike[1]), 0);
	packs_close(packs);
	/* What was not is gone, until the other is found. */
	packs = packs_open(other->dirfd);
	replace_packs(other, 1);
	assert_int_equal(packs_read(&data, &type, packs, &alike[1]), CKPT_ENOTFOUND);
	assert_false(packs_have(packs, &alike[1]));
	assert_true(packs_refresh(packs));
	assert_true(packs_have(packs, &alike[1]));
	assert_int_equal(packs_read(&data, &type, packs, &alike[1]), 0);
	/* An index without its pack is not counted. */
	sh("cd '%s'/objects/pack; i=$(ls *.idx); cp $i pack-alone.idx", other->path);
	assert_false(packs_refresh(packs));
	assert_int_equal(packs_count(packs), 2);
	packs_close(packs);
	store_close(other);
	strbuf_release(&data);
}

struct replacing {
	struct store *store;
	int round;
};

/* The first replaces the packs, all others read. */
static int replace_or_read(size_t index, unsigned worker, void *payload)
{
	struct replacing *replacing = payload;
	struct strbuf data = STRBUF_INIT, text = STRBUF_INIT;
	int i = (int)(index % ALIKE);
	uint64_t size = 0;
	int err;

	(void)worker;
	if (!index) {
		replace_packs(replacing->store, replacing->round);
		return 0;
	}
	alike_text(&text, i);
	if (index % 3 == 0)
		err = objects_stream(replacing->store, &alike[i], gather, &data);
	else
		err = objects_read(&data, replacing->store, &alike[i], OBJECT_BLOB);
	if (!err && (data.len != text.len || memcmp(data.buf, text.buf, text.len)))
		err = ckpt_error_set(CKPT_ERROR, "wrong bytes");
	if (!err)
		err = objects_size(&size, replacing->store, &alike[i]);
	if (!err && size != text.len)
		err = ckpt_error_set(CKPT_ERROR, "wrong size");
	strbuf_release(&data);
	strbuf_release(&text);
	return err;
}

/* Whoever reads while another process collects garbage gets everything. */
static void test_packs_may_be_replaced_while_they_are_read(void **state)
{
	struct store *other = store_of_alike("replaced");

	(void)state;
	store_close(other);
	for (int round = 1; round < 2 * rounds(30); round++) {
		struct replacing replacing = { .round = round };
		int err;

		assert_int_equal(store_open(&replacing.store, in_scratch("replaced")), 0);
		assert_int_equal(objects_open(replacing.store), 0);
		/* In some rounds all is gone already when the first thread begins. */
		if (round % 2)
			replace_packs(replacing.store, ++round);
		err = pool_for(4, 1 + 10 * ALIKE, replace_or_read, &replacing);
		if (err)
			fail_msg("round %d: %s", round, ckpt_error_last());
		/* Never through libgit2: it was not needed. */
		assert_null(replacing.store->odb);
		store_close(replacing.store);
	}
}

static void test_packs_copies_stand_in_for_damaged_ones(void **state)
{
	struct store *other = store_of_alike("copies");
	struct strbuf data = STRBUF_INIT;
	struct packs *packs;
	enum object_type type;

	(void)state;
	sh("cd '%s'; export GIT_DIR=$PWD; chmod u+w objects/pack/*; "
	   "p=$(ls objects/pack/*.pack); git -c pack.compression=9 pack-objects -q --depth=5 "
	   "objects/pack/pack <names >/dev/null; s=$(stat -c %%s $p); "
	   "head -c $((s - 32)) /dev/zero | dd of=$p bs=1 seek=12 conv=notrunc status=none",
	   other->path);
	packs = packs_open(other->dirfd);
	assert_int_equal(packs_count(packs), 2);
	for (int i = 0; i < ALIKE; i++) {
		uint64_t size;

		assert_int_equal(packs_read(&data, &type, packs, &alike[i]), 0);
		assert_int_equal(packs_stream(packs, &alike[i], gather, &data), 0);
		assert_int_equal(packs_stat(&type, &size, packs, &alike[i]), 0);
		assert_true(packs_sound(packs, &alike[i]));
	}
	packs_close(packs);
	store_close(other);
	strbuf_release(&data);
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

/* ---- damage ---- */

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
		/* Below the first object and behind the last one there is none. */
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
		cmocka_unit_test(test_packs_give_back_what_was_written),
		cmocka_unit_test(test_packs_may_be_read_by_many_threads),
		cmocka_unit_test(test_packs_read_what_git_repacked),
		cmocka_unit_test(test_packs_refresh_finds_new_ones_only),
		cmocka_unit_test(test_packs_may_be_replaced_while_they_are_read),
		cmocka_unit_test(test_packs_copies_stand_in_for_damaged_ones),
		cmocka_unit_test(test_packs_stream_large_objects_in_pieces),
		cmocka_unit_test(test_packs_damage_is_never_taken_for_contents),
		cmocka_unit_test(test_packs_every_truncation_is_borne),
		cmocka_unit_test(test_packs_contents_are_checked_against_the_name),
		cmocka_unit_test(test_packs_absurd_offsets_are_damage),
	};

	return cmocka_run_group_tests_name("packs", tests, setup, teardown);
}
