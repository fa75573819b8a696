/* SPDX-License-Identifier: MIT */
#include "tree/statcache.h"

#include "base/hash.h"
#include "unit.h"

#include "cacheprobe.h"
#include "treegen.h"

static const struct statcache_head head = { .commit = { { 1, 2, 3 } },
					    .packs = 0x123456789abcdefu,
					    .origin = { .boot = { 4, 5 }, .dev = 6 } };

static struct strbuf good = STRBUF_INIT; /* the bytes of a sound cache of `tree` */
static struct wt_dir *tree;
static struct arena arena = ARENA_INIT;

static size_t count_dirs(const struct wt_dir *dir)
{
	size_t n = 1;

	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			n += count_dirs(wt_entries(dir)[i].dir);
	return n;
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	do
		tree = treegen(&arena, NULL, "", 4, 7);
	while (count_dirs(tree) < 25 || count_dirs(tree) > 60);
	if (cache_write("good", &head, tree))
		return -1;
	get_bytes(&good, in_scratch("good"));
	return 0;
}

static int teardown(void **state)
{
	strbuf_release(&good);
	arena_release(&arena);
	return unit_teardown(state);
}

/*
 * All blocks that can be reached must be those of `dir`, bit for bit. Returns
 * how many there are.
 */
static size_t check_block(const struct statcache *cache, const struct statcache_dir *block,
			  const struct wt_dir *dir)
{
	size_t found = 1;

	if (!block)
		return 0;
	assert_int_equal(block->nr, dir->nr);
	assert_int_equal(block->listing, dir->listing);
	assert_int_equal(block->rules, dir->rules);
	assert_true(wt_stat_equal(&block->st, &dir->st));
	assert_true(oid_equal(&block->tree, &dir->tree));
	for (size_t i = 0; i < dir->nr; i++) {
		const struct statcache_entry *got = &statcache_entries(block)[i];
		const struct wt_entry *entry = &wt_entries(dir)[i];

		assert_int_equal(got->name_len, entry->name_len);
		assert_memory_equal(statcache_name(block, got), entry->name, entry->name_len + 1);
		assert_true(wt_stat_equal(&got->st, &entry->st));
		assert_int_equal(got->mode, entry->mode);
		assert_int_equal(got->kind, entry->kind);
		if (entry->kind == WT_DIR) {
			found += check_block(cache, statcache_child(cache, got), entry->dir);
		} else {
			assert_int_equal(got->flags, entry->flags & (WT_RACY | WT_SETTLED | WT_LINKED));
			assert_true(oid_equal(&got->oid, &entry->oid));
			assert_memory_equal(got->sha256, entry->sha256, SHA256_SIZE);
			assert_null(statcache_child(cache, got));
		}
	}
	return found;
}

/* Open what may be damaged; returns how many sound blocks it still has. */
static size_t check_file(const char *path, const struct wt_dir *root)
{
	struct statcache *cache = statcache_open(AT_FDCWD, path);
	size_t found;

	if (!cache)
		return 0;
	assert_memory_equal(statcache_head(cache)->commit.id, head.commit.id, OID_SIZE);
	assert_int_equal(statcache_head(cache)->packs, head.packs);
	assert_memory_equal(&statcache_head(cache)->origin, &head.origin, sizeof(head.origin));
	/* Mapped or block by block makes no difference. */
	if (rnd(2))
		statcache_populate(cache);
	found = check_block(cache, statcache_root(cache), root);
	statcache_close(cache);
	return found;
}

static void test_statcache_round_trip(void **state)
{
	(void)state;
	assert_int_equal(check_file("good", tree), count_dirs(tree));
	for (int round = 0; round < 200; round++) {
		struct arena memory = ARENA_INIT;
		struct wt_dir *root = treegen(&memory, NULL, "", rnd(5), rnd(9));

		assert_int_equal(cache_write("some", &head, root), 0);
		assert_int_equal(check_file("some", root), count_dirs(root));
		arena_release(&memory);
	}
}

/* What differs on purpose: the number of the file, and the checksum with it. */
static void forget_number(struct strbuf *file)
{
	memset(file->buf + 8, 0, 4);
	memset(file->buf + 48, 0, 8);
}

/* Equal trees give equal files: nothing of the machine's memory slips in. */
static void test_statcache_bytes_depend_on_the_tree_alone(void **state)
{
	struct strbuf again = STRBUF_INIT, first = STRBUF_INIT;

	(void)state;
	assert_int_equal(cache_write("again", &head, tree), 0);
	get_bytes(&again, in_scratch("again"));
	get_bytes(&first, in_scratch("good"));
	assert_int_equal(again.len, first.len);
	assert_memory_not_equal(again.buf + 48, first.buf + 48, 8);
	forget_number(&again);
	forget_number(&first);
	assert_memory_equal(again.buf, first.buf, first.len);
	strbuf_release(&first);
	strbuf_release(&again);
}

