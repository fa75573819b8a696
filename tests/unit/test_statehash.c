/* SPDX-License-Identifier: MIT */
#include "record/statehash.h"

#include "base/hash.h"
#include "base/strlist.h"
#include "unit.h"

#include "treegen.h"

/* ---- by the letter of its definition ---- */

static void add_lines(struct strlist *out, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		unsigned mode = entry->kind == WT_LINK	? 0120000
				: entry->kind == WT_DIR ? 0040000
							: 0100000 | entry->mode;
		unsigned char nothing[SHA256_SIZE];
		char hex[SHA256_HEX + 1];

		if (entry->kind == WT_DIR && entry->dir->nr) {
			add_lines(out, entry->dir);
			continue;
		}
		hash_buffer(HASH_SHA256, nothing, "", 0);
		oid_hex_encode(hex, entry->kind == WT_DIR ? nothing : entry->sha256, SHA256_SIZE);
		/* The path first, so that sorting lines sorts paths. */
		strlist_addf(out, "%s%s%s\n%06o %s", dir->path, *dir->path ? "/" : "", entry->name,
			     mode, hex);
	}
}

/* No name of treegen's contains a newline, but bytes below it: compare paths alone. */
static int by_path(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
	int cmp = memcmp(a, b, la < lb ? la : lb);

	return cmp ? cmp : (la > lb) - (la < lb);
}

static void define(struct strbuf *out, const struct wt_dir *root)
{
	struct strlist lines = STRLIST_INIT;

	add_lines(&lines, root);
	if (lines.nr)
		qsort(lines.items, lines.nr, sizeof(*lines.items), by_path);
	for (size_t i = 0; i < lines.nr; i++) {
		size_t len = strcspn(lines.items[i], "\n");

		strbuf_addf(out, "%s %.*s", lines.items[i] + len + 1, (int)len, lines.items[i]);
		strbuf_addch(out, '\0');
	}
	strlist_release(&lines);
}

static int gather(const char *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

static void test_statehash_lines_are_as_defined(void **state)
{
	size_t bytes = 0;

	(void)state;
	for (int round = 0; round < rounds(400); round++) {
		struct strbuf expect = STRBUF_INIT, got = STRBUF_INIT;
		struct arena arena = ARENA_INIT;
		/* A few of them longer than one piece. */
		struct wt_dir *root =
			treegen(&arena, NULL, "", round % 50 ? 4 : 3, round % 50 ? 7 : 40);

		define(&expect, root);
		assert_int_equal(statehash_lines(root, gather, &got), 0);
		assert_int_equal(got.len, expect.len);
		assert_memory_equal(got.buf, expect.buf, got.len);
		bytes = expect.len > bytes ? expect.len : bytes;
		arena_release(&arena);
		strbuf_release(&expect);
		strbuf_release(&got);
	}
	assert_true(bytes > 64 * 1024);
}

/* ---- the tree, from the definition: the lines of a directory, sorted as text ---- */

static int by_line_name(const void *x, const void *y)
{
	/* After the mode, the hash and two spaces. */
	return strcmp(*(char *const *)x + 6 + 1 + SHA256_HEX + 1,
		      *(char *const *)y + 6 + 1 + SHA256_HEX + 1);
}

static void define_dir(char hex[SHA256_HEX + 1], const struct wt_dir *dir)
{
	struct strlist lines = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	unsigned char raw[SHA256_SIZE];

	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char below[SHA256_HEX + 1];

		if (entry->kind == WT_DIR)
			define_dir(below, entry->dir);
		else
			oid_hex_encode(below, entry->sha256, SHA256_SIZE);
		strlist_addf(&lines, "%06o %s %s",
			     entry->kind == WT_DIR  ? 040000u
			     : entry->kind == WT_LINK ? 0120000u
						      : 0100000u + entry->mode,
			     below, entry->name);
	}
	if (lines.nr)
		qsort(lines.items, lines.nr, sizeof(*lines.items), by_line_name);
	for (size_t i = 0; i < lines.nr; i++)
		strbuf_add(&text, lines.items[i], strlen(lines.items[i]) + 1);
	hash_buffer(HASH_SHA256, raw, text.buf, text.len);
	oid_hex_encode(hex, raw, SHA256_SIZE);
	strlist_release(&lines);
	strbuf_release(&text);
}

static void test_statehash_is_as_defined(void **state)
{
	(void)state;
	for (int round = 0; round < rounds(400); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 4, 7);
		char hash[STATEHASH_SIZE], hex[SHA256_HEX + 1];

		define_dir(hex, root);
		assert_ptr_equal(statehash(hash, root), hash);
		assert_int_equal(strncmp(hash, "sha256:", 7), 0);
		assert_string_equal(hash + 7, hex);
		arena_release(&arena);
	}
}

struct parts {
	struct statehash_item *items;
	size_t nr, alloc;
};

