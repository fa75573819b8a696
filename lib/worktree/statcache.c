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
 *
 * Blocks are never changed. If few directories changed, theirs and those above
 * are appended, and the header is written over: a reader has its own copy of
 * the old one, with which the old blocks make up the old tree. If that is
 * interrupted, the header has a wrong checksum or still is the old one, and
 * what follows the size that it tells does not count. Blocks of old trees are
 * left behind when half of the file is waste: then it is written from scratch.
 */
struct file_header {
	char magic[8];
	uint32_t crc; /* of everything that follows in the header */
	uint32_t byte_order;
	uint32_t version;
	uint32_t entry_size;
	uint64_t file_size;
	uint64_t root;
	uint64_t full_size; /* when it was last written from scratch */
	struct statcache_head head;
};

static const char magic[8] = "CKPTSTC";
enum { VERSION = 6, BYTE_ORDER_MARK = 0x01020304, BLOCK_ALIGN = 8 };
enum { CACHED_FLAGS = WT_RACY | WT_SETTLED };

/* Blocks are used in place. */
static_assert(sizeof(struct statcache_dir) % BLOCK_ALIGN == 0, "entries must be aligned");
static_assert(sizeof(struct statcache_entry) % BLOCK_ALIGN == 0, "entries must be aligned");

struct statcache {
	const char *map;
	size_t size; /* of what is mapped */
	dev_t dev;
	ino_t ino;
	struct file_header header; /* as it was when the file was opened */
};

static bool header_sound(const struct file_header *header, size_t size)
{
	size_t skip = offsetof(struct file_header, byte_order);

	return !memcmp(header->magic, magic, sizeof(magic)) &&
	       header->byte_order == BYTE_ORDER_MARK && header->version == VERSION &&
	       header->entry_size == sizeof(struct statcache_entry) &&
	       header->file_size <= size && header->full_size <= header->file_size &&
	       header->crc ==
		       crc_update(0, (const char *)header + skip, sizeof(*header) - skip);
}

