/* SPDX-License-Identifier: MIT */
/*
 * A stat cache with right checksums and wild contents: every name that it hands out lies in its
 * block and is one that a directory can have.
 */
#include "fuzz.h"

/* The whole source, for what it keeps to itself: the header and the checksums. */
#include "worktree/statcache.c"

enum { BLOCKS = 64, DEPTH = 8 };

/* Make the checksum of a block right, and those of the blocks below it. */
static void seal_block(char *data, size_t size, uint64_t offset, unsigned *budget)
{
	struct statcache_dir *dir;
	uint64_t left;

	if (!*budget || offset % BLOCK_ALIGN || offset < sizeof(struct file_header) || offset > size ||
	    size - offset < sizeof(*dir))
		return;
	--*budget;
	left = size - offset;
	dir = (struct statcache_dir *)(data + offset);
	if (dir->nr > left / sizeof(struct statcache_entry) || dir->names_len > left ||
	    block_size(dir->nr, dir->names_len) > left)
		return;
	for (uint32_t i = 0; i < dir->nr; i++)
		if (statcache_entries(dir)[i].kind == WT_DIR)
			seal_block(data, size, statcache_entries(dir)[i].child, budget);
	dir->crc = block_crc(dir);
}

static void seal(char *data, size_t size)
{
	size_t skip = offsetof(struct file_header, byte_order);
	struct file_header *header = (struct file_header *)data;
	unsigned budget = BLOCKS;

	memcpy(header->magic, magic, sizeof(magic));
	header->byte_order = BYTE_ORDER_MARK;
	header->version = VERSION;
	header->entry_size = sizeof(struct statcache_entry);
	header->file_size = size;
	if (header->full_size > size)
		header->full_size = size;
	seal_block(data, size, header->root, &budget);
	header->crc = crc_update(0, data + skip, sizeof(*header) - skip);
}

/* As a scan does, which goes no deeper than the directories on the disk. */
static void look(const struct statcache *cache, const struct statcache_dir *dir, unsigned depth)
{
	if (!dir || depth > DEPTH)
		return;
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

	if (size < sizeof(struct file_header))
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
	statcache_close(cache);
	return 0;
}
