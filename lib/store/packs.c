/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/hash.h"
#include "store/pack.h"

#include <libdeflate.h>
#include <zlib.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FANOUT = 256 * 4,
	INDEX_HEAD = 8,
	TRAILERS = 2 * OID_SIZE,
	CHUNK = 256 * 1024,
	WHOLE_MAX = 16 << 20, /* inflated in one go up to this */
};

struct map {
	const unsigned char *data;
	size_t size;
};

struct one_pack {
	char *name; /* without its ending */
	struct map index, pack;
	uint32_t nr;
	bool tried; /* to map the pack */
};

struct packs {
	int dirfd;
	struct one_pack *items;
	size_t nr, alloc;
	pthread_mutex_t lock; /* of mapping a pack */
};

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static struct map map_file(int dirfd, const char *name, const char *ending)
{
	char *path = xstrfmt("%s%s", name, ending);
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct map map = { 0 };
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (data != MAP_FAILED)
			map = (struct map){ data, (size_t)st.st_size };
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return map;
}

static void unmap(struct map *map)
{
	if (map->data)
		munmap((void *)map->data, map->size);
	*map = (struct map){ 0 };
}

/* The tables of an index must lie within it, and its counts must not fall. */
static bool index_sound(const struct map *index, uint32_t *nr_out)
{
	const unsigned char *fanout = index->data + INDEX_HEAD;
	uint32_t last = 0;

	if (index->size < INDEX_HEAD + FANOUT + TRAILERS ||
	    memcmp(index->data, "\377tOc\0\0\0\2", INDEX_HEAD))
		return false;
	for (int i = 0; i < 256; i++) {
		uint32_t n = get32(fanout + 4 * i);

		if (n < last)
			return false;
		last = n;
	}
	*nr_out = last;
	return index->size >= INDEX_HEAD + FANOUT + TRAILERS + (uint64_t)last * (OID_SIZE + 8);
}

static void add_pack(struct packs *packs, const char *file)
{
	size_t len = strlen(file);
	struct one_pack *pack, one = { 0 };

	if (len < 9 || strncmp(file, "pack-", 5) || strcmp(file + len - 4, ".idx"))
		return;
	one.name = xmemdupz(file, len - 4);
	one.index = map_file(packs->dirfd, one.name, ".idx");
	if (!one.index.data || !index_sound(&one.index, &one.nr)) {
		unmap(&one.index);
		free(one.name);
		return;
	}
	ALLOC_GROW(packs->items, packs->nr + 1, packs->alloc);
	pack = &packs->items[packs->nr++];
	*pack = one;
}

