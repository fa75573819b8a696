/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "store/packs_internal.h"

#include <libdeflate.h>
#include <stdatomic.h>
#include <zlib.h>

#include <sys/mman.h>

/*
 * The pack is cut into spans of neighbouring objects; workers take one each.
 * The SHA-1 over the whole file, which git wants after it, can only be
 * computed from front to back, so that is a separate item, started first.
 */
enum { SPAN = 1 << 20, PLAIN_MAX = 8 << 20 };

struct verifier {
	struct libdeflate_decompressor *inflate;
	struct digest *sha1;
	unsigned char *packed, *plain;
	size_t packed_alloc, plain_alloc;
};

struct verify {
	int fd;
	uint64_t size;
	const struct pack_entry *entries;
	size_t nr;
	size_t *spans; /* first entry of each */
	size_t spans_nr;
	struct verifier *workers;
	struct oid *pack_id;
	progress_fn progress; /* may be NULL */
	_Atomic uint64_t done; /* bytes of objects */
	struct packs *none;   /* NULL: there are no deltas */
	struct one_pack self; /* otherwise the pack as its readers see it */
	struct strbuf index;
};

static int set_damaged(const struct pack_entry *entry)
{
	char hex[OID_HEX + 1];

	return ckpt_error_set(CKPT_ECORRUPT,
			      "the object '%s' cannot be read back as it was written; "
			      "is the disk or the memory failing?",
			      oid_hex(hex, &entry->oid));
}

size_t pack_entry_header(unsigned *type, uint64_t *size, const unsigned char *p, size_t len)
{
	size_t n = 0;
	int shift = 4;

	if (!len)
		return 0;
	*type = p[0] >> 4 & 7;
	*size = p[0] & 15;
	while (p[n] & 0x80) {
		if (++n >= len || shift > 57)
			return 0;
		*size |= (uint64_t)(p[n] & 0x7f) << shift;
		shift += 7;
	}
	return n + 1;
}

static bool is_object(unsigned type)
{
	return type >= OBJECT_COMMIT && type <= OBJECT_TAG;
}

static void tell_done(struct verify *verify, uint64_t bytes)
{
	enum { MB = 1000 * 1000 };
	uint64_t done = atomic_fetch_add(&verify->done, bytes) + bytes;

	if (verify->progress)
		verify->progress("Reading back, in MB", (size_t)(done / MB), (size_t)(verify->size / MB),
				 NULL);
}

/* --- deltas: few, and of small objects --- */

static int check_delta(struct verify *verify, struct verifier *worker,
		       const struct pack_entry *entry)
{
	const struct packs_at at = { &verify->self, verify->self.pack.data, entry->offset,
				     verify->size };
	struct strbuf plain = STRBUF_INIT;
	enum object_type type;
	struct oid oid;
	size_t used;
	bool ok = !packs_read_at(&plain, &type, &used, verify->none, &at) && used == entry->len;

	if (ok) {
		hash_object(worker->sha1, &oid, objects_type_name(type), plain.buf, plain.len);
		ok = oid_equal(&oid, &entry->oid);
	}
	strbuf_release(&plain);
	return ok ? 0 : set_damaged(entry);
}

/* --- objects --- */

static int check_large(struct verify *verify, struct verifier *worker,
		       const struct pack_entry *entry);

static int check_small(struct verify *verify, struct verifier *worker,
		       const struct pack_entry *entry, const unsigned char *bytes)
{
	unsigned type;
	uint64_t size;
	size_t head = pack_entry_header(&type, &size, bytes, entry->len);
	struct oid oid;

	if (!head || hash_crc(0, bytes, entry->len) != entry->crc)
		return set_damaged(entry);
	if (type == PACK_REF_DELTA && verify->none)
		return check_delta(verify, worker, entry);
	if (!is_object(type))
		return set_damaged(entry);
	if (size > PLAIN_MAX)
		return check_large(verify, worker, entry); /* few bytes in the pack, many in memory */
	ALLOC_GROW(worker->plain, size + 1, worker->plain_alloc);
	if (libdeflate_zlib_decompress(worker->inflate, bytes + head, entry->len - head,
				       worker->plain, size, NULL) != LIBDEFLATE_SUCCESS)
		return set_damaged(entry);
	hash_object(worker->sha1, &oid, objects_type_name(type), worker->plain, size);
	return oid_equal(&oid, &entry->oid) ? 0 : set_damaged(entry);
}

