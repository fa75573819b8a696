/* SPDX-License-Identifier: MIT */
#include "store/cache.h"

#include "store/layout.h"
#include "store/shadow.h"

static const char magic[8] = "CKPTCCH1";

/* Before the data of each section, which are filled up to a multiple of eight bytes. */
struct head {
	char name[16];
	uint64_t len;
	uint32_t crc; /* of the head, with 0 here, and of the data */
	uint32_t zero;
};

_Static_assert(sizeof(struct head) == 32, "no padding");

static size_t padding(size_t len)
{
	return -len & 7;
}

static uint32_t checksum(struct head head, const void *data)
{
	head.crc = 0;
	return hash_crc(hash_crc(0, &head, sizeof(head)), data, head.len);
}

/* The head of the section at `*at`, and `*at` after it; false at the end, or if it is torn. */
static bool next_section(struct head *out, size_t *at, const struct map *file)
{
	size_t left = file->size - *at;

	if (left < sizeof(*out))
		return false;
	memcpy(out, file->data + *at, sizeof(*out));
	left -= sizeof(*out);
	if (out->name[sizeof(out->name) - 1] || out->len > left || padding(out->len) > left - out->len)
		return false;
	*at += sizeof(*out) + out->len + padding(out->len);
	return true;
}

static struct map map_sections(size_t *at_out, struct store *store)
{
	struct map file = map_file(store->dirfd, LAYOUT_CACHE);

	*at_out = sizeof(magic);
	if (file.size < sizeof(magic) || memcmp(file.data, magic, sizeof(magic)) != 0)
		*at_out = file.size;
	return file;
}

struct cache_section cache_open(struct store *store, const char *name)
{
	struct cache_section section = { 0 };
	struct head head;
	size_t at;

	section.file = map_sections(&at, store);
	while (!section.data && next_section(&head, &at, &section.file)) {
		const char *data = (const char *)section.file.data + at - head.len - padding(head.len);

		if (!strcmp(head.name, name) && checksum(head, data) == head.crc) {
			section.data = data;
			section.len = head.len;
		}
	}
	return section;
}

void cache_close(struct cache_section *section)
{
	map_release(&section->file);
	*section = (struct cache_section){ 0 };
}

static void add_section(struct strbuf *out, const char *name, const void *data, size_t len)
{
	static const char zeros[8];
	struct head head = { .len = len };

	snprintf(head.name, sizeof(head.name), "%s", name);
	head.crc = checksum(head, data);
	strbuf_add(out, &head, sizeof(head));
	strbuf_add(out, data, len);
	strbuf_add(out, zeros, padding(len));
}

void cache_set(struct store *store, const char *name, const void *data, size_t len)
{
	struct strbuf text = STRBUF_INIT;
	struct head head;
	struct map file;
	size_t at, from;

	if (store->lockfd < 0)
		return;
	file = map_sections(&at, store);
	strbuf_add(&text, magic, sizeof(magic));
	for (from = at; next_section(&head, &at, &file); from = at)
		if (strcmp(head.name, name) != 0)
			strbuf_add(&text, file.data + from, at - from);
	if (data)
		add_section(&text, name, data, len);
	map_release(&file);
	/* A directory may lie there. */
	if (text.len == sizeof(magic) ||
	    fs_write_file(store->dirfd, LAYOUT_CACHE, text.buf, text.len, 0600, FS_FAST))
		(void)fs_remove_tree(store->dirfd, LAYOUT_CACHE);
	strbuf_release(&text);
}
