/* SPDX-License-Identifier: MIT */
#include "worktree/statcache.h"

#include "base/base.h"

#include <assert.h>
#include <sys/mman.h>

/*
 * The file: a header, then the blocks, children before their parents so that
 * offsets are known when they are written. Numbers are in the machine's byte
 * order; `byte_order` and the sizes in the header expose a file from another
 * kind of machine, or of another build.
 */
struct file_header {
	char magic[8];
	uint32_t crc; /* of everything that follows in the header */
	uint32_t byte_order;
	uint32_t version;
	uint32_t entry_size;
	uint64_t file_size;
	uint64_t root;
	struct statcache_head head;
};

static const char magic[8] = "CKPTSTC";
enum { VERSION = 5, BYTE_ORDER_MARK = 0x01020304, BLOCK_ALIGN = 8 };
enum { CACHED_FLAGS = WT_RACY | WT_SETTLED };

/* Blocks are used in place. */
static_assert(sizeof(struct statcache_dir) % BLOCK_ALIGN == 0, "entries must be aligned");
static_assert(sizeof(struct statcache_entry) % BLOCK_ALIGN == 0, "entries must be aligned");

struct statcache {
	const char *map;
	size_t size;
	const struct file_header *header;
};

static bool header_sound(const struct file_header *header, size_t size)
{
	size_t skip = offsetof(struct file_header, byte_order);

	return !memcmp(header->magic, magic, sizeof(magic)) &&
	       header->byte_order == BYTE_ORDER_MARK && header->version == VERSION &&
	       header->entry_size == sizeof(struct statcache_entry) &&
	       header->file_size == size &&
	       header->crc ==
		       crc_update(0, (const char *)header + skip, sizeof(*header) - skip);
}

struct statcache *statcache_open(int dirfd, const char *path)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, O_NOFOLLOW);
	struct statcache *cache;
	void *map;

	if (fd < 0)
		return NULL;
	if ((size_t)st.st_size < sizeof(struct file_header)) {
		close(fd);
		return NULL;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return NULL;
	if (!header_sound(map, (size_t)st.st_size)) {
		munmap(map, (size_t)st.st_size);
		return NULL;
	}
	cache = xcalloc(1, sizeof(*cache));
	cache->map = map;
	cache->size = (size_t)st.st_size;
	cache->header = map;
	return cache;
}

void statcache_close(struct statcache *cache)
{
	if (!cache)
		return;
	munmap((void *)cache->map, cache->size);
	free(cache);
}

const struct statcache_head *statcache_head(const struct statcache *cache)
{
	return &cache->header->head;
}

static size_t block_size(uint64_t nr, uint64_t names_len)
{
	uint64_t size = sizeof(struct statcache_dir) + nr * sizeof(struct statcache_entry) +
			names_len;

	return (size_t)((size + BLOCK_ALIGN - 1) & ~(uint64_t)(BLOCK_ALIGN - 1));
}

static uint32_t block_crc(const struct statcache_dir *dir)
{
	size_t skip = offsetof(struct statcache_dir, nr);

	return crc_update(0, (const char *)dir + skip, block_size(dir->nr, dir->names_len) - skip);
}

/* A name that a scan could have found. */
static bool name_sound(const char *name, size_t len)
{
	return len && !name[len] && !memchr(name, '\0', len) && !memchr(name, '/', len) &&
	       strcmp(name, ".") && strcmp(name, "..") && strcmp(name, ".git");
}

static bool entry_sound(const struct statcache_entry *entry, uint64_t offset)
{
	/* Children are written before their parents, so there are no cycles. */
	return entry->kind <= WT_DIR && entry->mode <= 07777 && !(entry->flags & ~CACHED_FLAGS) &&
	       (entry->kind == WT_DIR ? entry->child < offset : !entry->child);
}

/*
 * The checksum proves that nothing was damaged, not who wrote it. Names follow
 * each other without gaps, in the order of trees, and fill their part of the
 * block, so a wrong number of entries or a wrong offset contradicts the rest.
 */
static bool entries_sound(const struct statcache_dir *dir, uint64_t offset)
{
	const struct statcache_entry *entries = statcache_entries(dir);
	const char *names = (const char *)(entries + dir->nr);
	uint32_t at = 0;

	for (uint32_t i = 0; i < dir->nr; i++) {
		const struct statcache_entry *entry = &entries[i], *before = entry - 1;

		if (entry->name_at != at || entry->name_len >= dir->names_len - at ||
		    !name_sound(names + at, entry->name_len) || !entry_sound(entry, offset) ||
		    (i && wt_name_compare(names + before->name_at, before->name_len,
					  before->kind == WT_DIR, names + at, entry->name_len,
					  entry->kind == WT_DIR) >= 0))
			return false;
		at += entry->name_len + 1;
	}
	return at == dir->names_len;
}