static int add_part(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	struct parts *parts = payload;

	ALLOC_GROW(parts->items, parts->nr + 1, parts->alloc);
	parts->items[parts->nr++] = (struct statehash_item){ xmemdupz(path, len), entry };
	return 0;
}

static void test_statehash_of_parts_is_that_of_their_tree(void **state)
{
	(void)state;
	for (int round = 0; round < rounds(400); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 4, 7);
		char whole[STATEHASH_SIZE], parts[STATEHASH_SIZE];
		struct parts all = { 0 };

		wt_visit(root, add_part, &all);
		for (size_t i = all.nr; i > 1; i--) {
			size_t other = rnd((unsigned)i);
			struct statehash_item item = all.items[i - 1];

			all.items[i - 1] = all.items[other];
			all.items[other] = item;
		}
		statehash_items(parts, all.items, all.nr);
		assert_string_equal(parts, statehash(whole, root));
		for (size_t i = 0; i < all.nr; i++)
			free(all.items[i].path);
		free(all.items);
		arena_release(&arena);
	}
}

/* ---- every part of the state counts, nothing else does ---- */

/* What is hashed stays so until somebody says that it changed. */
static char *hash_again(char out[STATEHASH_SIZE], struct wt_dir *root)
{
	for (size_t i = 0; i < root->nr; i++)
		if (wt_entries(root)[i].kind == WT_DIR)
			hash_again(out, wt_entries(root)[i].dir);
	root->hashed = false;
	return statehash(out, root);
}

static struct wt_entry *pick(struct wt_dir *dir, enum wt_kind kind)
{
	for (int tries = 0; tries < 200; tries++) {
		struct wt_dir *at = dir;

		while (at->nr) {
			struct wt_entry *entry = &wt_entries(at)[rnd((unsigned)at->nr)];

			if (entry->kind == kind && (kind != WT_DIR || !entry->dir->nr))
				return entry;
			if (entry->kind != WT_DIR)
				break;
			at = entry->dir;
		}
	}
	return NULL;
}

static void test_statehash_sees_every_change(void **state)
{
	unsigned tried[6] = { 0 };

	(void)state;
	for (int round = 0; round < rounds(3000); round++) {
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 3, 6);
		char before[STATEHASH_SIZE], after[STATEHASH_SIZE];
		unsigned what = rnd(6);
		struct wt_entry *entry = pick(root, what < 3	? WT_FILE
						    : what == 3 ? WT_LINK
								: WT_DIR);

		statehash(before, root);
		if (!entry) {
			arena_release(&arena);
			continue;
		}
		switch (what) {
		case 0:
			entry->mode ^= (uint16_t)(1 << rnd(12));
			break;
		case 1:
		case 3:
			entry->sha256[rnd(SHA256_SIZE)] ^= (unsigned char)(1 << rnd(8));
			break;
		case 2:
			entry->kind = WT_LINK;
			break;
		case 4: /* an empty directory's mode is not part of it */
			entry->mode ^= 0022;
			break;
		default: /* of an entry that is no longer there */
			entry->flags |= WT_DEAD;
			wt_compact(root);
		}
		tried[what]++;
		/* wt_compact() says so itself. */
		if (what == 5)
			statehash(after, root);
		else
			hash_again(after, root);
		if (what == 4)
			assert_string_equal(after, before);
		else
			assert_string_not_equal(after, before);
		/* Times, sizes, inodes and object names are not part of it either. */
		if (entry->kind != WT_DIR && what != 5) {
			rnd_bytes(&entry->st, sizeof(entry->st));
			rnd_bytes(&entry->oid, sizeof(entry->oid));
			hash_again(before, root);
			assert_string_equal(after, before);
		}
		arena_release(&arena);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tried); i++)
		assert_true(tried[i] > 20);
}

static int fail_second(const char *data, size_t len, void *payload)
{
	(void)data;
	(void)len;
	return ++*(int *)payload == 2 ? -9 : 0;
}

static void test_statehash_lines_stop_when_told(void **state)
{
	struct arena arena = ARENA_INIT;
	struct strbuf all = STRBUF_INIT;
	struct wt_dir *root;
	int calls = 0;

	(void)state;
	do {
		strbuf_reset(&all);
		root = treegen(&arena, NULL, "", 3, 60);
		statehash_lines(root, gather, &all);
	} while (all.len < 300000);
	assert_int_equal(statehash_lines(root, fail_second, &calls), -9);
	assert_int_equal(calls, 2);
	strbuf_release(&all);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statehash_lines_are_as_defined),
		cmocka_unit_test(test_statehash_is_as_defined),
		cmocka_unit_test(test_statehash_of_parts_is_that_of_their_tree),
		cmocka_unit_test(test_statehash_sees_every_change),
		cmocka_unit_test(test_statehash_lines_stop_when_told),
	};

	return cmocka_run_group_tests_name("statehash", tests, NULL, NULL);
}