/* An object that is too large for memory. */
static int check_large(struct verify *verify, struct verifier *worker,
		       const struct pack_entry *entry)
{
	unsigned char *in = xmalloc(FS_CHUNK), *out = xmalloc(FS_CHUNK);
	uint64_t done = 0, size = 0, plain = 0;
	unsigned type;
	z_stream z = { 0 };
	uint32_t crc = 0;
	char prefix[64];
	struct oid oid;
	int rc = Z_OK, err = 0;

	if (inflateInit(&z) != Z_OK)
		err = ckpt_error_set(CKPT_ERROR, "unable to start zlib");
	while (!err && done < entry->len) {
		size_t want = entry->len - done < FS_CHUNK ? (size_t)(entry->len - done) : FS_CHUNK;
		ssize_t n = fs_pread_full(verify->fd, in, want, (off_t)(entry->offset + done));
		size_t head = 0;

		err = cancel_check();
		if (!err && n != (ssize_t)want)
			err = set_damaged(entry);
		if (err)
			break;
		crc = hash_crc(crc, in, want);
		if (!done) {
			head = pack_entry_header(&type, &size, in, want);
			if (!head || !is_object(type)) {
				err = set_damaged(entry);
				break;
			}
			hash_update(worker->sha1, prefix,
				    hash_object_header(prefix, objects_type_name(type), size));
		}
		done += want;
		tell_done(verify, want);
		z.next_in = in + head;
		z.avail_in = (uInt)(want - head);
		do {
			z.next_out = out;
			z.avail_out = FS_CHUNK;
			rc = inflate(&z, Z_NO_FLUSH);
			if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
				err = set_damaged(entry);
				break;
			}
			hash_update(worker->sha1, out, FS_CHUNK - z.avail_out);
			plain += FS_CHUNK - z.avail_out;
		} while (!z.avail_out);
	}
	inflateEnd(&z);
	hash_end(worker->sha1, oid.id);
	if (!err && (rc != Z_STREAM_END || plain != size || crc != entry->crc ||
		     !oid_equal(&oid, &entry->oid)))
		err = set_damaged(entry);
	free(in);
	free(out);
	return err;
}

static int check_span(struct verify *verify, struct verifier *worker, size_t first, size_t end)
{
	const struct pack_entry *entries = verify->entries;
	uint64_t start = entries[first].offset;
	uint64_t len = entries[end - 1].offset + entries[end - 1].len - start;
	int err = 0;

	if (end - first == 1 && len > SPAN)
		return check_large(verify, worker, &entries[first]);
	ALLOC_GROW(worker->packed, len, worker->packed_alloc);
	if (fs_pread_full(verify->fd, worker->packed, len, (off_t)start) != (ssize_t)len)
		return set_damaged(&entries[first]);
	for (size_t i = first; i < end && !err; i++)
		err = check_small(verify, worker, &entries[i],
				  worker->packed + (entries[i].offset - start));
	tell_done(verify, len);
	return err;
}

/* The header before the objects: none of their checksums covers it. */
static bool header_sound(const struct verify *verify, const unsigned char *p, size_t len)
{
	return len >= PACK_HEADER_SIZE && !memcmp(p, "PACK\0\0\0\2", 8) &&
	       verify->nr == packs_get32(p + 8);
}

