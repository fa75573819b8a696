/* SPDX-License-Identifier: MIT */
#include "tree/statcache_internal.h"

#include "tree/scan.h"

#include <assert.h>
#include <sys/mman.h>

const char statcache_magic[8] = "CKPTSTC";

/* Blocks are used in place. */
static_assert(sizeof(struct statcache_dir) % STATCACHE_ALIGN == 0, "entries must be aligned");
static_assert(sizeof(struct statcache_entry) % STATCACHE_ALIGN == 0, "entries must be aligned");
static_assert(sizeof(struct wt_mode_count) % STATCACHE_ALIGN == 0, "modes must be aligned");

/*
 * --- blocks that were read one by one ---
 *
 * Mapped, each of them would take sixteen pages or more of
 * memory, as the kernel maps what surrounds a page, and few are needed if little changed.
 */

static uint64_t hash_key(uint64_t key)
{
	return (key >> 3) * 0x9e3779b97f4a7c15u >> 20;
}

static uint64_t hash_place(const struct statcache_dir *dir)
{
	return hash_key((uint64_t)(uintptr_t)dir);
}

/* NULL if there is none. What they return is valid until the next one is added. */
static struct statcache_copy *find_copy(const struct statcache_copies *copies, uint64_t at)
{
	uint32_t number;

	HASH_TABLE_FIND(number, &copies->by_offset, hash_key(at), copies->items[number - 1].at == at);
	return number ? &copies->items[number - 1] : NULL;
}

static struct statcache_copy *find_copy_by_place(const struct statcache_copies *copies,
						 const struct statcache_dir *dir)
{
	uint32_t number;

	HASH_TABLE_FIND(number, &copies->by_place, hash_place(dir),
			copies->items[number - 1].dir == dir);
	return number ? &copies->items[number - 1] : NULL;
}

/* Takes over `dir`. */
static void add_copy(struct statcache_copies *copies, uint64_t at, struct statcache_dir *dir,
		     size_t have)
{
	*ALLOC_NEXT(copies->items, copies->nr, copies->alloc) =
		(struct statcache_copy){ at, dir, have };
	hash_table_room(&copies->by_place, copies->nr);
	for (size_t i = hash_table_room(&copies->by_offset, copies->nr); i < copies->nr; i++) {
		hash_table_put(&copies->by_offset, hash_key(copies->items[i].at), (uint32_t)i + 1);
		hash_table_put(&copies->by_place, hash_place(copies->items[i].dir), (uint32_t)i + 1);
	}
}

static void release_copies(struct statcache_copies *copies)
{
	for (size_t i = 0; i < copies->nr; i++)
		free(copies->items[i].dir);
	free(copies->items);
	free(copies->by_offset.slots);
	free(copies->by_place.slots);
	memset(copies, 0, sizeof(*copies));
}

/* --- the file --- */

static uint32_t header_crc(const struct statcache_header *header)
{
	size_t skip = offsetof(struct statcache_header, byte_order);

	return hash_crc(0, (const char *)header + skip, sizeof(*header) - skip);
}

static bool header_sound(const struct statcache_header *header, size_t size)
{
	return !memcmp(header->magic, statcache_magic, sizeof(statcache_magic)) &&
	       header->byte_order == STATCACHE_BYTE_ORDER &&
	       header->version == STATCACHE_VERSION &&
	       header->entry_size == sizeof(struct statcache_entry) &&
	       header->file_size <= size && header->full_size <= header->file_size &&
	       header->crc == header_crc(header);
}

void statcache_seal_header(struct statcache_header *header)
{
	memcpy(header->magic, statcache_magic, sizeof(statcache_magic));
	header->byte_order = STATCACHE_BYTE_ORDER;
	header->version = STATCACHE_VERSION;
	header->entry_size = sizeof(struct statcache_entry);
	header->crc = header_crc(header);
}

struct statcache *statcache_open(int dirfd, const char *path)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, O_NOFOLLOW);
	struct statcache *cache;
	struct statcache_header header;

	if (fd < 0)
		return NULL;
	if (fs_pread_full(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    !header_sound(&header, (size_t)st.st_size)) {
		close(fd);
		return NULL;
	}
	cache = statcache_new();
	cache->fd = fd;
	cache->size = (size_t)st.st_size;
	cache->dev = st.st_dev;
	cache->ino = st.st_ino;
	cache->header = cache->in_file = header;
	cache->in_map = header.file_size;
	return cache;
}

