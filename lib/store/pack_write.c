/* SPDX-License-Identifier: MIT */
#include "store/pack_writer_internal.h"

#include "store/packs.h"
#include "store/shadow.h"

#include <libdeflate.h>

#include <pthread.h>

/* --- the index --- */

static void add32(struct strbuf *out, uint32_t value)
{
	unsigned char bytes[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
				   (unsigned char)(value >> 8), (unsigned char)value };

	strbuf_add(out, bytes, sizeof(bytes));
}

static void add_fanout(struct strbuf *out, const struct pack_entry *entries, size_t nr)
{
	size_t i = 0;

	for (unsigned first = 0; first < 256; first++) {
		while (i < nr && entries[i].oid.id[0] <= first)
			i++;
		add32(out, (uint32_t)i);
	}
}

/* Offsets of 2 GB and more are in a separate table after the others. */
static void add_offsets(struct strbuf *out, const struct pack_entry *entries, size_t nr)
{
	uint32_t large = 0;

	for (size_t i = 0; i < nr; i++)
		add32(out, entries[i].offset < 0x80000000u ? (uint32_t)entries[i].offset :
							     0x80000000u | large++);
	for (size_t i = 0; i < nr; i++) {
		if (entries[i].offset < 0x80000000u)
			continue;
		add32(out, (uint32_t)(entries[i].offset >> 32));
		add32(out, (uint32_t)entries[i].offset);
	}
}

void pack_make_index(struct strbuf *out, const struct pack_entry *entries, size_t nr,
		     const struct oid *pack_id)
{
	struct oid checksum;

	strbuf_grow(out, 8 + 256 * 4 + nr * (OID_SIZE + 8) + 2 * OID_SIZE);
	strbuf_add(out, "\377tOc\0\0\0\2", 8);
	add_fanout(out, entries, nr);
	for (size_t i = 0; i < nr; i++)
		strbuf_add(out, entries[i].oid.id, OID_SIZE);
	for (size_t i = 0; i < nr; i++)
		add32(out, entries[i].crc);
	add_offsets(out, entries, nr);
	strbuf_add(out, pack_id->id, OID_SIZE);
	hash_buffer(HASH_SHA1, checksum.id, out->buf, out->len);
	strbuf_add(out, checksum.id, OID_SIZE);
}

int pack_write_index(int fd, const struct pack_entry *entries, size_t nr, const struct oid *pack_id)
{
	struct strbuf out = STRBUF_INIT;
	int err = 0;

	pack_make_index(&out, entries, nr, pack_id);
	if (fs_write_all(fd, out.buf, out.len) < 0)
		err = ckpt_error_errno("unable to write the index of a pack");
	strbuf_release(&out);
	return err;
}

/* --- the pack --- */

enum {
	FLUSH_AT = 256 * 1024,	       /* bytes that a worker collects before it writes */
	WRITEBACK_STEP = 8 << 20,      /* start writing to disk while there is still work to do */
};

struct pack *pack_new(struct store *store, unsigned workers, unsigned level)
{
	struct pack *pack = xcalloc(1, sizeof(*pack));

	pack->store = store;
	pack->level = level;
	pack->fd = -1;
	strbuf_init(&pack->temp);
	pthread_mutex_init(&pack->lock, NULL);
	pack->workers_nr = workers;
	pack->workers = xcalloc(workers, sizeof(*pack->workers));
	for (unsigned i = 0; i < workers; i++) {
		strbuf_init(&pack->workers[i].out);
		pack->workers[i].deflate = xhave(libdeflate_alloc_compressor((int)level));
		pack->workers[i].sha1 = hash_new(HASH_SHA1);
		if (!pack->workers[i].deflate)
			abort();
	}
	return pack;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	for (unsigned i = 0; i < pack->workers_nr; i++) {
		libdeflate_free_compressor(pack->workers[i].deflate);
		hash_free(pack->workers[i].sha1);
		strbuf_release(&pack->workers[i].out);
		free(pack->workers[i].entries);
	}
	free(pack->workers);
	fs_close(pack->fd);
	if (pack->temp.len)
		unlinkat(pack->store->dirfd, pack->temp.buf, 0);
	strbuf_release(&pack->temp);
	oidset_release(&pack->claimed);
	pthread_mutex_destroy(&pack->lock);
	free(pack);
}

