/* SPDX-License-Identifier: MIT */
#include "record/statehash.h"

#include "base/base.h"
#include "worktree/worktree.h"

enum { PIECE = 64 * 1024 };

struct lines {
	struct strbuf out;
	statehash_fn fn;
	void *payload;
};

/* SHA-256 of nothing, which is what a directory contains. */
static const unsigned char nothing[SHA256_SIZE] = {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

void statehash_line(struct strbuf *out, const char *path, size_t len, const struct wt_entry *entry)
{
	unsigned mode = wt_entry_mode(entry);
	char head[6 + 1 + SHA256_HEX + 1];

	for (int i = 5; i >= 0; i--, mode >>= 3)
		head[i] = (char)('0' + (mode & 7));
	head[6] = ' ';
	oid_hex_encode(head + 7, entry->kind == WT_DIR ? nothing : entry->sha256, SHA256_SIZE);
	head[7 + SHA256_HEX] = ' ';
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, path, len + 1);
}

static int add_line(const char *path, size_t len, const struct wt_entry *entry, void *payload)
{
	struct lines *lines = payload;

	statehash_line(&lines->out, path, len, entry);
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
	int err = wt_visit(root, add_line, &lines);

	if (!err && lines.out.len)
		err = fn(lines.out.buf, lines.out.len, payload);
	strbuf_release(&lines.out);
	return err;
}

static int hash_piece(const char *data, size_t len, void *payload)
{
	hash_update(payload, data, len);
	return 0;
}

char *statehash_end(char out[STATEHASH_SIZE], struct digest *sha256)
{
	unsigned char raw[SHA256_SIZE];

	hash_end(sha256, raw);
	hash_free(sha256);
	memcpy(out, "sha256:", 7);
	oid_hex_encode(out + 7, raw, SHA256_SIZE);
	return out;
}

char *statehash(char out[STATEHASH_SIZE], const struct wt_dir *root)
{
	struct digest *sha256 = hash_new(HASH_SHA256);

	(void)statehash_lines(root, hash_piece, sha256);
	return statehash_end(out, sha256);
}
