/* SPDX-License-Identifier: MIT */
#include "store/rescue.h"

#include "base/base.h"
#include "store/delta_internal.h"
#include "store/pack.h"
#include "store/packs.h"
#include "store/shadow.h"

#include <zlib.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_NAME "objects/pack"

enum {
	CHUNK = 256 * 1024,
	DEPTH_MAX = 4096, /* of deltas upon deltas; git makes no more */
	OFS_DELTA = 6,
	REF_DELTA = 7,
};

/* A pack as it is, whatever it is. */
struct wreck {
	struct store *store;
	char *name; /* "pack-<hex>" */
	const unsigned char *data;
	size_t size;
	uint64_t end;	      /* of the objects, as far as one can tell */
	struct packed *named; /* from its index, by offset; NULL: that is of no use */
	size_t named_nr;
	uint32_t promised; /* so many objects, says its header */
	bool sound;	   /* it has the checksum that it ends with */
	bool index_sound;
	bool index_there;
	int unreadable; /* errno: it is there but cannot be looked at, so nothing is known of it */
};

/* --- looking --- */

/* NULL and `errno` 0: it is gone, empty or no file. */
static const unsigned char *map_file(size_t *size_out, int dirfd, const char *path)
{
	struct stat st;
	int fd = fs_open_regular(&st, dirfd, path, O_NOFOLLOW), saved = 0;
	void *data = MAP_FAILED;

	*size_out = 0;
	if (fd < 0)
		saved = errno == ENOENT || errno == ELOOP || errno == EINVAL ? 0 : errno;
	else if (st.st_size > 0)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED && fd >= 0 && st.st_size > 0)
		saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	if (data == MAP_FAILED)
		return NULL;
	*size_out = (size_t)st.st_size;
	return data;
}

