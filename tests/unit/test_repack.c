/* SPDX-License-Identifier: MIT */
#include "store/repack.h"

#include "base/error.h"
#include "store/pack.h"
#include "unit.h"

#include "packgen.h"

/* New packs from old ones: exactly what is wanted, byte for byte, as stock git reads it. */

enum { PACKS = 4, EACH = 25, OBJECTS = PACKS * EACH };

static struct object objects[OBJECTS];

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	for (size_t i = 0; i < OBJECTS; i++)
		make_blob(&objects[i], i % EACH == 7 ? 600000 + i : i % EACH == 8 ? 0 + i : rnd(3000));
	return 0;
}

static int teardown(void **state)
{
	free_objects(objects, OBJECTS);
	return unit_teardown(state);
}

/* A store with these objects, in PACKS packs. */
static struct store *filled(void)
{
	struct store *store = new_store();

	for (size_t p = 0; p < PACKS; p++) {
		struct pack *pack = pack_new(store, 1, 1);

		for (size_t i = p * EACH; i < (p + 1) * EACH; i++)
			assert_int_equal(pack_add(pack, 0, OBJECT_BLOB, &objects[i].oid, objects[i].data,
						  objects[i].len),
					 0);
		assert_int_equal(pack_commit(pack, NULL), 0);
		pack_free(pack);
	}
	store = reopen(store);
	assert_int_equal(packs_count(store->packs), PACKS);
	return store;
}

static size_t all_contents(struct pack_contents *out, struct store *store)
{
	size_t nr = packs_count(store->packs);

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(packs_contents(&out[i], store->packs, i), 0);
	return nr;
}

static void release_contents(struct pack_contents *contents, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		packs_contents_release(&contents[i]);
}

/* Which objects are wanted: a mask over their numbers, or all. */
struct choice {
	unsigned modulus; /* every n-th; 0: none, 1: all */
};

static size_t number_of(const struct oid *oid)
{
	for (size_t i = 0; i < OBJECTS; i++)
		if (oid_equal(&objects[i].oid, oid))
			return i;
	fail_msg("an object that nobody made");
	return 0;
}

static bool wanted(const struct oid *oid, void *payload)
{
	const struct choice *choice = payload;

	return choice->modulus && number_of(oid) % choice->modulus == 0;
}

/* Only the pack `name` is left: git reads each object in it as it was made. */
static void git_reads(struct store *store, const char *name, const struct choice *choice)
{
	struct strbuf out = STRBUF_INIT;
	size_t nr = 0;

	sh("git verify-pack '%s/objects/pack/%s.idx'", store->path, name);
	ask(&out, "git show-index <'%s/objects/pack/%s.idx' | wc -l", store->path, name);
	for (size_t i = 0; i < OBJECTS; i++)
		nr += choice->modulus && i % choice->modulus == 0;
	assert_int_equal(atoi(out.buf), nr);
	for (size_t i = 0; i < OBJECTS; i++) {
		char hex[OID_HEX + 1];
		bool is_wanted = choice->modulus && i % choice->modulus == 0;

		oid_hex(hex, &objects[i].oid);
		if (i % 9 && is_wanted)
			continue; /* the rest is in verify-pack */
		strbuf_reset(&out);
		if (is_wanted) {
			ask(&out, "git --git-dir='%s' cat-file blob %s", store->path, hex);
			assert_int_equal(out.len, objects[i].len);
			assert_memory_equal(out.buf, objects[i].data, out.len);
		} else if (i % 9 == 0) {
			sh("! git --git-dir='%s' cat-file -e %s 2>/dev/null", store->path, hex);
		}
	}
	strbuf_release(&out);
}