/* The type and size before an object's deflated bytes. */
size_t pack_header(unsigned char out[16], unsigned type, uint64_t size)
{
	size_t n = 0;

	out[0] = (unsigned char)(type << 4 | (size & 15));
	for (size >>= 4; size; size >>= 7) {
		out[n++] |= 0x80;
		out[n] = size & 0x7f;
	}
	return n + 1;
}

int pack_failed(struct pack *pack)
{
	return ckpt_error_errno("unable to write to the store '%s'", pack->store->path);
}

/* With the lock held: reserve `len` more bytes in the file. */
int pack_reserve(struct pack *pack, uint64_t *at_out, size_t len)
{
	if (pack->fd < 0) {
		int err = fs_temp_open(&pack->fd, &pack->temp, pack->store->dirfd, "objects/pack",
				       0400);

		if (err) {
			strbuf_reset(&pack->temp);
			return err;
		}
		pack->size = PACK_HEADER_SIZE;
	}
	if (pack->limit && pack->size + len > pack->limit)
		return ckpt_error_set(CKPT_EREFUSED, "the pack is larger than maxSize leaves room for");
	*at_out = pack->size;
	pack->size += len;
	if (pack->size - pack->synced > WRITEBACK_STEP) {
		/* Only a hint; the fsync at the end is what counts. */
		(void)sync_file_range(pack->fd, (off_t)pack->synced,
				      (off_t)(*at_out - pack->synced), SYNC_FILE_RANGE_WRITE);
		pack->synced = *at_out;
	}
	return 0;
}

int pack_flush(struct pack *pack, struct pack_worker *worker)
{
	uint64_t at = 0;
	int err;

	if (!worker->out.len)
		return 0;
	pthread_mutex_lock(&pack->lock);
	err = pack_reserve(pack, &at, worker->out.len);
	pthread_mutex_unlock(&pack->lock);
	if (err)
		return err;
	if (fs_pwrite_all(pack->fd, worker->out.buf, worker->out.len, (off_t)at) < 0)
		return pack_failed(pack);
	for (; worker->flushed < worker->nr; worker->flushed++)
		worker->entries[worker->flushed].offset += at;
	strbuf_reset(&worker->out);
	return 0;
}

bool pack_has(struct pack *pack, const struct oid *oid)
{
	bool has;

	if (objects_exist(pack->store, oid) && packs_sound(pack->store->packs, oid))
		return true;
	pthread_mutex_lock(&pack->lock);
	has = oidset_has(&pack->claimed, oid);
	pthread_mutex_unlock(&pack->lock);
	return has;
}

bool pack_claim(struct pack *pack, const struct oid *oid)
{
	bool added;

	/* A damaged copy does not count: the object is stored again. */
	if (objects_exist(pack->store, oid) && packs_sound(pack->store->packs, oid))
		return false;
	pthread_mutex_lock(&pack->lock);
	added = oidset_add(&pack->claimed, oid);
	pthread_mutex_unlock(&pack->lock);
	return added;
}

struct pack_entry *pack_add_entry(struct pack_worker *worker, const struct oid *oid)
{
	struct pack_entry *entry = ALLOC_NEXT(worker->entries, worker->nr, worker->alloc);

	entry->oid = *oid;
	return entry;
}

/* Deflate an entry; `base` is that of a delta, or NULL. */
static int append_entry(struct pack *pack, struct pack_worker *worker, unsigned type,
			const struct oid *base, const struct oid *oid, const void *data, size_t len)
{
	size_t start = worker->out.len, head, bound, packed;
	unsigned char header[16 + OID_SIZE];
	struct pack_entry *entry;

	head = pack_header(header, type, len);
	if (base) {
		pack->deltas = true;
		memcpy(header + head, base->id, OID_SIZE);
		head += OID_SIZE;
	}
	bound = libdeflate_zlib_compress_bound(worker->deflate, len);
	strbuf_grow(&worker->out, head + bound);
	memcpy(worker->out.buf + start, header, head);
	packed = libdeflate_zlib_compress(worker->deflate, data, len,
					  worker->out.buf + start + head, bound);
	if (!packed)
		return ckpt_error_set(CKPT_ERROR, "unable to compress an object");
	strbuf_setlen(&worker->out, start + head + packed);

	entry = pack_add_entry(worker, oid);
	entry->offset = start;
	entry->len = head + packed;
	entry->crc = hash_crc(0, worker->out.buf + start, head + packed);
	return worker->out.len >= FLUSH_AT ? pack_flush(pack, worker) : 0;
}

/* --- what a save adds is whole --- */

void pack_demand_whole(struct pack *pack)
{
	pack->whole = true;
}

