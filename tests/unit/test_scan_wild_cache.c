/* SPDX-License-Identifier: MIT */
/* A stat cache with right checksums and wild contents. */
#include "tree/scan.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "tree/statcache_internal.h"
#include "unit.h"

#include "scanprobe.h"

/* Where the header of the file has its checksum and the offset of the root's block. */
enum { HEADER_SUM = 8, HEADER_SUMMED = 12, HEADER_ROOT = 32 };

struct blocks {
	size_t at[16], size[16];
	size_t nr;
};

static void find_blocks(struct blocks *out, const struct statcache *cache,
			const struct statcache_dir *dir)
{
	assert_non_null(dir);
	out->at[out->nr] = (size_t)statcache_offset(cache, dir);
	out->size[out->nr++] = statcache_block_size(dir);
	for (uint32_t i = 0; i < dir->nr; i++)
		if (statcache_entries(dir)[i].kind == WT_DIR)
			find_blocks(out, cache, statcache_child(cache, &statcache_entries(dir)[i]));
}

/* Believed, it may make anything of the tree, but nothing worse. */
static void believe(struct statcache *cache)
{
	static const struct strlist none = STRLIST_INIT;
	const struct scan_hints hints = { &none, &none };
	struct strbuf got = STRBUF_INIT;
	struct scan *scan = NULL;

	assert_int_equal(scan_in(&scan, "wild",
				 (struct scan_opts){ .threads = 1,
						     .cache = cache,
						     .index_same = true,
						     .hints = &hints },
				 true),
			 0);
	describe(&got, scan->root, false);
	scan_free(scan);
	strbuf_release(&got);
}

/* Whatever it says: what is there is found, and nothing that is not. */
static void expect_same_names(const char *bytes, size_t len, const char *names, size_t at)
{
	struct strbuf got = STRBUF_INIT;
	struct ingest_result read = { 0 };
	struct statcache *cache;
	struct scan *scan = NULL;

	put_bytes(in_scratch("mutant"), bytes, len);
	cache = statcache_open(AT_FDCWD, "mutant");
	assert_int_equal(scan_in(&scan, "wild", (struct scan_opts){ .threads = 1, .cache = cache },
				 true),
			 0);
	describe(&got, scan->root, false);
	if (strcmp(got.buf, names))
		fail_msg("a change at byte %zu of the cache makes this of the tree:\n%s", at, got.buf);
	assert_int_equal(ingest_run(&read, &(struct ingest_opts){ .threads = 1, .scan = scan }), 0);
	assert_int_equal(ingest_trees(scan->root, NULL, 1), 0);
	scan_free(scan);
	if (cache)
		believe(cache);
	statcache_close(cache);
	strbuf_release(&got);
}

/* Put `width` bytes of `value` at `at`, make the sum of the block at `block` right, and use it. */
static void try_value(const struct strbuf *good, size_t block, size_t at, size_t width,
		      uint64_t value, const char *names)
{
	char *copy = xmemdupz(good->buf, good->len);
	struct statcache_dir head;
	uint64_t size;

	memcpy(copy + at, &value, width);
	memcpy(&head, copy + block, sizeof(head));
	size = sizeof(head) + (uint64_t)head.modes_nr * sizeof(struct wt_mode_count) +
	       (uint64_t)head.nr * sizeof(struct statcache_entry) + head.names_len + head.notes_len + 7;
	if (size <= good->len - block)
		statcache_seal_block((struct statcache_dir *)(copy + block));
	expect_same_names(copy, good->len, names, at);
	free(copy);
}

static void try_values(const struct strbuf *good, size_t block, size_t at, const char *names)
{
	const uint64_t values[] = { 0, 1, 8, 0xff, good->len, good->len - 8, block, block + 8,
				    0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffff8u,
				    0x7fffffffffffffffu, 0xfffffffffffffff8u, UINT64_MAX };
	uint32_t was;

	memcpy(&was, good->buf + at, 4);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		try_value(good, block, at, at % 8 ? 4 : 8, values[i], names);
	try_value(good, block, at, 4, was + 1, names);
	try_value(good, block, at, 4, was - 1, names);
}

/* Every field of a block, but for object names, which may be anything; then every letter. */
static void try_block(const struct strbuf *good, size_t block, size_t size, const char *names)
{
	static const char letters[] = { '\0', '/', '.', 'z', '\xff' };
	size_t entries, at = block + 8, step = (size_t)(8 / rounds(8));
	struct statcache_dir head;

	memcpy(&head, good->buf + block, sizeof(head));
	entries = block + sizeof(head) + head.modes_nr * sizeof(struct wt_mode_count);
	for (; at < entries + head.nr * sizeof(struct statcache_entry); at += 4 * step)
		if (at < entries || (at - entries) % sizeof(struct statcache_entry) <=
					    offsetof(struct statcache_entry, oid))
			try_values(good, block, at, names);
	for (; at < block + size; at += step)
		for (size_t j = 0; j < ARRAY_SIZE(letters); j++)
			try_value(good, block, at, 1, (unsigned char)letters[j], names);
}

/* The checksum proves that nothing was damaged, not who made it: every field is looked at. */
static void test_scan_with_a_wild_cache_finds_what_is_there(void **state)
{
	struct strbuf text = STRBUF_INIT, names = STRBUF_INIT, good = STRBUF_INIT;
	struct ingest_result read = { 0 };
	struct blocks blocks = { .nr = 0 };
	struct statcache *cache;
	struct scan *scan;

	(void)state;
	sh("mkdir -p wild/d/e wild/f; touch wild/a wild/d.c wild/d/x wild/d/yy wild/d/e/z; "
	   "ln -s a wild/l; touch outside .git; cp outside wild/d/e/outside");
	usleep(50000);
	scan = capture(&text, "wild", NULL, &read);
	describe(&names, scan->root, false);
	assert_true(scan->root->listing & WT_PLAIN);
	assert_int_equal(write_cache(scan), 0);
	scan_free(scan);
	get_bytes(&good, in_scratch("cache"));
	cache = statcache_open(AT_FDCWD, "cache");
	find_blocks(&blocks, cache, statcache_root(cache));
	assert_int_equal(blocks.nr, 4);

	for (size_t i = 0; i < blocks.nr; i++)
		try_block(&good, blocks.at[i], blocks.size[i], names.buf);
	/* The header's sum ends where it comes out right. */
	for (size_t end = HEADER_ROOT + 8; end < 256; end += 4) {
		uint32_t sum;

		memcpy(&sum, good.buf + HEADER_SUM, 4);
		if (hash_crc(0, good.buf + HEADER_SUMMED, end - HEADER_SUMMED) != sum)
			continue;
		for (uint64_t value = 0; value < good.len + 64; value += 4) {
			memcpy(good.buf + HEADER_ROOT, &value, 8);
			sum = hash_crc(0, good.buf + HEADER_SUMMED, end - HEADER_SUMMED);
			memcpy(good.buf + HEADER_SUM, &sum, 4);
			expect_same_names(good.buf, good.len, names.buf, HEADER_ROOT);
		}
		end = 1000;
	}
	statcache_close(cache);
	strbuf_release(&text);
	strbuf_release(&names);
	strbuf_release(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_with_a_wild_cache_finds_what_is_there),
	};

	return cmocka_run_group_tests_name("scan: wild cache", tests, scanprobe_setup, scanprobe_teardown);
}