static void test_repack_copies_what_is_wanted(void **state)
{
	static const struct choice choices[] = { { 1 }, { 2 }, { 3 }, { 50 }, { 1000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		struct store *store = filled();
		struct pack_contents packs[PACKS];
		struct strlist damaged = STRLIST_INIT;
		struct choice choice = choices[i];
		char *name = NULL;
		size_t nr = all_contents(packs, store);

		assert_int_equal(repack_copy(&name, &damaged, store, packs, nr, 2, wanted, &choice), 0);
		assert_int_equal(damaged.nr, 0);
		assert_int_equal(count_packs(store, "pack-"), 2 * (PACKS + 1));
		assert_int_equal(count_packs(store, "tmp_"), 0);
		for (size_t p = 0; p < nr; p++)
			assert_int_equal(repack_remove(store, packs[p].name), 0);
		assert_int_equal(count_packs(store, "pack-"), 2);
		git_reads(store, name, &choice);
		free(name);
		strlist_release(&damaged);
		release_contents(packs, nr);
		store_close(store);
	}
}

static void test_repack_of_nothing_makes_no_pack(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[PACKS];
	struct strlist damaged = STRLIST_INIT;
	struct choice choice = { 0 };
	char *name = NULL;
	size_t nr = all_contents(packs, store);

	(void)state;
	assert_int_equal(repack_copy(&name, &damaged, store, packs, nr, 1, wanted, &choice), 0);
	assert_string_equal(name, "");
	free(name);
	assert_int_equal(repack_copy(&name, &damaged, store, packs, 0, 1, wanted, &choice), 0);
	assert_string_equal(name, "");
	free(name);
	assert_int_equal(damaged.nr, 0);
	assert_int_equal(count_packs(store, ""), 2 * PACKS);
	release_contents(packs, nr);
	strlist_release(&damaged);
	store_close(store);
}

/* All of one pack into a new one: it has the same name, and must not be removed after it. */
static void test_repack_of_one_whole_pack_is_that_pack(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[PACKS];
	struct strlist damaged = STRLIST_INIT;
	struct choice choice = { 1 };
	char *name = NULL;
	size_t nr = all_contents(packs, store);

	(void)state;
	assert_int_equal(repack_copy(&name, &damaged, store, &packs[1], 1, 1, wanted, &choice), 0);
	assert_string_equal(name, packs[1].name);
	assert_int_equal(count_packs(store, ""), 2 * PACKS);
	sh("git verify-pack '%s'/objects/pack/*.idx", store->path);
	free(name);
	release_contents(packs, nr);
	strlist_release(&damaged);
	store_close(store);
}

/* What is in two packs is in the new one once. */
static void test_repack_makes_one_of_two(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[2 * PACKS];
	struct strlist damaged = STRLIST_INIT;
	struct choice choice = { 1 };
	char *name = NULL;
	size_t nr = all_contents(packs, store);

	(void)state;
	memcpy(packs + nr, packs, nr * sizeof(*packs));
	assert_int_equal(repack_copy(&name, &damaged, store, packs, 2 * nr, 1, wanted, &choice), 0);
	git_reads(store, name, &choice);
	free(name);
	release_contents(packs, nr);
	strlist_release(&damaged);
	store_close(store);
}

/* A byte of one object is wrong: that one is left out, and its pack is named. */
static void test_repack_leaves_out_what_is_damaged(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[PACKS];
	struct strlist damaged = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	struct choice choice = { 1 };
	char *name = NULL, path[3 * PATH_MAX], hex[OID_HEX + 1];
	const struct packed *victim;
	size_t nr = all_contents(packs, store);
	unsigned char byte;
	int fd;

	(void)state;
	victim = &packs[2].items[5];
	snprintf(path, sizeof(path), "%s/objects/pack/%s.pack", store->path, packs[2].name);
	assert_int_equal(chmod(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, (off_t)(victim->offset + victim->len - 3)), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)(victim->offset + victim->len - 3)), 1);
	close(fd);
	for (size_t i = 0; i < packs[2].nr; i++)
		assert_int_equal(repack_intact(&packs[2], &packs[2].items[i]), i != 5);
	assert_int_equal(repack_copy(&name, &damaged, store, packs, nr, 1, wanted, &choice), 0);
	assert_int_equal(damaged.nr, 1);
	assert_string_equal(damaged.items[0], packs[2].name);
	sh("git verify-pack '%s/objects/pack/%s.idx'", store->path, name);
	ask(&out, "git show-index <'%s/objects/pack/%s.idx' | cut -d' ' -f2", store->path, name);
	assert_int_equal(out.len, (OBJECTS - 1) * (OID_HEX + 1));
	assert_null(strstr(out.buf, oid_hex(hex, &victim->oid)));
	free(name);
	strbuf_release(&out);
	release_contents(packs, nr);
	strlist_release(&damaged);
	store_close(store);
}