static int demand(struct pack *pack, const struct oid *oid)
{
	char hex[OID_HEX + 1];
	bool has;

	pthread_mutex_lock(&pack->lock);
	has = oidset_has(&pack->claimed, oid);
	pthread_mutex_unlock(&pack->lock);
	if (has || objects_exist(pack->store, oid))
		return 0;
	return ckpt_error_set(CKPT_ECORRUPT,
			      "the object '%s' of the new checkpoint is missing from the store; "
			      "'git checkpoint doctor' says more",
			      oid_hex(hex, oid));
}

/* Checked even if the store has the object itself: that may be left of what was removed. */
static int demand_named(struct pack *pack, enum object_type type, const void *data, size_t len)
{
	struct strbuf text = { .buf = (char *)data, .len = len };
	struct tree_entry entry;
	const char *p = data;
	int err = 0, more = 1;
	size_t at = 0;

	while (!err && type == OBJECT_TREE && (more = objects_tree_next(&entry, &text, &at)) > 0)
		if (entry.mode != 0160000)
			err = demand(pack, &entry.oid);
	if (type == OBJECT_COMMIT && objects_take_line(&p, "tree ", &entry.oid))
		err = demand(pack, &entry.oid);
	while (!err && type == OBJECT_COMMIT && objects_take_line(&p, "parent ", &entry.oid))
		err = demand(pack, &entry.oid);
	return err || more >= 0 ? err : more;
}

int pack_add(struct pack *pack, unsigned number, enum object_type type, const struct oid *oid,
	     const void *data, size_t len)
{
	int err = pack->whole && type != OBJECT_BLOB ? demand_named(pack, type, data, len) : 0;

	if (err || !pack_claim(pack, oid))
		return err;
	return append_entry(pack, &pack->workers[number], type, NULL, oid, data, len);
}

int pack_add_anew(struct pack *pack, enum object_type type, const struct oid *oid, const void *data,
		  size_t len)
{
	return oidset_add(&pack->claimed, oid)
		       ? append_entry(pack, &pack->workers[0], type, NULL, oid, data, len)
		       : 0;
}

int pack_add_delta(struct pack *pack, const struct oid *oid, const struct oid *base,
		   const void *delta, size_t len)
{
	return oidset_add(&pack->claimed, oid) ? append_entry(pack, &pack->workers[0],
							      PACK_REF_DELTA, base, oid, delta, len)
					       : 0;
}

int pack_add_new(struct pack *pack, struct oid *oid_out, enum object_type type, const void *data,
		 size_t len)
{
	hash_object(pack->workers[0].sha1, oid_out, objects_type_name(type), data, len);
	return pack_add(pack, 0, type, oid_out, data, len);
}

int pack_add_copy(struct pack *pack, const struct oid *oid, const void *bytes, size_t len,
		  uint32_t crc)
{
	struct pack_worker *worker = &pack->workers[0];
	struct pack_entry *entry;
	uint64_t at = 0;
	int err;

	if (!oidset_add(&pack->claimed, oid))
		return 0;
	if (worker->out.len + len > FLUSH_AT) {
		err = pack_flush(pack, worker);
		if (err)
			return err;
	}
	if ((*(const unsigned char *)bytes >> 4 & 7) == PACK_REF_DELTA)
		pack->deltas = true;
	entry = pack_add_entry(worker, oid);
	entry->len = len;
	entry->crc = crc;
	if (len <= FLUSH_AT) {
		entry->offset = worker->out.len;
		strbuf_add(&worker->out, bytes, len);
		return 0;
	}
	err = pack_reserve(pack, &at, len);
	if (!err && fs_pwrite_all(pack->fd, bytes, len, (off_t)at) < 0)
		err = pack_failed(pack);
	entry->offset = at;
	worker->flushed = worker->nr;
	return err;
}

const struct oid *pack_id(const struct pack *pack)
{
	return &pack->id;
}

bool pack_wrote(struct pack *pack, const struct oid *oid)
{
	static const struct oid none;

	return !oid_equal(&pack->id, &none) && oidset_has(&pack->claimed, oid);
}

void pack_set_limit(struct pack *pack, uint64_t bytes)
{
	pack->limit = bytes;
}

bool pack_is_empty(struct pack *pack)
{
	for (unsigned i = 0; i < pack->workers_nr; i++)
		if (pack->workers[i].nr)
			return false;
	return true;
}