static const struct statcache_dir *block_at(const struct statcache *cache, uint64_t offset)
{
	const struct statcache_dir *dir;
	uint64_t left;

	if (offset % BLOCK_ALIGN || offset < sizeof(struct file_header) || offset > cache->size ||
	    cache->size - offset < sizeof(*dir))
		return NULL;
	left = cache->size - offset;
	dir = (const struct statcache_dir *)(cache->map + offset);
	if (dir->nr > left / sizeof(struct statcache_entry) || dir->names_len > left ||
	    block_size(dir->nr, dir->names_len) > left || dir->crc != block_crc(dir))
		return NULL;
	return entries_sound(dir, offset) ? dir : NULL;
}

const struct statcache_dir *statcache_root(const struct statcache *cache)
{
	return block_at(cache, cache->header->root);
}

const struct statcache_dir *statcache_child(const struct statcache *cache,
					    const struct statcache_entry *entry)
{
	return entry->kind == WT_DIR ? block_at(cache, entry->child) : NULL;
}

static void fill_entry(struct statcache_entry *out, const struct wt_entry *entry)
{
	memset(out, 0, sizeof(*out));
	out->st = entry->st;
	out->name_len = entry->name_len;
	out->mode = entry->mode;
	out->kind = entry->kind;
	out->flags = entry->flags & CACHED_FLAGS;
	if (entry->kind != WT_DIR) {
		out->oid = entry->oid;
		memcpy(out->sha256, entry->sha256, SHA256_SIZE);
	}
}

/* Appends the blocks of `dir` and everything below; returns the offset of its own. */
static uint64_t write_block(struct strbuf *out, const struct wt_dir *dir)
{
	uint64_t *children = xcalloc(dir->nr ? dir->nr : 1, sizeof(*children));
	struct statcache_dir head = {
		.nr = (uint32_t)dir->nr,
		.listing = dir->listing,
		.st = dir->st,
		.rules = dir->rules,
		.tree = dir->tree,
	};
	struct statcache_dir *block;
	size_t start, size;
	uint32_t name_at = 0;

	for (size_t i = 0; i < dir->nr; i++) {
		if (dir->entries[i].kind == WT_DIR)
			children[i] = write_block(out, dir->entries[i].dir);
		head.names_len += dir->entries[i].name_len + 1;
	}
	start = out->len;
	size = block_size(head.nr, head.names_len);
	strbuf_grow(out, size);
	memset(out->buf + start, 0, size);
	block = (struct statcache_dir *)(out->buf + start);
	*block = head;
	memcpy(block->sha256, dir->sha256, SHA256_SIZE);
	for (size_t i = 0; i < dir->nr; i++) {
		struct statcache_entry *entry = (struct statcache_entry *)(block + 1) + i;

		fill_entry(entry, &dir->entries[i]);
		entry->child = children[i];
		entry->name_at = name_at;
		name_at += entry->name_len + 1;
		memcpy((char *)statcache_name(block, entry), dir->entries[i].name,
		       entry->name_len + 1);
	}
	block->crc = block_crc(block);
	strbuf_setlen(out, start + size);
	free(children);
	return start;
}

int statcache_write(int dirfd, const char *path, const struct statcache_head *head,
		    const struct wt_dir *root)
{
	size_t skip = offsetof(struct file_header, byte_order);
	struct file_header header = {
		.byte_order = BYTE_ORDER_MARK,
		.version = VERSION,
		.entry_size = sizeof(struct statcache_entry),
		.head = *head,
	};
	struct strbuf out = STRBUF_INIT;
	int err;

	memcpy(header.magic, magic, sizeof(magic));
	strbuf_add(&out, &header, sizeof(header));
	header.root = write_block(&out, root);
	header.file_size = out.len;
	header.crc = crc_update(0, (const char *)&header + skip, sizeof(header) - skip);
	memcpy(out.buf, &header, sizeof(header));
	err = fs_write_file(dirfd, path, out.buf, out.len, 0600, FS_FAST);
	strbuf_release(&out);
	return err;
}

void statcache_set_packs(int dirfd, const char *path, uint64_t before, uint64_t after)
{
	int fd = openat(dirfd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	size_t skip = offsetof(struct file_header, byte_order);
	struct file_header header;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) &&
	    fs_pread_full(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	    header_sound(&header, (size_t)st.st_size) && header.head.packs == before) {
		header.head.packs = after;
		header.crc = crc_update(0, (const char *)&header + skip, sizeof(header) - skip);
		/* In place: if it is torn, its checksum is wrong, and it counts as missing. */
		(void)fs_pwrite_all(fd, &header, sizeof(header), 0);
	}
	fs_close(fd);
}