struct statcache *statcache_open(int dirfd, const char *path)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, O_NOFOLLOW);
	struct statcache *cache;
	struct file_header header;
	void *map;

	if (fd < 0)
		return NULL;
	if (fs_pread_full(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    !header_sound(&header, (size_t)st.st_size)) {
		close(fd);
		return NULL;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return NULL;
	cache = xcalloc(1, sizeof(*cache));
	cache->map = map;
	cache->size = (size_t)st.st_size;
	cache->dev = st.st_dev;
	cache->ino = st.st_ino;
	cache->header = header;
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
	return &cache->header.head;
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
	uint64_t left, size = cache->header.file_size;

	if (offset % BLOCK_ALIGN || offset < sizeof(struct file_header) || offset > size ||
	    size - offset < sizeof(*dir))
		return NULL;
	left = size - offset;
	dir = (const struct statcache_dir *)(cache->map + offset);
	if (dir->nr > left / sizeof(struct statcache_entry) || dir->names_len > left ||
	    block_size(dir->nr, dir->names_len) > left || dir->crc != block_crc(dir))
		return NULL;
	return entries_sound(dir, offset) ? dir : NULL;
}

const struct statcache_dir *statcache_root(const struct statcache *cache)
{
	return block_at(cache, cache->header.root);
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

/* What is written: blocks that follow `base` bytes which are there already. */
struct writer {
	const struct statcache *old; /* blocks of it may stay; NULL: none */
	uint64_t base;
	struct strbuf out;
};

static bool same_entry(const struct statcache_dir *block, uint32_t at, const struct wt_entry *entry,
		       uint64_t child)
{
	const struct statcache_entry *old = &statcache_entries(block)[at];
	struct statcache_entry now;

	fill_entry(&now, entry);
	now.child = child;
	now.name_at = old->name_at;
	return !memcmp(&now, old, sizeof(now)) &&
	       !memcmp(statcache_name(block, old), entry->name, entry->name_len);
}

/* The block of the directory in the old file, if it would be the same now; otherwise 0. */
static uint64_t find_same(const struct writer *writer, const struct wt_dir *dir,
			  const struct statcache_dir *head, const uint64_t *children)
{
	const struct statcache_dir *block = writer->old ? dir->cached : NULL;

	if (!block || block->nr != head->nr || block->names_len != head->names_len ||
	    block->listing != head->listing || block->rules != head->rules ||
	    !wt_stat_equal(&block->st, &head->st) || !oid_equal(&block->tree, &head->tree) ||
	    memcmp(block->sha256, head->sha256, SHA256_SIZE) != 0)
		return 0;
	for (uint32_t i = 0; i < block->nr; i++)
		if (!same_entry(block, i, &dir->entries[i], children[i]))
			return 0;
	return (uint64_t)((const char *)block - writer->old->map);
}

static uint64_t append_block(struct writer *writer, const struct wt_dir *dir,
			     const struct statcache_dir *head, const uint64_t *children)
{
	struct strbuf *out = &writer->out;
	size_t start = out->len, size = block_size(head->nr, head->names_len);
	struct statcache_dir *block;
	uint32_t name_at = 0;

	strbuf_grow(out, size);
	memset(out->buf + start, 0, size);
	block = (struct statcache_dir *)(out->buf + start);
	*block = *head;
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
	return writer->base + start;
}

/* Writes the blocks of `dir` and everything below; returns the offset of its own. */
static uint64_t write_block(struct writer *writer, const struct wt_dir *dir)
{
	uint64_t *children = xcalloc(dir->nr ? dir->nr : 1, sizeof(*children)), at;
	struct statcache_dir head = {
		.nr = (uint32_t)dir->nr,
		.listing = dir->listing,
		.st = dir->st,
		.rules = dir->rules,
		.tree = dir->tree,
	};

	memcpy(head.sha256, dir->sha256, SHA256_SIZE);
	for (size_t i = 0; i < dir->nr; i++) {
		if (dir->entries[i].kind == WT_DIR)
			children[i] = write_block(writer, dir->entries[i].dir);
		head.names_len += dir->entries[i].name_len + 1;
	}
	at = find_same(writer, dir, &head, children);
	if (!at)
		at = append_block(writer, dir, &head, children);
	free(children);
	return at;
}

static void set_header(struct file_header *header, const struct statcache_head *head,
		       uint64_t root, uint64_t size, uint64_t full_size)
{
	size_t skip = offsetof(struct file_header, byte_order);

	*header = (struct file_header){
		.byte_order = BYTE_ORDER_MARK,
		.version = VERSION,
		.entry_size = sizeof(struct statcache_entry),
		.file_size = size,
		.root = root,
		.full_size = full_size,
		.head = *head,
	};
	memcpy(header->magic, magic, sizeof(magic));
	header->crc = crc_update(0, (const char *)header + skip, sizeof(*header) - skip);
}

/* False if the file is no longer the one that was opened, or too much of it would be waste. */
static bool append(int dirfd, const char *path, const struct statcache_head *head,
		   const struct wt_dir *root, const struct statcache *old)
{
	struct writer writer = { .old = old, .base = old->header.file_size, .out = STRBUF_INIT };
	struct file_header header, now;
	int fd = openat(dirfd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool done = false;

	if (fd < 0)
		return false;
	/* A second name of it may be that of another store, copied with hard links. */
	if (!fstat(fd, &st) && st.st_dev == old->dev && st.st_ino == old->ino && st.st_nlink == 1 &&
	    fs_pread_full(fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now) &&
	    !memcmp(&now, &old->header, sizeof(now))) {
		uint64_t at = write_block(&writer, root), size = writer.base + writer.out.len;

		set_header(&header, head, at, size, now.full_size);
		done = size / 2 <= now.full_size &&
		       !fs_pwrite_all(fd, writer.out.buf, writer.out.len, (off_t)writer.base) &&
		       !fs_pwrite_all(fd, &header, sizeof(header), 0);
	}
	close(fd);
	strbuf_release(&writer.out);
	return done;
}

int statcache_write(int dirfd, const char *path, const struct statcache_head *head,
		    const struct wt_dir *root, const struct statcache *old)
{
	struct writer writer = { .out = STRBUF_INIT };
	struct file_header header = { .magic = { 0 } };
	uint64_t at;
	int err;

	if (old && append(dirfd, path, head, root, old))
		return 0;
	strbuf_add(&writer.out, &header, sizeof(header));
	at = write_block(&writer, root);
	set_header(&header, head, at, writer.out.len, writer.out.len);
	memcpy(writer.out.buf, &header, sizeof(header));
	err = fs_write_file(dirfd, path, writer.out.buf, writer.out.len, 0600, FS_FAST);
	strbuf_release(&writer.out);
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