static int by_offset(const void *x, const void *y)
{
	const struct pack_entry *a = x, *b = y;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_oid(const void *x, const void *y)
{
	return memcmp(x, y, OID_SIZE);
}

static struct pack_entry *gather_entries(struct pack *pack, size_t *nr_out)
{
	struct pack_entry *all;
	size_t nr = 0;

	for (unsigned i = 0; i < pack->workers_nr; i++)
		nr += pack->workers[i].nr;
	all = xmalloc(nr * sizeof(*all));
	nr = 0;
	for (unsigned i = 0; i < pack->workers_nr; i++) {
		if (pack->workers[i].nr)
			memcpy(all + nr, pack->workers[i].entries,
			       pack->workers[i].nr * sizeof(*all));
		nr += pack->workers[i].nr;
	}
	*nr_out = nr;
	return all;
}

static int write_header(struct pack *pack, size_t nr)
{
	unsigned char header[PACK_HEADER_SIZE] = { 'P', 'A', 'C', 'K', 0, 0, 0, 2 };

	for (int i = 0; i < 4; i++)
		header[8 + i] = (unsigned char)(nr >> (24 - 8 * i));
	return fs_pwrite_all(pack->fd, header, sizeof(header), 0) < 0 ? pack_failed(pack) : 0;
}

/* Sync pack and index, and give them their names: the pack first, as it is found by its index. */
static int put_in_place(struct pack *pack, int index_fd, const char *index_temp,
			const struct oid *id)
{
	int dirfd = pack->store->dirfd, err;
	char hex[OID_HEX + 1];
	char *pack_name = xstrfmt("objects/pack/pack-%s.pack", oid_hex(hex, id));
	char *index_name = xstrfmt("objects/pack/pack-%s.idx", hex);
	/* The same objects were stored before and are damaged; these are good. */
	bool again = !faccessat(dirfd, index_name, F_OK, AT_SYMLINK_NOFOLLOW);

	if (fdatasync(pack->fd) < 0 || fdatasync(index_fd) < 0) {
		err = pack_failed(pack);
	} else {
		err = fs_rename(dirfd, pack->temp.buf, pack_name, "objects/pack", FS_FAST);
		if (!err) {
			strbuf_reset(&pack->temp);
			err = fs_rename(dirfd, index_temp, index_name, "objects/pack", FS_DURABLE);
			if (err && !again) {
				unlinkat(dirfd, index_name, 0);
				unlinkat(dirfd, pack_name, 0);
			}
		}
	}
	free(pack_name);
	free(index_name);
	return err;
}

int pack_commit(struct pack *pack, uint64_t *bytes_out)
{
	struct pack_entry *entries = NULL;
	struct strbuf index_temp = STRBUF_INIT;
	int index_fd = -1, err = 0;
	struct stat st;
	struct oid id;
	size_t nr;

	if (bytes_out)
		*bytes_out = 0;
	if (pack_is_empty(pack))
		return 0;
	for (unsigned i = 0; i < pack->workers_nr && !err; i++)
		err = pack_flush(pack, &pack->workers[i]);
	if (err)
		return err;
	entries = gather_entries(pack, &nr);
	err = write_header(pack, nr);
	if (err)
		goto out;
	qsort(entries, nr, sizeof(*entries), by_offset);
	err = pack_verify(&id, pack->fd, pack->size, entries, nr, pack->deltas,
			  pack->workers_nr, pack->store->progress);
	if (err)
		goto out;
	if (fs_pwrite_all(pack->fd, id.id, OID_SIZE, (off_t)pack->size) < 0) {
		err = pack_failed(pack);
		goto out;
	}
	qsort(entries, nr, sizeof(*entries), by_oid);
	err = fs_temp_open(&index_fd, &index_temp, pack->store->dirfd, "objects/pack", 0400);
	if (err) {
		strbuf_reset(&index_temp);
		goto out;
	}
	err = pack_write_index(index_fd, entries, nr, &id);
	if (!err && bytes_out)
		*bytes_out = pack->size + OID_SIZE + (fstat(index_fd, &st) ? 0 : (uint64_t)st.st_size);
	if (!err)
		err = put_in_place(pack, index_fd, index_temp.buf, &id);
	if (!err)
		pack->id = id;
	if (!err)
		strbuf_reset(&index_temp);
out:
	fs_close(index_fd);
	if (index_temp.len)
		unlinkat(pack->store->dirfd, index_temp.buf, 0);
	strbuf_release(&index_temp);
	free(entries);
	return err;
}