static int hash_pack(struct verify *verify)
{
	struct digest *sha1 = hash_new(HASH_SHA1);
	unsigned char *buf = xmalloc(FS_CHUNK);
	uint64_t done = 0;
	int err = 0;

	while (done < verify->size && !(err = cancel_check())) {
		size_t want =
			verify->size - done < FS_CHUNK ? (size_t)(verify->size - done) : FS_CHUNK;

		if (fs_pread_full(verify->fd, buf, want, (off_t)done) != (ssize_t)want) {
			err = ckpt_error_errno("unable to read a pack back");
			break;
		}
		if (!done && !header_sound(verify, buf, want)) {
			err = ckpt_error_set(CKPT_ECORRUPT, "the header of a pack cannot be read "
							    "back as it was written");
			break;
		}
		hash_update(sha1, buf, want);
		done += want;
	}
	hash_end(sha1, verify->pack_id->id);
	hash_free(sha1);
	free(buf);
	return err;
}

static int verify_item(size_t index, unsigned number, void *payload)
{
	struct verify *verify = payload;
	int err = cancel_check();

	if (err)
		return err;
	if (!index)
		return hash_pack(verify);
	return check_span(verify, &verify->workers[number], verify->spans[index - 1],
			  verify->spans[index]);
}

static void cut_spans(struct verify *verify)
{
	uint64_t start = 0;

	verify->spans = xmalloc((verify->nr + 1) * sizeof(*verify->spans));
	for (size_t i = 0; i < verify->nr; i++) {
		const struct pack_entry *entry = &verify->entries[i];

		if (!i || entry->offset + entry->len - start > SPAN) {
			verify->spans[verify->spans_nr++] = i;
			start = entry->offset;
		}
	}
	verify->spans[verify->spans_nr] = verify->nr;
}

static int by_oid(const void *x, const void *y)
{
	return memcmp(x, y, OID_SIZE);
}

/* By its index, the only one there is, the bases of deltas are found. */
static int open_self(struct verify *verify)
{
	static const struct oid unknown;
	struct pack_entry *sorted = xmalloc(verify->nr * sizeof(*sorted));
	void *data = mmap(NULL, verify->size, PROT_READ, MAP_PRIVATE, verify->fd, 0);

	if (data == MAP_FAILED) {
		free(sorted);
		return ckpt_error_errno("unable to read a pack back");
	}
	memcpy(sorted, verify->entries, verify->nr * sizeof(*sorted));
	qsort(sorted, verify->nr, sizeof(*sorted), by_oid);
	strbuf_init(&verify->index);
	pack_make_index(&verify->index, sorted, verify->nr, &unknown);
	free(sorted);
	verify->none = packs_open(-1);
	verify->self = (struct one_pack){
		.index = { (const unsigned char *)verify->index.buf, verify->index.len },
		.nr = (uint32_t)verify->nr,
		.pack = { data, verify->size + OID_SIZE }, /* its trailer is not there yet */
	};
	return 0;
}

static void close_self(struct verify *verify)
{
	if (!verify->none)
		return;
	packs_close(verify->none);
	munmap((void *)verify->self.pack.data, verify->size);
	strbuf_release(&verify->index);
}

int pack_verify(struct oid *pack_id_out, int fd, uint64_t size, const struct pack_entry *entries,
		size_t nr, bool deltas, unsigned threads, progress_fn progress)
{
	struct verify verify = {
		.fd = fd, .size = size, .entries = entries, .nr = nr, .pack_id = pack_id_out,
		.progress = progress,
	};
	int err = deltas ? open_self(&verify) : 0;

	if (err)
		return err;
	cut_spans(&verify);
	verify.workers = xcalloc(threads, sizeof(*verify.workers));
	for (unsigned i = 0; i < threads; i++) {
		verify.workers[i].inflate = xhave(libdeflate_alloc_decompressor());
		verify.workers[i].sha1 = hash_new(HASH_SHA1);
	}
	err = pool_for(threads, verify.spans_nr + 1, verify_item, &verify);
	for (unsigned i = 0; i < threads; i++) {
		libdeflate_free_decompressor(verify.workers[i].inflate);
		hash_free(verify.workers[i].sha1);
		free(verify.workers[i].packed);
		free(verify.workers[i].plain);
	}
	free(verify.workers);
	free(verify.spans);
	close_self(&verify);
	return err;
}
