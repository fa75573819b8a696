/* SPDX-License-Identifier: MIT */
/* Packs that come and go while they are read, and copies of damaged ones. */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "store/pack.h"
#include "store/shadow.h"
#include "unit.h"

#include "packprobe.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs_refresh_finds_new_ones_only),
		cmocka_unit_test(test_packs_may_be_replaced_while_they_are_read),
		cmocka_unit_test(test_packs_copies_stand_in_for_damaged_ones),
	};

	return cmocka_run_group_tests_name("packs: replaced", tests, unit_setup, unit_teardown);
}