/* If another pack has it whole, nothing is missing in the new one. */
static void test_repack_takes_the_copy_that_is_whole(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[2 * PACKS];
	struct strlist damaged = STRLIST_INIT;
	struct choice choice = { 1 };
	char *name = NULL;
	unsigned char *bad;
	size_t nr = all_contents(packs, store);
	char path[2 * PATH_MAX];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/objects/pack/%s.pack", store->path, packs[0].name);
	assert_int_equal(stat(path, &st), 0);
	bad = (unsigned char *)xmemdupz(packs[0].data, (size_t)st.st_size);
	memcpy(packs + nr, packs, nr * sizeof(*packs));
	memset(bad + packs[0].items[3].offset + 3, 0x55, 2);
	packs[0].data = bad;
	assert_int_equal(repack_copy(&name, &damaged, store, packs, 2 * nr, 1, wanted, &choice), 0);
	assert_int_equal(damaged.nr, 1);
	git_reads(store, name, &choice);
	free(bad);
	free(name);
	release_contents(packs, nr);
	strlist_release(&damaged);
	store_close(store);
}

/* ---- removing ---- */

static void test_repack_removes_all_of_a_pack(void **state)
{
	struct store *store = filled();
	struct pack_contents packs[PACKS];
	size_t nr = all_contents(packs, store);

	(void)state;
	sh("cd '%s/objects'; touch pack/%s.rev pack/%s.bitmap pack/multi-pack-index info/commit-graph",
	   store->path, packs[0].name, packs[0].name);
	assert_false(repack_is_kept(store, packs[0].name));
	sh("touch '%s/objects/pack/%s.keep'", store->path, packs[1].name);
	assert_true(repack_is_kept(store, packs[1].name));
	assert_int_equal(repack_remove(store, packs[0].name), 0);
	assert_int_equal(count_packs(store, packs[0].name), 0);
	assert_int_equal(count_packs(store, packs[1].name), 3);
	/* What git derived from it is gone, too. */
	assert_int_equal(count_packs(store, "multi"), 0);
	sh("test ! -e '%s/objects/info/commit-graph'", store->path);
	/* A second time: not a failure. */
	assert_int_equal(repack_remove(store, packs[0].name), 0);
	release_contents(packs, nr);
	store_close(store);
}

static void test_repack_sweeps_what_the_dead_left(void **state)
{
	struct store *store = filled();

	(void)state;
	sh("cd '%s'; mkdir checkpoint/gc; touch checkpoint/gc/pack-1.pack checkpoint/gc/tmp_x "
	   "objects/pack/tmp_pack_abc objects/pack/tmp_idx_abc objects/pack/tmp_rev_abc; "
	   "mkdir -p objects/ab; touch objects/ab/c",
	   store->path);
	repack_sweep(store);
	assert_int_equal(count_packs(store, ""), 2 * PACKS);
	sh("cd '%s'; test ! -e checkpoint/gc; test -e objects/ab/c; rm -r objects/ab", store->path);
	repack_sweep(store);
	store_close(store);
}

/* ---- with git ---- */

/* Twenty versions of a text, each an object. */
static void add_versions(struct store *store, struct strbuf *list)
{
	struct pack *pack = pack_new(store, 1, 1);
	struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&text, "line %d %llu\n", i, (unsigned long long)rnd64());
	for (int i = 0; i < 20; i++) {
		char hex[OID_HEX + 1];
		struct oid oid;

		strbuf_addf(&text, "version %d\n", i);
		text.buf[i * 1000] = 'X';
		assert_int_equal(pack_add_new(pack, &oid, OBJECT_BLOB, text.buf, text.len), 0);
		strbuf_addf(list, "%s a name\n", oid_hex(hex, &oid));
	}
	assert_int_equal(pack_commit(pack, NULL), 0);
	pack_free(pack);
	strbuf_release(&text);
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void test_repack_with_deltas(void **state)
{
	struct store *store = new_store();
	struct strbuf list = STRBUF_INIT;
	char *name = NULL, *again = NULL, path[3 * PATH_MAX];
	struct pack_contents contents;
	off_t before, after;

	(void)state;
	add_versions(store, &list);
	store = reopen(store);
	assert_int_equal(packs_contents(&contents, store->packs, 0), 0);
	assert_false(contents.tight);
	before = (off_t)contents.bytes;
	assert_int_equal(repack_tight(&name, store, &list, REPACK_SEARCH, 2), 0);
	/* Not to be seen before it is adopted. */
	assert_int_equal(count_packs(store, ""), 2);
	assert_int_equal(repack_adopt(store, REPACK_DIR, name), 0);
	assert_int_equal(repack_remove(store, contents.name), 0);
	packs_contents_release(&contents);
	repack_sweep(store);
	sh("test ! -e '%s/checkpoint/gc'; git verify-pack '%s/objects/pack/%s.idx'; "
	   "test $(git show-index <'%s/objects/pack/%s.idx' | wc -l) = 20; "
	   "test \"$(stat -c %%a '%s'/objects/pack/* | sort -u)\" = 400",
	   store->path, store->path, name, store->path, name, store->path);
	store = reopen(store);
	assert_int_equal(packs_contents(&contents, store->packs, 0), 0);
	assert_true(contents.tight);
	packs_contents_release(&contents);
	snprintf(path, sizeof(path), "%s/objects/pack/%s.pack", store->path, name);
	after = size_of(path);
	assert_true(after < before / 5);
	/* Without a search those that there are stay. */
	assert_int_equal(repack_tight(&again, store, &list, 0, 1), 0);
	assert_int_equal(repack_adopt(store, REPACK_DIR, again), 0);
	snprintf(path, sizeof(path), "%s/objects/pack/%s.pack", store->path, again);
	assert_true(size_of(path) < after + after / 10);
	free(name);
	free(again);
	strbuf_release(&list);
	store_close(store);
}