static void test_statcache_any_truncation_is_nothing_known(void **state)
{
	(void)state;
	put_bytes(in_scratch("cut"), good.buf, good.len);
	for (size_t len = good.len; len--;) {
		struct statcache *cache;

		assert_int_equal(truncate(in_scratch("cut"), (off_t)len), 0);
		cache = statcache_open(AT_FDCWD, "cut");
		if (cache)
			fail_msg("%zu of %zu bytes were taken", len, good.len);
	}
	/* Bytes after the end are what somebody was about to append. */
	put_bytes(in_scratch("cut"), good.buf, good.len);
	sh("printf x >>cut");
	assert_int_equal(check_file("cut", tree), count_dirs(tree));
}

/* ---- appending ---- */

/* As a scan with this cache would do it. */
static void attach(const struct statcache *cache, const struct statcache_dir *block,
		   struct wt_dir *dir)
{
	dir->cached = block;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			attach(cache, statcache_child(cache, &statcache_entries(block)[i]),
			       wt_entries(dir)[i].dir);
}

/* Change something in one directory out of `n`; returns how many were changed. */
static size_t change(struct wt_dir *dir, unsigned n)
{
	size_t changed = 0;

	if (!rnd(n)) {
		unsigned what = rnd(5);
		struct wt_entry *entry = dir->nr ? &wt_entries(dir)[rnd((unsigned)dir->nr)] : NULL;

		changed++;
		if (what == 0 || !entry)
			dir->st.mtime_ns ^= 1 + rnd(1000);
		else if (what == 1)
			entry->st.ctime_ns ^= 1 + rnd(1000);
		else if (what == 2)
			entry->mode ^= 0100;
		else if (what == 3 && entry->kind != WT_DIR)
			entry->oid.id[rnd(OID_SIZE)] ^= 1;
		else
			dir->sha256[rnd(SHA256_SIZE)] ^= 1;
	}
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			changed += change(wt_entries(dir)[i].dir, n);
	return changed;
}

static off_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_scratch("%s", name), &st), 0);
	return st.st_size;
}

static void test_statcache_appends_what_changed(void **state)
{
	size_t appended = 0, rewritten = 0;

	(void)state;
	for (int round = 0; round < rounds(60); round++) {
		struct arena memory = ARENA_INIT;
		struct wt_dir *root = treegen(&memory, NULL, "", 4, 7);

		assert_int_equal(cache_write("grown", &head, root), 0);
		for (int step = 0; step < 20; step++) {
			struct statcache *old = statcache_open(AT_FDCWD, "grown");
			off_t before = size_of("grown"), after;
			struct statcache *reader;
			size_t changed, blocks;

			attach(old, statcache_root(old), root);
			reader = statcache_open(AT_FDCWD, "grown");
			blocks = check_block(reader, statcache_root(reader), root);
			changed = change(root, 1 + rnd(30));
			statcache_update(old, &head, root);
			assert_int_equal(statcache_save(old, AT_FDCWD, "grown", false), 0);
			after = size_of("grown");
			if (!changed)
				assert_int_equal(after, before);
			appended += after > before;
			rewritten += after < before;
			/* Who opened it before still has the old tree, block for block. */
			assert_int_equal(statcache_root(reader)->nr, root->nr);
			assert_int_equal(check_file("grown", root), blocks);
			statcache_close(reader);
			statcache_close(old);
		}
		arena_release(&memory);
	}
	assert_true(appended > 100);
	assert_true(rewritten > 10);
}

/* Cut anywhere while it is appended to, it is the old one, the new one, or nothing. */
static void test_statcache_torn_appends_are_harmless(void **state)
{
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
	struct statcache *old;

	(void)state;
	put_bytes(in_scratch("torn"), good.buf, good.len);
	old = statcache_open(AT_FDCWD, "torn");
	attach(old, statcache_root(old), tree);
	tree->st.mtime_ns ^= 1;
	statcache_update(old, &head, tree);
	assert_int_equal(statcache_save(old, AT_FDCWD, "torn", false), 0);
	statcache_close(old);
	get_bytes(&after, in_scratch("torn"));
	assert_true(after.len > good.len);
	strbuf_add(&before, good.buf, good.len);
	for (size_t len = 0; len < after.len; len++) {
		struct statcache *cache;

		/* The blocks first, then the header. */
		if (len < after.len - good.len)
			strbuf_add(&before, after.buf + good.len + len, 1);
		else if (len - (after.len - good.len) < 200)
			before.buf[len - (after.len - good.len)] = after.buf[len - (after.len - good.len)];
		else
			break;
		put_bytes(in_scratch("torn"), before.buf, before.len);
		cache = statcache_open(AT_FDCWD, "torn");
		if (cache) {
			const struct statcache_dir *root = statcache_root(cache);

			assert_non_null(root);
			if (root->st.mtime_ns != tree->st.mtime_ns)
				assert_int_equal(root->st.mtime_ns ^ 1, tree->st.mtime_ns);
		}
		statcache_close(cache);
	}
	tree->st.mtime_ns ^= 1;
	strbuf_release(&before);
	strbuf_release(&after);
}

