/* SPDX-License-Identifier: MIT */
#include "tree/statcache_internal.h"

#include "tree/scan.h"

#include <sys/random.h>

/* What everything below a directory adds up to. */
struct sum {
	struct wt_counts counts;
	uint8_t flags;
	struct wt_mode_count *modes; /* sorted */
	size_t nr, alloc;
};

/* Blocks that follow `base` bytes which are there already. */
struct writer {
	const struct statcache *cache;
	uint64_t base;
	struct strbuf out;
};

/* --- sums --- */

static void add_mode(struct sum *sum, uint32_t mode, uint32_t nr)
{
	size_t at;

	LOWER_BOUND(at, sum->nr, sum->modes[at].mode < mode);
	if (at == sum->nr || sum->modes[at].mode != mode) {
		ALLOC_GROW(sum->modes, sum->nr + 1, sum->alloc);
		memmove(sum->modes + at + 1, sum->modes + at,
			(sum->nr++ - at) * sizeof(*sum->modes));
		sum->modes[at] = (struct wt_mode_count){ .mode = mode };
	}
	sum->modes[at].nr += nr;
}

static void add_sums(struct sum *sum, const struct wt_counts *counts, uint8_t flags,
		     const struct wt_mode_count *modes, size_t nr)
{
	sum->counts.files += counts->files;
	sum->counts.dirs += counts->dirs;
	sum->counts.bytes += counts->bytes;
	sum->flags |= flags;
	for (size_t i = 0; i < nr; i++)
		add_mode(sum, modes[i].mode, modes[i].nr);
}

static void add_block(struct sum *sum, const struct statcache_dir *dir)
{
	add_sums(sum, &dir->counts, dir->own | dir->below, statcache_modes(dir), dir->modes_nr);
}

static void add_entry(struct sum *sum, const struct wt_entry *entry)
{
	bool is_dir = entry->kind == WT_DIR;

	sum->counts.dirs += is_dir;
	sum->counts.files += !is_dir;
	sum->counts.bytes += is_dir ? 0 : entry->st.size;
	if (entry->kind != WT_LINK)
		add_mode(sum, entry->mode | (is_dir ? WT_MODE_DIR : 0), 1);
}

/* --- blocks --- */

/* Nobody may hear of it when such a path changes. */
static bool must_look(const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].flags & (WT_RACY | WT_LINKED))
			return true;
	for (const struct wt_note *note = dir->notes; note; note = note->next)
		if (note->kind == WT_NOTE_SKIP &&
		    (note->why == SKIP_UNREADABLE || note->why == SKIP_CHANGING ||
		     note->why == SKIP_VANISHED))
			return true;
	return dir->look || dir->listing & WT_RENAMED;
}

static uint8_t own_flags(const struct wt_dir *dir)
{
	return (uint8_t)((must_look(dir) ? STATCACHE_LOOK : 0) |
			 (dir->listing & WT_WHOLE ? 0 : STATCACHE_INDEX) |
			 (dir->notes ? STATCACHE_NOTES : 0));
}

static int by_path(const void *x, const void *y)
{
	const struct wt_note *a = *(const struct wt_note *const *)x;
	const struct wt_note *b = *(const struct wt_note *const *)y;
	int cmp = strcmp(a->path, b->path);

	return cmp ? cmp : a->kind - b->kind;
}

/* In an order that does not depend on the threads of the walk, each once. */
static void add_notes(struct strbuf *out, const struct wt_dir *dir)
{
	const struct wt_note **order = NULL;
	size_t nr = 0, alloc = 0;

	for (const struct wt_note *note = dir->notes; note; note = note->next)
		*ALLOC_NEXT(order, nr, alloc) = note;
	if (nr)
		qsort(order, nr, sizeof(*order), by_path);
	for (size_t i = 0; i < nr; i++) {
		if (i && !by_path(&order[i - 1], &order[i]))
			continue;
		strbuf_addch(out, (char)order[i]->kind);
		strbuf_addch(out, (char)order[i]->why);
		strbuf_add(out, order[i]->path, strlen(order[i]->path) + 1);
	}
	free(order);
}

bool statcache_same_notes(const struct wt_dir *dir)
{
	const struct statcache_dir *block = dir->cached;
	struct strbuf notes = STRBUF_INIT;
	bool same = own_flags(dir) == block->own;

	if (same && (dir->notes || block->notes_len)) {
		add_notes(&notes, dir);
		same = notes.len == block->notes_len &&
		       !memcmp(notes.buf, statcache_notes(block), notes.len);
	}
	strbuf_release(&notes);
	return same;
}

static void fill_entry(struct statcache_entry *out, const struct wt_entry *entry)
{
	memset(out, 0, sizeof(*out));
	out->st = entry->st;
	out->name_len = entry->name_len;
	out->mode = entry->mode;
	out->kind = entry->kind;
	if (entry->kind == WT_DIR)
		return;
	out->flags = entry->flags & STATCACHE_ENTRY_FLAGS;
	out->oid = entry->oid;
	memcpy(out->sha256, entry->sha256, SHA256_SIZE);
}