/* The user's configuration must not split it, or have it written as we cannot read it. */
static void test_repack_minds_no_configuration(void **state)
{
	struct store *store = new_store();
	struct strbuf list = STRBUF_INIT;
	char *name = NULL;

	(void)state;
	put_text(in_scratch("odd"), "[pack]\n\tindexVersion = 1\n\tpackSizeLimit = 1m\n\tdepth = 0\n"
				    "\twindow = 0\n\tthreads = 64\n\twriteReverseIndex = true\n"
				    "[core]\n\tbigFileThreshold = 1\n\tcompression = 0\n");
	setenv("GIT_CONFIG_GLOBAL", in_scratch("odd"), 1);
	add_versions(store, &list);
	assert_int_equal(repack_tight(&name, store, &list, REPACK_SEARCH, 1), 0);
	assert_int_equal(repack_adopt(store, REPACK_DIR, name), 0);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	repack_sweep(store);
	sh("rm $(ls -S '%s'/objects/pack/*.pack | head -1)", store->path);
	store = reopen(store);
	for (char *line = strtok(list.buf, "\n"); line; line = strtok(NULL, "\n")) {
		struct oid oid;

		assert_true(oid_parse(&oid, line));
		assert_true(packs_sound(store->packs, &oid));
	}
	free(name);
	strbuf_release(&list);
	store_close(store);
}

/* What is missing makes it fail, and leaves nothing that would be taken for a pack. */
static void test_repack_with_something_missing_fails(void **state)
{
	struct store *store = new_store();
	struct strbuf list = STRBUF_INIT;
	char *name = NULL;
	int err;

	(void)state;
	add_versions(store, &list);
	strbuf_addstr(&list, "0123456789012345678901234567890123456789 gone\n");
	err = repack_tight(&name, store, &list, REPACK_SEARCH, 1);
	assert_true(err < 0 && err != CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "pack-objects"));
	repack_sweep(store);
	assert_int_equal(count_packs(store, ""), 2);
	free(name);
	strbuf_release(&list);
	store_close(store);
}

static void test_repack_without_git(void **state)
{
	struct store *store = new_store();
	struct strbuf list = STRBUF_INIT;
	char *name = NULL, *path = xstrdup(getenv("PATH"));

	(void)state;
	add_versions(store, &list);
	setenv("PATH", scratch, 1);
	assert_int_equal(repack_tight(&name, store, &list, REPACK_SEARCH, 1), CKPT_ENOTFOUND);
	setenv("PATH", path, 1);
	assert_int_equal(count_packs(store, ""), 2);
	free(name);
	free(path);
	strbuf_release(&list);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repack_copies_what_is_wanted),
		cmocka_unit_test(test_repack_of_nothing_makes_no_pack),
		cmocka_unit_test(test_repack_of_one_whole_pack_is_that_pack),
		cmocka_unit_test(test_repack_makes_one_of_two),
		cmocka_unit_test(test_repack_leaves_out_what_is_damaged),
		cmocka_unit_test(test_repack_takes_the_copy_that_is_whole),
		cmocka_unit_test(test_repack_removes_all_of_a_pack),
		cmocka_unit_test(test_repack_sweeps_what_the_dead_left),
		cmocka_unit_test(test_repack_with_deltas),
		cmocka_unit_test(test_repack_minds_no_configuration),
		cmocka_unit_test(test_repack_with_something_missing_fails),
		cmocka_unit_test(test_repack_without_git),
	};

	return cmocka_run_group_tests_name("repack", tests, setup, teardown);
}