struct packs *packs_open(int storefd)
{
	struct packs *packs = xcalloc(1, sizeof(*packs));
	int fd = openat(storefd, "objects/pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	pthread_mutex_init(&packs->lock, NULL);
	packs->dirfd = openat(storefd, "objects/pack", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir && (ent = readdir(dir)))
		add_pack(packs, ent->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return packs;
}

void packs_close(struct packs *packs)
{
	if (!packs)
		return;
	for (size_t i = 0; i < packs->nr; i++) {
		unmap(&packs->items[i].index);
		unmap(&packs->items[i].pack);
		free(packs->items[i].name);
	}
	free(packs->items);
	if (packs->dirfd >= 0)
		close(packs->dirfd);
	pthread_mutex_destroy(&packs->lock);
	free(packs);
}

/* --- where an object is --- */

/* Its position in the index, or -1. */
static int64_t position(const struct one_pack *pack, const struct oid *oid)
{
	const unsigned char *fanout = pack->index.data + INDEX_HEAD, *names = fanout + FANOUT;
	uint32_t low = oid->id[0] ? get32(fanout + 4 * (oid->id[0] - 1)) : 0;
	uint32_t high = get32(fanout + 4 * oid->id[0]);

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int cmp = memcmp(names + (size_t)mid * OID_SIZE, oid->id, OID_SIZE);

		if (!cmp)
			return mid;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

/* Its offset in the pack; false if the index is damaged there. */
static bool offset_at(uint64_t *out, const struct one_pack *pack, uint32_t at)
{
	size_t table = INDEX_HEAD + FANOUT + (size_t)pack->nr * (OID_SIZE + 4);
	uint32_t offset = get32(pack->index.data + table + (size_t)at * 4);
	size_t large;

	*out = offset;
	if (!(offset & 0x80000000u))
		return true;
	large = table + (size_t)pack->nr * 4 + (size_t)(offset & 0x7fffffffu) * 8;
	if (large + 8 + TRAILERS > pack->index.size)
		return false;
	*out = (uint64_t)get32(pack->index.data + large) << 32 |
	       get32(pack->index.data + large + 4);
	return true;
}

/* The pack ends as its index says: it is the one that belongs to it, and was not cut. */
static bool pack_sound(const struct one_pack *pack)
{
	return pack->pack.size >= PACK_HEADER_SIZE + OID_SIZE &&
	       !memcmp(pack->pack.data + pack->pack.size - OID_SIZE,
		       pack->index.data + pack->index.size - TRAILERS, OID_SIZE);
}

/* Mapped when it is first needed; most commands read from few packs. */
static const struct map *pack_map(struct packs *packs, struct one_pack *pack)
{
	pthread_mutex_lock(&packs->lock);
	if (!pack->tried) {
		pack->pack = map_file(packs->dirfd, pack->name, ".pack");
		if (pack->pack.data && !pack_sound(pack))
			unmap(&pack->pack);
		pack->tried = true;
	}
	pthread_mutex_unlock(&packs->lock);
	return &pack->pack;
}

/* An index alone is a promise only: what is lost has to be stored again. */
bool packs_have(struct packs *packs, const struct oid *oid)
{
	for (size_t i = packs->nr; i--;)
		if (position(&packs->items[i], oid) >= 0 && pack_map(packs, &packs->items[i])->data)
			return true;
	return false;
}

static int damaged(const struct oid *oid)
{
	char hex[OID_HEX + 1];

	return ckpt_error_set(CKPT_ECORRUPT, "the object %s is damaged", oid_hex(hex, oid));
}

/* An object in a pack: what stands before it, and its deflated bytes. */
struct found {
	enum object_type type;
	uint64_t size;
	const unsigned char *data;
	size_t left; /* to the end of the pack */
};

/* From the newest mapped on; `*from` tells where to go on if this copy is bad. */
static int find_from(struct found *out, struct packs *packs, const struct oid *oid, size_t *from)
{
	bool lost = false;

	for (size_t i = *from; i--;) {
		int64_t at = position(&packs->items[i], oid);
		const struct map *map;
		uint64_t offset;
		size_t head;

		if (at < 0)
			continue;
		map = pack_map(packs, &packs->items[i]);
		if (!map->data || !offset_at(&offset, &packs->items[i], (uint32_t)at) ||
		    offset < PACK_HEADER_SIZE || offset >= map->size - OID_SIZE) {
			lost = true; /* but perhaps stored again since */
			continue;
		}
		out->data = map->data + offset;
		out->left = map->size - OID_SIZE - (size_t)offset;
		head = pack_entry_header(&out->type, &out->size, out->data, out->left);
		if (!head)
			return CKPT_ENOTFOUND; /* a delta */
		out->data += head;
		out->left -= head;
		*from = i;
		return 0;
	}
	return lost ? damaged(oid) : CKPT_ENOTFOUND;
}

static int find(struct found *out, struct packs *packs, const struct oid *oid)
{
	size_t from = packs->nr;

	return find_from(out, packs, oid, &from);
}

int packs_stat(enum object_type *type_out, uint64_t *size_out, struct packs *packs,
	       const struct oid *oid)
{
	struct found found;
	int err = find(&found, packs, oid);

	if (!err) {
		*type_out = found.type;
		*size_out = found.size;
	}
	return err;
}

/* --- contents --- */

static int inflate_pieces(const struct found *found, const struct oid *oid, packs_piece_fn fn,
			  void *payload)
{
	unsigned char *out = xmalloc(CHUNK);
	z_stream z = { 0 };
	uint64_t done = 0;
	size_t left = found->left;
	int rc = Z_OK, err = 0;

	if (inflateInit(&z) != Z_OK)
		err = ckpt_error_set(CKPT_ERROR, "unable to start zlib");
	z.next_in = (unsigned char *)found->data;
	while (!err && rc == Z_OK) {
		size_t had;

		/* Its counters are of 32 bits. */
		z.avail_in = left > CHUNK ? CHUNK : (uInt)left;
		had = z.avail_in;
		z.next_out = out;
		z.avail_out = CHUNK;
		rc = inflate(&z, Z_NO_FLUSH);
		left -= had - z.avail_in;
		done += CHUNK - z.avail_out;
		if ((rc != Z_OK && rc != Z_STREAM_END) || done > found->size)
			err = damaged(oid);
		if (!err)
			err = cancel_check();
		if (!err)
			err = fn(out, CHUNK - z.avail_out, payload);
	}
	if (!err && done != found->size)
		err = damaged(oid);
	inflateEnd(&z);
	free(out);
	return err;
}

/* Pieces on their way to the caller, hashed as they pass. */
struct stream {
	struct digest *sha1;
	packs_piece_fn fn;
	void *payload;
};

static int pass_piece(const void *data, size_t len, void *payload)
{
	struct stream *stream = payload;

	digest_update(stream->sha1, data, len);
	return stream->fn(data, len, stream->payload);
}

int packs_stream(struct packs *packs, const struct oid *oid, packs_piece_fn fn, void *payload)
{
	struct stream stream = { .fn = fn, .payload = payload };
	struct found found;
	char header[64];
	struct oid is = { { 0 } };
	int err = find(&found, packs, oid);

	if (err)
		return err;
	stream.sha1 = digest_new(HASH_SHA1);
	digest_update(stream.sha1, header,
		      object_header(header, object_type_name(found.type), found.size));
	err = inflate_pieces(&found, oid, pass_piece, &stream);
	digest_end(stream.sha1, is.id);
	digest_free(stream.sha1);
	return err ? err : oid_equal(&is, oid) ? 0 : damaged(oid);
}

static int add_piece(const void *data, size_t len, void *payload)
{
	strbuf_add(payload, data, len);
	return 0;
}

/* Freed with their thread. */
static pthread_key_t tools_key;
static pthread_once_t tools_once = PTHREAD_ONCE_INIT;

struct tools {
	struct libdeflate_decompressor *inflate;
	struct digest *sha1;
};

static void tools_free(void *arg)
{
	struct tools *tools = arg;

	libdeflate_free_decompressor(tools->inflate);
	digest_free(tools->sha1);
	free(tools);
}

static void tools_init(void)
{
	pthread_key_create(&tools_key, tools_free);
}

static struct tools *tools_get(void)
{
	struct tools *tools;

	pthread_once(&tools_once, tools_init);
	tools = pthread_getspecific(tools_key);
	if (!tools) {
		tools = xcalloc(1, sizeof(*tools));
		tools->inflate = libdeflate_alloc_decompressor();
		tools->sha1 = digest_new(HASH_SHA1);
		pthread_setspecific(tools_key, tools);
	}
	return tools;
}

static int read_found(struct strbuf *out, const struct found *found, const struct oid *oid)
{
	struct tools *tools = tools_get();
	size_t start = out->len, got = 0;
	struct oid is;
	int err = 0;

	if (found->size > WHOLE_MAX) {
		err = inflate_pieces(found, oid, add_piece, out);
		if (err)
			return err;
	} else {
		strbuf_grow(out, found->size);
		if (libdeflate_zlib_decompress(tools->inflate, found->data, found->left,
					       out->buf + start, found->size,
					       &got) != LIBDEFLATE_SUCCESS ||
		    got != found->size)
			return damaged(oid);
		strbuf_setlen(out, start + found->size);
	}
	hash_object(tools->sha1, &is, object_type_name(found->type), out->buf + start, found->size);
	return oid_equal(&is, oid) ? 0 : damaged(oid);
}

int packs_read(struct strbuf *out, enum object_type *type_out, struct packs *packs,
	       const struct oid *oid)
{
	size_t start = out->len, from = packs->nr;
	struct found found;
	int err, bad = 0;

	/* A copy that is damaged may have been stored again since. */
	while (!(err = find_from(&found, packs, oid, &from))) {
		err = read_found(out, &found, oid);
		if (err != CKPT_ECORRUPT) {
			*type_out = found.type;
			return err;
		}
		strbuf_setlen(out, start);
		bad = err;
	}
	return bad ? damaged(oid) : err;
}

static int drop_piece(const void *data, size_t len, void *payload)
{
	(void)data;
	(void)len;
	(void)payload;
	return 0;
}

bool packs_sound(struct packs *packs, const struct oid *oid)
{
	struct strbuf data = STRBUF_INIT;
	enum object_type type;
	uint64_t size;
	int err = packs_stat(&type, &size, packs, oid);

	if (!err && size > WHOLE_MAX)
		err = packs_stream(packs, oid, drop_piece, NULL);
	else if (!err)
		err = packs_read(&data, &type, packs, oid);
	strbuf_release(&data);
	/* What only libgit2 can read is not ours to doubt here. */
	return !err || err == CKPT_ENOTFOUND;
}