void statcache_close(struct statcache *cache)
{
	if (!cache)
		return;
	if (cache->map)
		munmap((void *)cache->map, cache->size);
	fs_close(cache->fd);
	release_copies(&cache->copies);
	for (size_t i = 0; i < cache->parts_nr; i++)
		free(cache->parts[i].data);
	free(cache->parts);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void statcache_populate(struct statcache *cache)
{
	void *map;

	if (cache->fd < 0 || cache->map)
		return;
	map = mmap(NULL, cache->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, cache->fd, 0);
	if (map != MAP_FAILED)
		cache->map = map;
}

const struct statcache_head *statcache_head(const struct statcache *cache)
{
	return &cache->header.head;
}

struct statcache_id statcache_id(const struct statcache *cache)
{
	return (struct statcache_id){ cache->in_file.base, cache->in_file.file_size };
}

uint64_t statcache_size(const struct statcache *cache)
{
	return cache->header.file_size;
}

/* --- blocks --- */

/* The part of the cache in which an offset lies: its bytes, from where to where; or NULL. */
static const char *part_of(uint64_t *from, uint64_t *to, const struct statcache *cache,
			   uint64_t offset)
{
	for (size_t i = cache->parts_nr; i--;) {
		const struct statcache_part *part = &cache->parts[i];

		if (offset >= part->at) {
			*from = part->at;
			*to = part->at + part->len;
			return part->data;
		}
	}
	*from = 0;
	*to = cache->in_map;
	return cache->map;
}

static uint64_t offset_of_copy(const struct statcache *cache, const struct statcache_dir *dir)
{
	struct statcache *own = (struct statcache *)cache;
	const struct statcache_copy *copy;
	uint64_t at;

	pthread_mutex_lock(&own->lock);
	copy = find_copy_by_place(&cache->copies, dir);
	at = copy ? copy->at : 0;
	pthread_mutex_unlock(&own->lock);
	return at;
}

uint64_t statcache_offset(const struct statcache *cache, const struct statcache_dir *dir)
{
	const char *at = (const char *)dir;

	for (size_t i = 0; i < cache->parts_nr; i++) {
		const struct statcache_part *part = &cache->parts[i];

		if (at >= part->data && at < part->data + part->len)
			return part->at + (uint64_t)(at - part->data);
	}
	if (cache->map && at >= cache->map && at < cache->map + cache->size)
		return (uint64_t)(at - cache->map);
	return offset_of_copy(cache, dir);
}

static uint64_t head_size(const struct statcache_dir *dir)
{
	return sizeof(*dir) + (uint64_t)dir->modes_nr * sizeof(struct wt_mode_count);
}

static uint64_t body_size(const struct statcache_dir *dir)
{
	uint64_t size = (uint64_t)dir->nr * sizeof(struct statcache_entry) + dir->names_len +
			dir->notes_len;

	return (size + STATCACHE_ALIGN - 1) & ~(uint64_t)(STATCACHE_ALIGN - 1);
}

size_t statcache_block_size(const struct statcache_dir *dir)
{
	return (size_t)(head_size(dir) + body_size(dir));
}

static uint32_t head_crc(const struct statcache_dir *dir)
{
	size_t skip = offsetof(struct statcache_dir, body_crc);

	return hash_crc(0, (const char *)dir + skip, (size_t)head_size(dir) - skip);
}

static uint32_t body_crc(const struct statcache_dir *dir)
{
	return hash_crc(0, statcache_entries(dir), (size_t)body_size(dir));
}

void statcache_seal_block(struct statcache_dir *dir)
{
	dir->body_crc = body_crc(dir);
	dir->crc = head_crc(dir);
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
	return entry->kind <= WT_DIR && entry->mode <= 07777 &&
	       !(entry->flags & ~STATCACHE_ENTRY_FLAGS) &&
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

static bool modes_sound(const struct statcache_dir *dir)
{
	const struct wt_mode_count *modes = statcache_modes(dir);

	for (uint32_t i = 0; i < dir->modes_nr; i++)
		if (modes[i].mode >= WT_MODES || (i && modes[i].mode <= modes[i - 1].mode))
			return false;
	return true;
}

/* A path below the root; of a directory that is left out it ends in a slash. */
static bool note_path_sound(const char *path)
{
	do {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && path[0] == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
		path += *path == '/';
	} while (*path);
	return true;
}

static bool notes_sound(const struct statcache_dir *dir)
{
	const char *notes = statcache_notes(dir);

	for (size_t at = 0; at < dir->notes_len;) {
		const char *nul;

		if (dir->notes_len - at < 3 || (uint8_t)notes[at] >= WT_NOTES ||
		    (uint8_t)notes[at + 1] >= SKIP_WHYS)
			return false;
		nul = memchr(notes + at + 2, '\0', dir->notes_len - at - 2);
		if (!nul || !note_path_sound(notes + at + 2))
			return false;
		at = (size_t)(nul + 1 - notes);
	}
	return true;
}

bool statcache_next_note(struct statcache_note *note, size_t *at, const struct statcache_dir *dir)
{
	const char *notes = statcache_notes(dir);

	if (*at >= dir->notes_len)
		return false;
	note->kind = (uint8_t)notes[*at];
	note->why = (uint8_t)notes[*at + 1];
	note->path = notes + *at + 2;
	*at += 2 + strlen(note->path) + 1;
	return true;
}

/* The head of a block, which has so much room, or less if only the fixed part of it was read. */
static bool head_fits(const struct statcache_dir *dir, uint64_t room)
{
	return head_size(dir) + body_size(dir) <= room;
}

static bool head_sound(const struct statcache_dir *dir)
{
	return dir->crc == head_crc(dir) && !(dir->own & ~STATCACHE_FLAGS) &&
	       !(dir->below & ~STATCACHE_FLAGS) && modes_sound(dir);
}

/* Read the head of a block; there is room for the rest of it. NULL if it is not sound. */
static struct statcache_dir *read_head(size_t *have, const struct statcache *cache, uint64_t offset)
{
	uint64_t room = cache->in_map - offset;
	struct {
		struct statcache_dir dir;
		struct wt_mode_count modes[8];
	} head;
	size_t want = room < sizeof(head) ? (size_t)room : sizeof(head);
	struct statcache_dir *dir;
	bool whole = true;

	if (fs_pread_full(cache->fd, &head, want, (off_t)offset) != (ssize_t)want ||
	    !head_fits(&head.dir, room))
		return NULL;
	dir = xmalloc(statcache_block_size(&head.dir));
	*have = (size_t)head_size(&head.dir);
	if (*have <= want)
		memcpy(dir, &head, *have);
	else
		whole = fs_pread_full(cache->fd, dir, *have, (off_t)offset) == (ssize_t)*have;
	/* Read again, it may be another one: the file is somebody's who does not keep the rules. */
	if (whole && head_size(dir) == *have && body_size(dir) == body_size(&head.dir) &&
	    head_sound(dir))
		return dir;
	free(dir);
	return NULL;
}

static const struct statcache_dir *read_copy(const struct statcache *cache, uint64_t offset)
{
	struct statcache *own = (struct statcache *)cache;
	struct statcache_copy *copy;
	struct statcache_dir *dir;
	size_t have;

	pthread_mutex_lock(&own->lock);
	copy = find_copy(&own->copies, offset);
	dir = copy ? copy->dir : read_head(&have, cache, offset);
	if (dir && !copy)
		add_copy(&own->copies, offset, dir, have);
	pthread_mutex_unlock(&own->lock);
	return dir;
}

static const struct statcache_dir *glance_at_block(const struct statcache *cache, uint64_t offset)
{
	const struct statcache_dir *dir;
	uint64_t from, to;
	const char *data = part_of(&from, &to, cache, offset);

	if (offset % STATCACHE_ALIGN || offset < sizeof(struct statcache_header) || offset > to ||
	    to - offset < sizeof(*dir))
		return NULL;
	if (!data)
		return cache->fd < 0 ? NULL : read_copy(cache, offset);
	dir = (const struct statcache_dir *)(data + (offset - from));
	return head_fits(dir, to - offset) && head_sound(dir) ? dir : NULL;
}

/* Of a block of which only the head was read, read the rest. */
static bool read_body(const struct statcache *cache, const struct statcache_dir *dir)
{
	struct statcache *own = (struct statcache *)cache;
	struct statcache_copy *copy;
	size_t size = statcache_block_size(dir);
	bool whole = true;

	pthread_mutex_lock(&own->lock);
	copy = find_copy_by_place(&own->copies, dir);
	if (copy && copy->have < size) {
		whole = fs_pread_full(cache->fd, (char *)copy->dir + copy->have, size - copy->have,
				      (off_t)(copy->at + copy->have)) ==
			(ssize_t)(size - copy->have);
		copy->have = whole ? size : copy->have;
	}
	pthread_mutex_unlock(&own->lock);
	return whole;
}

bool statcache_sound(const struct statcache *cache, const struct statcache_dir *dir)
{
	return read_body(cache, dir) && dir->body_crc == body_crc(dir) &&
	       entries_sound(dir, statcache_offset(cache, dir)) && notes_sound(dir);
}

const struct statcache_dir *statcache_root(const struct statcache *cache)
{
	const struct statcache_dir *dir = glance_at_block(cache, cache->header.root);

	return dir && statcache_sound(cache, dir) ? dir : NULL;
}

const struct statcache_dir *statcache_glance(const struct statcache *cache,
					     const struct statcache_entry *entry)
{
	return entry->kind == WT_DIR ? glance_at_block(cache, entry->child) : NULL;
}

const struct statcache_dir *statcache_child(const struct statcache *cache,
					    const struct statcache_entry *entry)
{
	const struct statcache_dir *dir = statcache_glance(cache, entry);

	return dir && statcache_sound(cache, dir) ? dir : NULL;
}