static bool exists(struct store *store, const char *path)
{
	return !faccessat(store->dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* The last bytes are the SHA-1 of all before them. */
static bool checksum_right(const unsigned char *data, size_t size)
{
	struct oid is;

	if (size < OID_SIZE)
		return false;
	hash_buffer(HASH_SHA1, is.id, data, size - OID_SIZE);
	return !memcmp(is.id, data + size - OID_SIZE, OID_SIZE);
}

/* What its index says is in it, if that one can be believed at all. */
static void take_names(struct wreck *wreck)
{
	struct packs *packs = wreck->store->packs;
	struct pack_contents contents;

	for (size_t i = 0; i < packs_count(packs); i++) {
		if (packs_contents(&contents, packs, i))
			continue;
		if (!strcmp(contents.name, wreck->name) && !wreck->named) {
			wreck->named = contents.items;
			wreck->named_nr = contents.nr;
			contents.items = NULL;
		}
		packs_contents_release(&contents);
	}
}

static void check_index(struct wreck *wreck)
{
	char *path = xstrfmt(DIR_NAME "/%s.idx", wreck->name);
	const unsigned char *index;
	size_t size;

	wreck->index_there = exists(wreck->store, path);
	index = map_file(&size, wreck->store->dirfd, path);
	wreck->index_sound = index && checksum_right(index, size);
	if (wreck->index_sound)
		take_names(wreck);
	/* One that belongs to another pack is none. */
	wreck->index_sound =
		wreck->named && size >= 2 * OID_SIZE &&
		(!wreck->sound || !memcmp(index + size - 2 * OID_SIZE,
					  wreck->data + wreck->size - OID_SIZE, OID_SIZE));
	if (index)
		munmap((void *)index, size);
	free(path);
}

static void open_wreck(struct wreck *out, struct store *store, const char *name)
{
	char *path = xstrfmt(DIR_NAME "/%s.pack", name);
	bool head;

	memset(out, 0, sizeof(*out));
	out->store = store;
	out->name = xstrdup(name);
	out->data = map_file(&out->size, store->dirfd, path);
	out->unreadable = out->data ? 0 : errno;
	head = out->size >= PACK_HEADER_SIZE && !memcmp(out->data, "PACK\0\0\0\2", 8);
	out->sound = head && checksum_right(out->data, out->size);
	if (head)
		out->promised = (uint32_t)out->data[8] << 24 | (uint32_t)out->data[9] << 16 |
				(uint32_t)out->data[10] << 8 | out->data[11];
	out->end = out->sound ? out->size - OID_SIZE : out->size;
	check_index(out);
	free(path);
}

static void close_wreck(struct wreck *wreck)
{
	if (wreck->data)
		munmap((void *)wreck->data, wreck->size);
	free(wreck->named);
	free(wreck->name);
}

/* --- reading objects --- */

/* Inflate `size` bytes; the number of bytes that they took, 0 if they are damaged. */
static size_t inflate_at(struct strbuf *out, const unsigned char *data, size_t left, uint64_t size)
{
	unsigned char *buf = xmalloc(CHUNK);
	z_stream z = { 0 };
	size_t used = 0, start = out->len;
	int rc = inflateInit(&z);

	z.next_in = (unsigned char *)data;
	while (rc == Z_OK) {
		uInt had = left - used > CHUNK ? CHUNK : (uInt)(left - used);

		z.avail_in = had;
		z.next_out = buf;
		z.avail_out = CHUNK;
		rc = inflate(&z, Z_NO_FLUSH);
		used += had - z.avail_in;
		strbuf_add(out, buf, CHUNK - z.avail_out);
		if (out->len - start > size)
			rc = Z_DATA_ERROR;
	}
	inflateEnd(&z);
	free(buf);
	return rc == Z_STREAM_END && out->len - start == size ? used : 0;
}

/* Type and size, with which every entry begins; 0 if malformed. */
static size_t read_head(unsigned *type, uint64_t *size, const unsigned char *p, size_t left)
{
	unsigned shift = 4;
	size_t n = 1;

	if (!left)
		return 0;
	*type = p[0] >> 4 & 7;
	*size = p[0] & 15;
	for (; p[n - 1] & 0x80; n++, shift += 7) {
		if (n >= left || shift > 56)
			return 0;
		*size |= (uint64_t)(p[n] & 0x7f) << shift;
	}
	return n;
}

/* How far before a delta its base lies; 0 if malformed. */
static size_t read_distance(uint64_t *out, const unsigned char *p, size_t left)
{
	size_t n = 0;

	*out = 0;
	do {
		if (n >= left || n > 8)
			return 0;
		*out = (n ? *out + 1 : 0) << 7 | (p[n] & 0x7f);
	} while (p[n++] & 0x80);
	return n;
}

static bool offset_of(uint64_t *out, const struct wreck *wreck, const struct oid *oid)
{
	for (size_t i = 0; i < wreck->named_nr; i++)
		if (oid_equal(&wreck->named[i].oid, oid)) {
			*out = wreck->named[i].offset;
			return true;
		}
	return false;
}

static bool read_elsewhere(struct strbuf *out, enum object_type *type, struct wreck *wreck,
			   const struct oid *oid)
{
	return !packs_read(out, type, wreck->store->packs, oid);
}

/* The object at an offset; `*used_out` gets the length of its entry. False if it is damaged. */
static bool read_at(struct strbuf *out, enum object_type *type_out, size_t *used_out,
		    struct wreck *wreck, uint64_t offset, int depth)
{
	struct strbuf delta = STRBUF_INIT, base = STRBUF_INIT;
	uint64_t size, base_at = 0, distance;
	size_t head, more = 0, used = 0;
	const unsigned char *p;
	struct oid name;
	unsigned type;
	bool ok = false;

	if (offset < PACK_HEADER_SIZE || offset >= wreck->end || depth > DEPTH_MAX)
		return false;
	p = wreck->data + offset;
	head = read_head(&type, &size, p, (size_t)(wreck->end - offset));
	if (!head)
		return false;
	if (type >= OBJECT_COMMIT && type <= OBJECT_BLOB) {
		*type_out = (enum object_type)type;
		used = inflate_at(out, p + head, (size_t)(wreck->end - offset) - head, size);
		*used_out = head + used;
		return used > 0;
	}
	if (type == OFS_DELTA) {
		more = read_distance(&distance, p + head, (size_t)(wreck->end - offset) - head);
		if (!more || distance > offset)
			return false;
		base_at = offset - distance;
	} else if (type == REF_DELTA && wreck->end - offset > head + OID_SIZE) {
		more = OID_SIZE;
		memcpy(name.id, p + head, OID_SIZE);
	} else {
		return false;
	}
	used = inflate_at(&delta, p + head + more, (size_t)(wreck->end - offset) - head - more,
			  size);
	*used_out = head + more + used;
	if (used) {
		size_t ignored;

		if (type == OFS_DELTA || offset_of(&base_at, wreck, &name))
			ok = read_at(&base, type_out, &ignored, wreck, base_at, depth + 1);
		if (!ok && type == REF_DELTA) {
			strbuf_reset(&base);
			ok = read_elsewhere(&base, type_out, wreck, &name);
		}
		ok = ok && !delta_apply(out, base.buf, base.len, delta.buf, delta.len);
	}
	strbuf_release(&delta);
	strbuf_release(&base);
	return ok;
}

/* --- rescuing --- */

struct rescued {
	struct pack *pack; /* NULL: only count */
	struct digest *sha1;
	size_t found;
	size_t lost; /* of which it is known that they should be there */
};

/* One object; `expected` is its name if that is known. */
static int take_object(struct rescued *rescued, struct wreck *wreck, uint64_t offset,
		       const struct oid *expected, size_t *used_out)
{
	struct strbuf text = STRBUF_INIT;
	enum object_type type = OBJECT_BLOB;
	struct oid is;
	bool ok = read_at(&text, &type, used_out, wreck, offset, 0);
	int err = cancel_check();

	if (ok) {
		hash_object(rescued->sha1, &is, objects_type_name(type), text.buf, text.len);
		ok = !expected || oid_equal(&is, expected);
	}
	if (!err && ok) {
		rescued->found++;
		if (rescued->pack)
			err = pack_add(rescued->pack, 0, type, &is, text.buf, text.len);
	} else {
		rescued->lost++;
	}
	strbuf_release(&text);
	return err;
}

static int take_all(struct rescued *rescued, struct wreck *wreck)
{
	uint64_t at = PACK_HEADER_SIZE;
	size_t used = 0;
	int err = 0;

	if (!wreck->data) {
		rescued->lost = wreck->named_nr;
		return 0;
	}
	for (size_t i = 0; i < wreck->named_nr && !err; i++)
		err = take_object(rescued, wreck, wreck->named[i].offset, &wreck->named[i].oid,
				  &used);
	if (wreck->named)
		return err;
	/* Without an index one after the other; what is behind a damaged one cannot be found. */
	while (!err && !rescued->lost && rescued->found < wreck->promised && at < wreck->end) {
		err = take_object(rescued, wreck, at, NULL, &used);
		at += used;
	}
	if (!err)
		rescued->lost =
			wreck->promised > rescued->found ? wreck->promised - rescued->found : 0;
	return err;
}

static void remove_file(struct wreck *wreck, const char *ending)
{
	char *path = xstrfmt(DIR_NAME "/%s%s", wreck->name, ending);

	unlinkat(wreck->store->dirfd, path, 0);
	free(path);
}

/* The index first: without it nobody takes the pack for one. */
static int clear_away(struct wreck *wreck, bool keep)
{
	char *from = xstrfmt(DIR_NAME "/%s.pack", wreck->name),
	     *to = xstrfmt("checkpoint/damaged/%s.pack", wreck->name);
	int err = 0;

	remove_file(wreck, ".idx");
	remove_file(wreck, ".rev");
	remove_file(wreck, ".bitmap");
	if (keep)
		err = fs_ensure_dir(wreck->store->dirfd, "checkpoint/damaged", 0700);
	if (keep && !err)
		err = fs_rename(wreck->store->dirfd, from, to, "checkpoint/damaged", FS_DURABLE);
	if (keep && !err)
		err = fs_sync_dir(wreck->store->dirfd, DIR_NAME);
	if (!keep)
		remove_file(wreck, ".pack");
	free(from);
	free(to);
	return err;
}

static int rescue(struct rescued *rescued, struct wreck *wreck)
{
	/* A store without packs: all is written again, also what only the damaged one has. */
	struct store view = *wreck->store;
	char hex[OID_HEX + 1];
	int err;

	view.packs = packs_open(-1);
	rescued->pack = pack_new(&view, 1, 1);
	err = take_all(rescued, wreck);
	if (!err)
		err = pack_commit(rescued->pack, NULL);
	if (!err) {
		/* The very same bytes give the very same name: then it is replaced already. */
		bool same = !pack_is_empty(rescued->pack) &&
			    !strcmp(wreck->name + strlen("pack-"),
				    oid_hex(hex, pack_id(rescued->pack)));

		if (!same)
			err = clear_away(wreck, rescued->lost && wreck->size);
	}
	pack_free(rescued->pack);
	packs_close(view.packs);
	return err;
}

static void describe(struct problems *out, const struct wreck *wreck, const struct rescued *rescued,
		     bool fix)
{
	const char *what = !wreck->size		 ? "is gone or empty"
			   : !wreck->sound	 ? "is damaged"
			   : !wreck->index_there ? "has no index"
						 : "has a damaged index";
	struct strbuf more = STRBUF_INIT;

	if (rescued->lost)
		strbuf_addf(&more, "; %zu of its %zu objects cannot be read", rescued->lost,
			    rescued->lost + rescued->found);
	else
		strbuf_addstr(&more, "; all its objects can be read");
	if (fix && rescued->found)
		strbuf_addstr(&more, "; what can be read was written to a new pack");
	if (fix && rescued->lost && wreck->size)
		strbuf_addf(&more,
			    "; its remains are in '%s/checkpoint/damaged', which may be removed",
			    wreck->store->path);
	problems_addf(out, fix, "the pack '%s' %s%s", wreck->name, what, more.buf);
	strbuf_release(&more);
}

static int check_pack(struct problems *out, struct store *store, const char *name, bool fix)
{
	struct rescued rescued = { .sha1 = hash_new(HASH_SHA1) };
	struct wreck wreck;
	int err = 0;

	open_wreck(&wreck, store, name);
	if (wreck.unreadable) {
		/* Perhaps another time, or for another user: then all of it is there. */
		problems_addf(out, false, "the pack '%s' cannot be read: %s", name,
			      strerror(wreck.unreadable));
	} else if (!wreck.sound || !wreck.index_sound) {
		err = fix ? rescue(&rescued, &wreck) : take_all(&rescued, &wreck);
		if (!err)
			describe(out, &wreck, &rescued, fix);
	}
	close_wreck(&wreck);
	hash_free(rescued.sha1);
	return err;
}

static void list_packs(struct strlist *out, struct store *store)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, store->dirfd, DIR_NAME, 0, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		const char *name = names.items[i], *dot = strrchr(name, '.');

		if (!strncmp(name, "pack-", 5) && dot &&
		    (!strcmp(dot, ".pack") || !strcmp(dot, ".idx")))
			strlist_take(out, xmemdupz(name, (size_t)(dot - name)));
	}
	strlist_release(&names);
	strlist_sort_unique(out);
}

int rescue_packs(struct problems *out, struct store *store, bool fix)
{
	struct strlist names = STRLIST_INIT;
	size_t before = out->nr;
	int err = objects_reopen(store);

	list_packs(&names, store);
	for (size_t i = 0; i < names.nr && !err; i++)
		err = check_pack(out, store, names.items[i], fix);
	strlist_release(&names);
	if (!err && fix && out->nr > before)
		err = objects_reopen(store);
	return err;
}
