/* SPDX-License-Identifier: MIT */
#include "record/manifest.h"

#include "base/fs.h"
#include "base/quote.h"
#include "unit.h"

#include "recordgen.h"

static void read_manifest(struct strbuf *out, struct store *store)
{
	strbuf_reset(out);
	assert_int_equal(fs_read_file(out, store->dirfd, "checkpoint-manifest.md"), 0);
}

static void write_manifest(struct store *store, const void *data, size_t len)
{
	assert_int_equal(fs_write_file(store->dirfd, "checkpoint-manifest.md", data, len, 0600,
				       FS_FAST),
			 0);
}

static bool agrees(struct store *store)
{
	struct ref_list refs;
	bool yes;

	assert_int_equal(refs_list(&refs, store), 0);
	yes = manifest_agrees(store, &refs);
	refs_release(&refs);
	return yes;
}

/* A store with `nr` checkpoints, whose texts are as odd as texts can be. */
static struct store *fill(const char *name, int nr, struct ckpt_record *records)
{
	struct store *store = recordgen_store(name);

	for (int i = 0; i < nr; i++) {
		char id[CKPT_ID_SIZE];

		snprintf(id, sizeof(id), "chk_20260930_123456_%06x", i);
		recordgen_plain(&records[i], id);
		free(records[i].reason);
		free(records[i].source);
		records[i].reason = recordgen_text(60);
		records[i].source = recordgen_text(20);
		records[i].step = rnd(2) ? -1 : (int64_t)rnd(100);
		records[i].files = rnd(1000);
		records[i].bytes = rnd64() >> (1 + rnd(60));
		recordgen_save(store, &records[i]);
	}
	return recordgen_reopen(store);
}

static void release(struct ckpt_record *records, int nr)
{
	for (int i = 0; i < nr; i++)
		record_release(&records[i]);
}

/* The cells of a row as a reader of Markdown has them; the number of them. */
static size_t split(struct strlist *out, const char *row)
{
	struct strbuf cell = STRBUF_INIT;

	assert_int_equal(row[0], '|');
	for (const char *p = row + 1; *p && *p != '\n'; p++) {
		if (p[0] == '\\' && p[1] == '|') {
			strbuf_addch(&cell, '|');
			p++;
		} else if (*p == '|') {
			assert_true(cell.len >= 2 && cell.buf[0] == ' ' &&
				    cell.buf[cell.len - 1] == ' ');
			strbuf_setlen(&cell, cell.len - 1);
			strlist_add(out, cell.buf + 1);
			strbuf_reset(&cell);
		} else {
			strbuf_addch(&cell, *p);
		}
	}
	assert_int_equal(cell.len, 0);
	strbuf_release(&cell);
	return out->nr;
}

static void test_manifest_rows_are_rows_whatever_the_texts(void **state)
{
	enum { NR = 60 };
	static struct ckpt_record records[NR];
	struct store *store = fill("rows", NR, records);
	struct strbuf text = STRBUF_INIT;
	char *line, *rest = NULL;
	int row = -2;

	(void)state;
	assert_int_equal(manifest_rebuild(store), 0);
	read_manifest(&text, store);
	assert_true(utf8_valid(text.buf, text.len));
	assert_true(agrees(store));
	line = strstr(text.buf, "\n\n");
	assert_non_null(line);
	for (line = strtok_r(line, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), row++) {
		struct strlist cells = STRLIST_INIT;
		struct strbuf clean = STRBUF_INIT;
		char hex[OID_HEX + 1];

		if (row == -2) {
			assert_int_equal(split(&cells, line), 9);
			assert_string_equal(cells.items[0], "Hash");
			assert_string_equal(cells.items[2], "Reason");
		}
		if (row >= 0) {
			assert_true(row < NR);
			assert_int_equal(split(&cells, line), 9);
			oid_hex(hex, &records[row].commit);
			hex[8] = '\0';
			assert_string_equal(cells.items[0], hex);
			assert_string_equal(cells.items[4], records[row].id);
			/* The reason, but for what no cell can hold. */
			utf8_sanitize(&clean, records[row].reason, strlen(records[row].reason));
			for (size_t i = 0; i < clean.len; i++)
				if ((unsigned char)clean.buf[i] < 0x20 || clean.buf[i] == 0x7f)
					clean.buf[i] = ' ';
			if (!strstr(records[row].reason, "\\|"))
				assert_string_equal(cells.items[2], clean.buf);
		}
		strlist_release(&cells);
		strbuf_release(&clean);
	}
	assert_int_equal(row, NR);
	release(records, NR);
	strbuf_release(&text);
	store_close(store);
}

/* Line by line or all at once: the same file. */
static void test_manifest_append_equals_rebuild(void **state)
{
	enum { NR = 25 };
	static struct ckpt_record records[NR];
	struct store *store = recordgen_store("append");
	struct strbuf appended = STRBUF_INIT, rebuilt = STRBUF_INIT;

	(void)state;
	assert_int_equal(manifest_rebuild(store), 0);
	assert_true(agrees(store));
	for (int i = 0; i < NR; i++) {
		char id[CKPT_ID_SIZE];

		snprintf(id, sizeof(id), "chk_20260930_123456_%06x", i);
		recordgen_plain(&records[i], id);
		free(records[i].reason);
		records[i].reason = recordgen_text(60);
		recordgen_save(store, &records[i]);
		/* A checkpoint that it does not list. */
		assert_false(agrees(store));
		assert_int_equal(manifest_append(store, &records[i]), 0);
		assert_true(agrees(store));
	}
	read_manifest(&appended, store);
	store = recordgen_reopen(store);
	assert_int_equal(manifest_rebuild(store), 0);
	read_manifest(&rebuilt, store);
	assert_string_equal(appended.buf, rebuilt.buf);
	release(records, NR);
	strbuf_release(&appended);
	strbuf_release(&rebuilt);
	store_close(store);
}