static struct statcache_dir make_head(const struct wt_dir *dir, const struct sum *sum,
				      const struct strbuf *notes)
{
	struct statcache_dir head = {
		.nr = (uint32_t)dir->nr,
		.modes_nr = (uint32_t)sum->nr,
		.notes_len = (uint32_t)notes->len,
		.listing = dir->listing,
		.own = own_flags(dir),
		.below = sum->flags,
		.st = dir->st,
		.rules = dir->rules,
		.counts = sum->counts,
		.tree = dir->tree,
	};

	memcpy(head.sha256, dir->sha256, SHA256_SIZE);
	for (size_t i = 0; i < dir->nr; i++)
		head.names_len += wt_entries(dir)[i].name_len + 1;
	return head;
}

/* Append the block of a directory whose children have theirs; returns where it is in `out`. */
static size_t append_block(struct strbuf *out, const struct wt_dir *dir, const struct sum *sum,
			   const uint64_t *children)
{
	struct strbuf notes = STRBUF_INIT;
	struct statcache_dir head, *block;
	size_t start = out->len, size;
	uint32_t name_at = 0;

	add_notes(&notes, dir);
	head = make_head(dir, sum, &notes);
	size = statcache_block_size(&head);
	strbuf_grow(out, size);
	block = (struct statcache_dir *)(out->buf + start);
	memset(block, 0, size);
	*block = head;
	if (sum->nr)
		memcpy((void *)statcache_modes(block), sum->modes, sum->nr * sizeof(*sum->modes));
	for (size_t i = 0; i < dir->nr; i++) {
		struct statcache_entry *entry =
			(struct statcache_entry *)statcache_entries(block) + i;

		fill_entry(entry, &wt_entries(dir)[i]);
		entry->child = children[i];
		entry->name_at = name_at;
		name_at += entry->name_len + 1;
		memcpy((char *)statcache_name(block, entry), wt_entries(dir)[i].name,
		       entry->name_len + 1);
	}
	if (notes.len)
		memcpy((char *)statcache_notes(block), notes.buf, notes.len);
	statcache_seal_block(block);
	strbuf_setlen(out, start + size);
	strbuf_release(&notes);
	return start;
}

/* The checksums tell first; what they say is equal is compared. */
static bool same_block(const struct statcache_dir *a, const struct statcache_dir *b)
{
	return a->crc == b->crc && a->body_crc == b->body_crc &&
	       statcache_block_size(a) == statcache_block_size(b) &&
	       !memcmp(a, b, statcache_block_size(a));
}

/* Writes the blocks of `dir` and everything below, unless they are there; returns where its own is. */
static uint64_t write_block(struct writer *writer, struct sum *above, const struct wt_dir *dir)
{
	const struct statcache_dir *block = dir->cached;
	uint64_t *children, at = block ? statcache_offset(writer->cache, block) : 0;
	struct sum sum = { 0 };
	size_t start;

	if (dir->same && at) {
		add_block(above, block);
		return at;
	}
	children = xcalloc(dir->nr ? dir->nr : 1, sizeof(*children));
	for (size_t i = 0; i < dir->nr; i++) {
		add_entry(&sum, &wt_entries(dir)[i]);
		if (wt_entries(dir)[i].kind == WT_DIR)
			children[i] = write_block(writer, &sum, wt_entries(dir)[i].dir);
	}
	start = append_block(&writer->out, dir, &sum, children);
	free(children);
	free(sum.modes);
	add_block(above, (const struct statcache_dir *)(writer->out.buf + start));
	if (!at || !same_block(block, (const struct statcache_dir *)(writer->out.buf + start)))
		return writer->base + start;
	strbuf_setlen(&writer->out, start);
	return at;
}

/* --- in memory --- */

struct statcache *statcache_new(void)
{
	struct statcache *cache = xcalloc(1, sizeof(*cache));

