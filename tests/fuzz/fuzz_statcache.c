/* SPDX-License-Identifier: MIT */
/*
 * A stat cache with right checksums and wild contents: every name that it hands out lies in its
 * block and is one that a directory can have.
 */
#include "fuzz.h"

/* The whole source, for what it keeps to itself: the header and the checksums. */
#include "tree/statcache.c"

enum { BLOCKS = 64, DEPTH = 8 };

/* Make the checksums of a block right, and those of the blocks below it. */
static void seal_block(char *data, size_t size, uint64_t offset, unsigned *budget)
{
	struct statcache_dir *dir;
	struct statcache_entry *entries;

	if (!*budget || offset % STATCACHE_ALIGN || offset < sizeof(struct statcache_header) ||
	    offset > size || size - offset < sizeof(*dir))
		return;
	--*budget;
	dir = (struct statcache_dir *)(data + offset);
	if (head_size(dir) + body_size(dir) > size - offset)
		return;
	entries = (struct statcache_entry *)statcache_entries(dir);
	for (uint32_t i = 0; i < dir->nr; i++)
		if (entries[i].kind == WT_DIR)
			seal_block(data, size, entries[i].child, budget);
	statcache_seal_block(dir);
}

static void seal(char *data, size_t size)
{
	struct statcache_header *header = (struct statcache_header *)data;
	unsigned budget = BLOCKS;

	header->file_size = size;
	if (header->full_size > size)
		header->full_size = size;
	seal_block(data, size, header->root, &budget);
	statcache_seal_header(header);
}

/* As a scan does, which goes no deeper than the directories on the disk. */
static void look(const struct statcache *cache, const struct statcache_dir *dir, unsigned depth)
{
	struct statcache_note note;
	size_t at = 0;

	if (!dir || depth > DEPTH)
		return;
	while (statcache_next_note(&note, &at, dir))
		FUZZ_CHECK(note.kind < WT_NOTES && *note.path && *note.path != '/' &&
				   (size_t)(note.path - statcache_notes(dir)) + strlen(note.path) <
					   dir->notes_len,
			   "a note outside of its block");
	for (uint32_t i = 0; i < dir->nr && i < BLOCKS; i++) {
		const struct statcache_entry *entry = &statcache_entries(dir)[i];
		const char *name = statcache_name(dir, entry);

		FUZZ_CHECK((uint64_t)entry->name_at + entry->name_len < dir->names_len,
			   "a name outside of its block");
		FUZZ_CHECK(strlen(name) == entry->name_len, "a name of another length");
		FUZZ_CHECK(*name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, ".."),
			   "the name '%s'", name);
		if (entry->kind == WT_DIR)
			look(cache, statcache_child(cache, entry), depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct statcache *cache;
	char *copy;

	if (size < sizeof(struct statcache_header))
		return 0;
	copy = malloc(size);
	if (!copy)
		abort();
	memcpy(copy, data, size);
	seal(copy, size);
	fuzz_put("statcache", copy, size);
	free(copy);
	cache = statcache_open(AT_FDCWD, fuzz_path("statcache"));
	FUZZ_CHECK(cache, "it is not opened");
	(void)statcache_head(cache);
	look(cache, statcache_root(cache), 0);
	/* Written from scratch: only what is reachable. */
	FUZZ_CHECK(!statcache_save(cache, AT_FDCWD, fuzz_path("copy"), true), "it is not copied");
	statcache_close(cache);
	cache = statcache_open(AT_FDCWD, fuzz_path("copy"));
	FUZZ_CHECK(cache, "the copy is not opened");
	look(cache, statcache_root(cache), 0);
	statcache_close(cache);
	return 0;
}