static void test_manifest_disagrees_with_anything_else(void **state)
{
	enum { NR = 8 };
	static struct ckpt_record records[NR];
	struct store *store = fill("other", NR, records);
	struct strbuf good = STRBUF_INIT;
	char *first, *second, *copy;

	(void)state;
	sh("rm -f '%s/checkpoint-manifest.md'", store->path);
	assert_false(agrees(store));
	assert_int_equal(manifest_rebuild(store), 0);
	assert_true(agrees(store));
	read_manifest(&good, store);

	/* Cut off anywhere. */
	for (size_t len = 0; len < good.len; len++) {
		write_manifest(store, good.buf, len);
		if (agrees(store))
			fail_msg("%zu of %zu bytes are taken for the whole", len, good.len);
	}
	/* A line missing, a line twice, two lines exchanged, NULs, another head. */
	first = strstr(good.buf, "chk_20260930_123456_000002");
	while (*first != '\n')
		first--;
	first++;
	second = strchr(first, '\n') + 1;
	copy = xmalloc(2 * good.len);
	memcpy(copy, good.buf, good.len);
	memmove(copy + (first - good.buf), second, good.len - (size_t)(second - good.buf));
	write_manifest(store, copy, good.len - (size_t)(second - first));
	assert_false(agrees(store));
	memcpy(copy, good.buf, good.len);
	memmove(copy + (second - good.buf) + (second - first), second,
		good.len - (size_t)(second - good.buf));
	memcpy(copy + (second - good.buf), first, (size_t)(second - first));
	write_manifest(store, copy, good.len + (size_t)(second - first));
	assert_false(agrees(store));
	{
		size_t third = (size_t)(strchr(second, '\n') + 1 - second),
		       len = (size_t)(second - first);

		memcpy(copy, good.buf, good.len);
		memcpy(copy + (first - good.buf), second, third);
		memcpy(copy + (first - good.buf) + third, first, len);
		write_manifest(store, copy, good.len);
		assert_false(agrees(store));
	}
	memcpy(copy, good.buf, good.len);
	memset(copy + good.len - 20, 0, 20);
	write_manifest(store, copy, good.len);
	assert_false(agrees(store));
	memset(copy, 0, good.len);
	write_manifest(store, copy, good.len);
	assert_false(agrees(store));
	memcpy(copy, good.buf, good.len);
	memcpy(strstr(copy, "| Timestamp"), "| Timestump", 11);
	write_manifest(store, copy, good.len);
	assert_false(agrees(store));
	/* A directory in its place can be neither read nor replaced, but nothing worse happens. */
	sh("rm '%s/checkpoint-manifest.md'; mkdir -p '%s/checkpoint-manifest.md/x'", store->path,
	   store->path);
	assert_false(agrees(store));
	assert_int_not_equal(manifest_rebuild(store), 0);
	sh("rm -r '%s/checkpoint-manifest.md'", store->path);
	assert_int_equal(manifest_rebuild(store), 0);
	assert_true(agrees(store));
	/* A ref that is gone. */
	sh("rm '%s/refs/checkpoints/chk_20260930_123456_000003'", store->path);
	assert_false(agrees(store));
	free(copy);
	release(records, NR);
	strbuf_release(&good);
	store_close(store);
}

/* Bytes of any kind are borne, and never taken for right if an id in them is wrong. */
static void test_manifest_of_any_bytes(void **state)
{
	enum { NR = 5 };
	static struct ckpt_record records[NR];
	struct store *store = fill("noise", NR, records);
	struct strbuf good = STRBUF_INIT;

	(void)state;
	assert_int_equal(manifest_rebuild(store), 0);
	read_manifest(&good, store);
	for (int round = 0; round < 500; round++) {
		char *copy = xmemdupz(good.buf, good.len), *at;
		unsigned which = rnd(NR);
		char id[CKPT_ID_SIZE];

		for (unsigned n = rnd(20); n; n--)
			copy[rnd((unsigned)good.len)] =
				rnd(2) ? (char)rnd(256) : "|\\\n \0"[rnd(5)];
		snprintf(id, sizeof(id), "chk_20260930_123456_%06x", which);
		at = memmem(copy, good.len, id, strlen(id));
		if (at)
			at[rnd(26)] = 'z';
		write_manifest(store, copy, good.len);
		assert_false(agrees(store));
		free(copy);
	}
	release(records, NR);
	strbuf_release(&good);
	store_close(store);
}

/* The title names the worktree, whatever that is called. */
static void test_manifest_of_worktrees_with_odd_names(void **state)
{
	static const char *const names[] = { "pi|pe", "| Hash |", "new\nline\n\nmore", "back\\|",
					     "\xff" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct ckpt_record record;
		struct store *store = fill(names[i], 1, &record);

		assert_int_equal(manifest_rebuild(store), 0);
		if (!agrees(store))
			fail_msg("'%s' is never content", names[i]);
		record_release(&record);
		store_close(store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest_rows_are_rows_whatever_the_texts),
		cmocka_unit_test(test_manifest_append_equals_rebuild),
		cmocka_unit_test(test_manifest_disagrees_with_anything_else),
		cmocka_unit_test(test_manifest_of_any_bytes),
		cmocka_unit_test(test_manifest_of_worktrees_with_odd_names),
	};

	return cmocka_run_group_tests_name("manifest", tests, unit_setup, unit_teardown);
}
