/* SPDX-License-Identifier: MIT */
#include "record/statehash.h"

#include "tree/tree.h"

enum { PIECE = 64 * 1024 };

/* --- lines --- */

static void add_line(struct strbuf *out, unsigned mode, const unsigned char *sha256,
		     const char *name, size_t len)
{
	char head[6 + 1 + SHA256_HEX + 1];

	for (int i = 5; i >= 0; i--, mode >>= 3)
		head[i] = (char)('0' + (mode & 7));
	head[6] = ' ';
	oid_hex_encode(head + 7, sha256, SHA256_SIZE);
	head[7 + SHA256_HEX] = ' ';
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, name, len);
	strbuf_addch(out, '\0');
}

/* SHA-256 of nothing, which is what a directory contains. */
static const unsigned char nothing[SHA256_SIZE] = {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

/* A directory here is an empty one. */
static void add_leaf(struct strbuf *out, const char *name, size_t len, const struct wt_entry *entry)
{
	add_line(out, wt_entry_mode(entry), entry->kind == WT_DIR ? nothing : entry->sha256, name,
		 len);
}

/* --- the hash of a directory --- */

static int by_name(const void *x, const void *y)
{
	const struct wt_entry *a = *(const struct wt_entry *const *)x;
	const struct wt_entry *b = *(const struct wt_entry *const *)y;

	return wt_name_compare(a->name, a->name_len, false, b->name, b->name_len, false);
}

/*
 * The entries in byte order of name, or NULL if they are in this order already: in the order of git's
 * trees a directory is compared as if its name ended in a slash.
 */
static const struct wt_entry **order_by_name(const struct wt_dir *dir)
{
	const struct wt_entry **order;
	bool sorted = true;

	for (size_t i = 1; i < dir->nr && sorted; i++) {
		const struct wt_entry *a = &wt_entries(dir)[i - 1], *b = &wt_entries(dir)[i];

		sorted = wt_name_compare(a->name, a->name_len, false, b->name, b->name_len, false) < 0;
	}
	if (sorted)
		return NULL;
	order = xmalloc(dir->nr * sizeof(*order));
	for (size_t i = 0; i < dir->nr; i++)
		order[i] = &wt_entries(dir)[i];
	qsort(order, dir->nr, sizeof(*order), by_name);
	return order;
}

static void hash_dir(struct wt_dir *dir, struct strbuf *text)
{
	const struct wt_entry **order;
	size_t start = text->len;

	if (dir->hashed)
		return;
	order = order_by_name(dir);
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = order ? order[i] : &wt_entries(dir)[i];

		if (entry->kind == WT_DIR)
			hash_dir(entry->dir, text);
		add_line(text, wt_entry_mode(entry),
			 entry->kind == WT_DIR ? entry->dir->sha256 : entry->sha256, entry->name,
			 entry->name_len);
	}
	hash_buffer(HASH_SHA256, dir->sha256, text->buf + start, text->len - start);
	dir->hashed = true;
	strbuf_setlen(text, start);
	free(order);
}

/* --- part of a tree --- */

/* In byte order of each name on the way: a slash comes before everything else. */
static int by_names(const void *x, const void *y)
{
	const unsigned char *a = (const void *)((const struct statehash_item *)x)->path;
	const unsigned char *b = (const void *)((const struct statehash_item *)y)->path;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a || !*b)
		return *a ? 1 : *b ? -1 : 0;
	return (*a == '/' ? 0 : *a) - (*b == '/' ? 0 : *b);
}

/* Of a directory whose path has `depth` bytes: all items of the list begin with it. */
static void hash_part(unsigned char out[SHA256_SIZE], const struct statehash_item *items, size_t nr,
		      size_t depth, struct strbuf *text)
{
	size_t start = text->len, end;

	for (size_t i = 0; i < nr; i = end) {
		const char *name = items[i].path + depth;
		size_t len = strcspn(name, "/");
		unsigned char sha256[SHA256_SIZE];

		end = i + 1;
		if (!name[len]) {
			add_leaf(text, name, len, items[i].entry);
			continue;
		}
		while (end < nr && !strncmp(items[end].path + depth, name, len + 1))
			end++;
		hash_part(sha256, items + i, end - i, depth + len + 1, text);
		add_line(text, 0040000, sha256, name, len);
	}
	hash_buffer(HASH_SHA256, out, text->buf + start, text->len - start);
	strbuf_setlen(text, start);
}

/* --- the state hash --- */

static char *format_hash(char out[STATEHASH_SIZE], const unsigned char sha256[SHA256_SIZE])
{
	memcpy(out, "sha256:", 7);
	oid_hex_encode(out + 7, sha256, SHA256_SIZE);
	return out;
}

char *statehash_end(char out[STATEHASH_SIZE], struct digest *sha256)
{
	unsigned char raw[SHA256_SIZE];

	hash_end(sha256, raw);
	hash_free(sha256);
	return format_hash(out, raw);
}

char *statehash_items(char out[STATEHASH_SIZE], struct statehash_item *items, size_t nr)
{
	struct strbuf text = STRBUF_INIT;
	unsigned char sha256[SHA256_SIZE];

	if (nr)
		qsort(items, nr, sizeof(*items), by_names);
	hash_part(sha256, items, nr, 0, &text);
	strbuf_release(&text);
	return format_hash(out, sha256);
}

struct lines {
	struct strbuf out;
	statehash_fn fn;
	void *payload;
};

static int pass_line(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	struct lines *lines = payload;

	add_leaf(&lines->out, path, len, entry);
	if (lines->out.len >= PIECE) {
		int err = lines->fn(lines->out.buf, lines->out.len, lines->payload);

		strbuf_reset(&lines->out);
		return err;
	}
	return 0;
}

int statehash_lines(const struct wt_dir *root, statehash_fn fn, void *payload)
{
	struct lines lines = { .out = STRBUF_INIT, .fn = fn, .payload = payload };
	int err = wt_visit(root, pass_line, &lines);

	if (!err && lines.out.len)
		err = fn(lines.out.buf, lines.out.len, payload);
	strbuf_release(&lines.out);
	return err;
}

char *statehash(char out[STATEHASH_SIZE], struct wt_dir *root)
{
	struct strbuf text = STRBUF_INIT;

	hash_dir(root, &text);
	strbuf_release(&text);
	return format_hash(out, root->sha256);
}