	cache->fd = -1;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void statcache_update(struct statcache *cache, const struct statcache_head *head,
		      const struct wt_dir *root)
{
	struct writer writer = { .cache = cache, .base = cache->header.file_size, .out = STRBUF_INIT };
	struct sum all = { 0 };

	/* The first blocks of a file have its header in front. */
	if (!writer.base)
		strbuf_add(&writer.out, &cache->header, sizeof(cache->header));
	cache->header.root = write_block(&writer, &all, root);
	free(all.modes);
	cache->header.head = *head;
	cache->header.file_size = writer.base + writer.out.len;
	if (!writer.out.len) {
		strbuf_release(&writer.out);
		return;
	}
	*ALLOC_NEXT(cache->parts, cache->parts_nr, cache->parts_alloc) =
		(struct statcache_part){ writer.base, writer.out.buf, writer.out.len };
}

/* --- to the file --- */

/*
 * Copy a block with everything below it; 0 if it is damaged: then it is not known any more. Nor is
 * what no directory on a disk leads to: blocks that are used twice, or too deep.
 */
static uint64_t copy_block(struct strbuf *out, const struct statcache *cache,
			   const struct statcache_dir *dir, unsigned depth)
{
	struct statcache_dir *copy;
	size_t size, start;
	uint64_t *children;

	if (!dir || depth > WT_DEPTH_MAX || out->len > cache->header.file_size ||
	    !statcache_sound(cache, dir))
		return 0;
	children = xcalloc(dir->nr ? dir->nr : 1, sizeof(*children));
	for (uint32_t i = 0; i < dir->nr; i++)
		if (statcache_entries(dir)[i].kind == WT_DIR)
			children[i] = copy_block(out, cache,
						 statcache_glance(cache, &statcache_entries(dir)[i]),
						 depth + 1);
	start = out->len;
	size = statcache_block_size(dir);
	strbuf_add(out, dir, size);
	copy = (struct statcache_dir *)(out->buf + start);
	for (uint32_t i = 0; i < dir->nr; i++)
		((struct statcache_entry *)statcache_entries(copy))[i].child = children[i];
	statcache_seal_block(copy);
	free(children);
	return start;
}

/* Without random numbers the time must do: one process writes at a time, and not twice in a tick. */
static uint64_t new_base(void)
{
	uint64_t base;

	if (getrandom(&base, sizeof(base), 0) != sizeof(base))
		base = (uint64_t)clock_file_ns();
	return base;
}

static int write_bytes(struct statcache_header *header, char *data, size_t len, int dirfd,
		       const char *path)
{
	header->base = new_base();
	header->file_size = header->full_size = len;
	statcache_seal_header(header);
	memcpy(data, header, sizeof(*header));
	return fs_write_file(dirfd, path, data, len, 0600, FS_FAST);
}

/* All of it is one part: that is the file, which can be added to. */
static int write_first(struct statcache *cache, int dirfd, const char *path)
{
	struct statcache_part *part = &cache->parts[0];
	int err = write_bytes(&cache->header, part->data, part->len, dirfd, path);
	struct stat st;

	if (err || fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW))
		return err;
	cache->dev = st.st_dev;
	cache->ino = st.st_ino;
	cache->in_file = cache->header;
	cache->written = 1;
	return 0;
}

static int write_whole(struct statcache *cache, int dirfd, const char *path)
{
	struct statcache_header header = { .root = cache->header.root, .head = cache->header.head };
	struct strbuf out = STRBUF_INIT;
	int err;

	if (cache->fd < 0 && cache->parts_nr == 1)
		return write_first(cache, dirfd, path);
	/* Its blocks will be elsewhere in the file than here. */
	cache->ino = 0;
	strbuf_add(&out, &header, sizeof(header));
	header.root = copy_block(&out, cache, statcache_root(cache), 0);
	err = write_bytes(&header, out.buf, out.len, dirfd, path);
	strbuf_release(&out);
	return err;
}

/* The file, if it is the one that was opened, and has not been written since; otherwise -1. */
static int open_again(const struct statcache *cache, int dirfd, const char *path)
{
	struct statcache_header now;
	struct stat st;
	int fd = cache->ino ? openat(dirfd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0)
		return -1;
	/* A second name of it may be that of another store, copied with hard links. */
	if (!fstat(fd, &st) && st.st_dev == cache->dev && st.st_ino == cache->ino &&
	    st.st_nlink == 1 &&
	    fs_pread_full(fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now) &&
	    !memcmp(&now, &cache->in_file, sizeof(now)))
		return fd;
	close(fd);
	return -1;
}

/* False if the file is another one, or too much of it would be waste. */
static bool append_blocks(struct statcache *cache, int dirfd, const char *path)
{
	bool done = cache->header.file_size / 2 <= cache->header.full_size;
	int fd = done ? open_again(cache, dirfd, path) : -1;

	if (fd < 0)
		return false;
	statcache_seal_header(&cache->header);
	for (size_t i = cache->written; i < cache->parts_nr && done; i++)
		done = !fs_pwrite_all(fd, cache->parts[i].data, cache->parts[i].len,
				      (off_t)cache->parts[i].at);
	done = done && !fs_pwrite_all(fd, &cache->header, sizeof(cache->header), 0);
	close(fd);
	if (done) {
		cache->in_file = cache->header;
		cache->written = cache->parts_nr;
	}
	return done;
}

int statcache_save(struct statcache *cache, int dirfd, const char *path, bool small)
{
	return !small && append_blocks(cache, dirfd, path) ? 0 : write_whole(cache, dirfd, path);
}

void statcache_set_head(struct statcache *cache, int dirfd, const char *path,
			const struct statcache_head *head)
{
	int fd = open_again(cache, dirfd, path);

	if (fd < 0)
		return;
	cache->in_file.head = *head;
	statcache_seal_header(&cache->in_file);
	/* In place: if it is torn, its checksum is wrong, and it counts as missing. */
	(void)fs_pwrite_all(fd, &cache->in_file, sizeof(cache->in_file), 0);
	close(fd);
}

void statcache_set_packs(int dirfd, const char *path, uint64_t before, uint64_t after)
{
	struct statcache *cache = statcache_open(dirfd, path);

	if (cache && cache->header.head.packs == before) {
		struct statcache_head head = cache->header.head;

		head.packs = after;
		statcache_set_head(cache, dirfd, path, &head);
	}
	statcache_close(cache);
}