static void flip(int fd, size_t bit)
{
	char byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
	byte ^= (char)(1 << bit % 8);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
}

/* Each single bit: the block that it is in is lost, and with it what is below; nothing else. */
static void test_statcache_every_flipped_bit_is_noticed(void **state)
{
	size_t all = count_dirs(tree), step = 1 + good.len * 8 / 20000, lost = 0;
	int fd;

	(void)state;
	put_bytes(in_scratch("flip"), good.buf, good.len);
	fd = open(in_scratch("flip"), O_RDWR | O_CLOEXEC);
	for (size_t bit = 0; bit < good.len * 8;
	     bit += bit < 8 * 256 ? 1 : 1 + rnd((unsigned)(2 * step))) {
		size_t found;

		flip(fd, bit);
		found = check_file("flip", tree);
		if (found >= all)
			fail_msg("bit %zu makes no difference", bit);
		lost += !found;
		flip(fd, bit);
	}
	assert_true(lost > 0);
	assert_int_equal(check_file("flip", tree), all);
	close(fd);
}

static void test_statcache_wild_damage_never_lies(void **state)
{
	int fd;

	(void)state;
	put_bytes(in_scratch("wild"), good.buf, good.len);
	fd = open(in_scratch("wild"), O_RDWR | O_CLOEXEC);
	for (int round = 0; round < 4000; round++) {
		size_t n = 1 + rnd(8);
		bool header = rnd(2);

		for (size_t i = 0; i < n; i++) {
			size_t at = header ? rnd(128) : rnd((unsigned)good.len);
			char byte = rnd(3) ? (char)rnd(256) : (char)(rnd(2) ? 0xff : 0);

			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		if (!rnd(4)) {
			/* A piece of the file where another should be. */
			size_t len = 1 + rnd(300), from = rnd((unsigned)(good.len - len)),
			       to = rnd((unsigned)(good.len - len));

			assert_int_equal(pwrite(fd, good.buf + from, len, (off_t)to), len);
		}
		check_file("wild", tree);
		assert_int_equal(pwrite(fd, good.buf, good.len, 0), good.len);
	}
	close(fd);
}

static void test_statcache_what_is_no_cache_is_none(void **state)
{
	pid_t pid;

	(void)state;
	sh("mkdir dir; mkfifo fifo; ln -s good link; : >empty; seq 40000 | gzip -nc >noise; "
	   "head -c 100000 /dev/zero >zeroes");
	assert_null(statcache_open(AT_FDCWD, "none"));
	assert_null(statcache_open(AT_FDCWD, "dir"));
	assert_null(statcache_open(AT_FDCWD, "link"));
	assert_null(statcache_open(AT_FDCWD, "empty"));
	assert_null(statcache_open(AT_FDCWD, "noise"));
	assert_null(statcache_open(AT_FDCWD, "zeroes"));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(statcache_open(AT_FDCWD, "fifo") != NULL);
	expect_exit(pid, 10);
	statcache_close(NULL);
}

/* One of another version, or byte order, is foreign even if all its sums are right. */
static void test_statcache_foreign_versions_are_nothing_known(void **state)
{
	/* magic 8, crc 4, then byte order, version and size of an entry, 4 each */
	static const size_t fields[] = { 12, 16, 20 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *copy = xmemdupz(good.buf, good.len);
		uint32_t value;
		struct statcache *cache;

		memcpy(&value, copy + fields[i], 4);
		value++;
		memcpy(copy + fields[i], &value, 4);
		/* The checksum is made right by trying what it covers. */
		for (size_t end = 24; end <= 256; end += 4) {
			uint32_t sum;

			memcpy(&sum, good.buf + 8, 4);
			if (hash_crc(0, good.buf + 12, end - 12) == sum) {
				sum = hash_crc(0, copy + 12, end - 12);
				memcpy(copy + 8, &sum, 4);
				break;
			}
			assert_true(end < 256);
		}
		put_bytes(in_scratch("foreign"), copy, good.len);
		cache = statcache_open(AT_FDCWD, "foreign");
		assert_null(cache);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statcache_round_trip),
		cmocka_unit_test(test_statcache_bytes_depend_on_the_tree_alone),
		cmocka_unit_test(test_statcache_any_truncation_is_nothing_known),
		cmocka_unit_test(test_statcache_appends_what_changed),
		cmocka_unit_test(test_statcache_torn_appends_are_harmless),
		cmocka_unit_test(test_statcache_every_flipped_bit_is_noticed),
		cmocka_unit_test(test_statcache_wild_damage_never_lies),
		cmocka_unit_test(test_statcache_what_is_no_cache_is_none),
		cmocka_unit_test(test_statcache_foreign_versions_are_nothing_known),
	};

	return cmocka_run_group_tests_name("statcache", tests, setup, teardown);
}
