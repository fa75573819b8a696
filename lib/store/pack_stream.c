/* SPDX-License-Identifier: MIT */
/*
 * An object that is too large for memory, on its way into a pack. A batch of it is
 * read, then the threads share the work on it: SHA-1, SHA-256 and the checksum are
 * one item each, as they go from front to back, and every piece is deflated for
 * itself. A piece ends at a byte, so that pieces follow each other in one stream;
 * what comes out does not depend on the number of threads.
 */
#include "store/pack_writer_internal.h"

#include <libdeflate.h>
#include <zlib.h>

enum {
	PIECE = 256 << 10,
	PIECES = 16, /* in a batch */
	BATCH = PIECE * PIECES,
	WINDOW = 32 << 10, /* how far back deflate can refer */
	PROBE = 16 << 10,
	STORED_MAX = 65535, /* in one block that is not compressed */
	STORED_HEAD = 5,
	/* What zlib cannot compress it stores, in blocks that may be much smaller. */
	PIECE_BOUND = PIECE + PIECE / 256 + 64,
};

/* What is done with a batch; the pieces come after these. */
enum { TO_SHA1, TO_SHA256, TO_CHECKSUM, TO_PIECES };

struct stream {
	struct pack *pack;
	struct digest *sha1, *sha256; /* NULL: not needed */
	uint64_t start; /* in the file */
	uint32_t crc;	/* of what is in the file */
	uint32_t adler; /* of the contents */
	unsigned char *window; /* the end of the last batch; what is read follows */
	size_t window_len, len;
	unsigned char *out;
	size_t out_len[PIECES];
};

static unsigned char *batch_of(const struct stream *stream)
{
	return stream->window + WINDOW;
}

/* --- one piece --- */

static size_t store_piece(unsigned char *out, const unsigned char *data, size_t len)
{
	size_t at = 0;

	while (len) {
		size_t n = len < STORED_MAX ? len : STORED_MAX;

		out[at] = 0;
		out[at + 1] = (unsigned char)(n & 0xff);
		out[at + 2] = (unsigned char)(n >> 8);
		out[at + 3] = (unsigned char)~out[at + 1];
		out[at + 4] = (unsigned char)~out[at + 2];
		memcpy(out + at + STORED_HEAD, data, n);
		at += STORED_HEAD + n;
		data += n;
		len -= n;
	}
	return at;
}

static int deflate_piece(size_t *out_len, unsigned char *out, unsigned level,
			 const unsigned char *before, size_t before_len,
			 const unsigned char *data, size_t len)
{
	z_stream z = { 0 };
	int rc = deflateInit2(&z, (int)level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);

	if (rc != Z_OK)
		return ckpt_error_set(CKPT_ERROR, "unable to start zlib");
	if (before_len)
		rc = deflateSetDictionary(&z, before, (uInt)before_len);
	z.next_in = (unsigned char *)data;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = PIECE_BOUND;
	if (rc == Z_OK)
		rc = deflate(&z, Z_SYNC_FLUSH);
	*out_len = PIECE_BOUND - z.avail_out;
	/* With room left, everything is out. */
	if (rc == Z_OK && (z.avail_in || !z.avail_out))
		rc = Z_BUF_ERROR;
	deflateEnd(&z);
	return rc == Z_OK ? 0 : ckpt_error_set(CKPT_ERROR, "unable to compress an object");
}

/*
 * Large files are mostly archives, pictures, films: compressing them again takes
 * long and gains nothing. The beginning of each piece tells; such pieces are
 * stored as they are.
 */
static bool is_worth_it(const struct pack *pack, unsigned worker, const unsigned char *data,
			size_t len, unsigned char *scratch)
{
	size_t probe = len < PROBE ? len : PROBE;

	/* Room for a saving of a twentieth only: 0 means that it did not fit. */
	return pack->level && libdeflate_zlib_compress(pack->workers[worker].deflate, data, probe,
						       scratch, probe - probe / 20);
}

static int pack_piece(struct stream *stream, unsigned worker, size_t index)
{
	const unsigned char *data = batch_of(stream) + index * PIECE;
	size_t left = stream->len - index * PIECE, len = left < PIECE ? left : PIECE;
	size_t before = index ? WINDOW : stream->window_len;
	unsigned char *out = stream->out + index * PIECE_BOUND;

	if (is_worth_it(stream->pack, worker, data, len, out))
		return deflate_piece(&stream->out_len[index], out, stream->pack->level,
				     data - before, before, data, len);
	stream->out_len[index] = store_piece(out, data, len);
	return 0;
}

/* --- all of it --- */

static int work_item(size_t index, unsigned worker, void *payload)
{
	struct stream *stream = payload;
	const unsigned char *batch = batch_of(stream);

	switch (index) {
	case TO_SHA1:
		if (stream->sha1)
			hash_update(stream->sha1, batch, stream->len);
		return 0;
	case TO_SHA256:
		if (stream->sha256)
			hash_update(stream->sha256, batch, stream->len);
		return 0;
	case TO_CHECKSUM:
		stream->adler = libdeflate_adler32(stream->adler, batch, stream->len);
		return 0;
	default:
		return pack_piece(stream, worker, index - TO_PIECES);
	}
}

static int stream_write(struct stream *stream, const void *data, size_t len)
{
	uint64_t at;
	int err = pack_reserve(stream->pack, &at, len);

	if (err)
		return err;
	if (fs_pwrite_all(stream->pack->fd, data, len, (off_t)at) < 0)
		return pack_failed(stream->pack);
	stream->crc = hash_crc(stream->crc, data, len);
	return 0;
}

/* Less than a whole batch only at the end. */
static int fill_batch(struct stream *stream, uint64_t left, const struct pack_source *source)
{
	unsigned char *batch = batch_of(stream);
	int n = 1;

	for (stream->len = 0; n && stream->len < BATCH; stream->len += (size_t)n) {
		n = source->read(batch + stream->len, BATCH - stream->len, source->payload);
		if (n < 0)
			return n;
		if ((uint64_t)n > left - stream->len || (!n && stream->len != left))
			return ckpt_error_set(CKPT_ERROR, "a file changed while it was read");
	}
	return 0;
}

static int write_batch(struct stream *stream)
{
	size_t pieces = (stream->len + PIECE - 1) / PIECE;
	int err = pool_for(stream->pack->workers_nr, TO_PIECES + pieces, work_item, stream);

	for (size_t i = 0; i < pieces && !err; i++)
		err = stream_write(stream, stream->out + i * PIECE_BOUND, stream->out_len[i]);
	if (stream->len < WINDOW)
		return err; /* it was the last one */
	memcpy(stream->window, batch_of(stream) + stream->len - WINDOW, WINDOW);
	stream->window_len = WINDOW;
	return err;
}

static int stream_all(struct stream *stream, const struct pack_source *source)
{
	/* What zlib begins with, too: a window of 32 KB, fast. Then what ends it: an empty block. */
	static const unsigned char begin[] = { 0x78, 0x01 };
	unsigned char end[STORED_HEAD + 4] = { 1, 0, 0, 0xff, 0xff };
	uint64_t left = source->size;
	int err = stream_write(stream, begin, sizeof(begin));

	while (!err) {
		err = fill_batch(stream, left, source);
		left -= err ? 0 : stream->len;
		if (err || !stream->len)
			break;
		err = write_batch(stream);
	}
	for (int i = 0; i < 4; i++)
		end[STORED_HEAD + i] = (unsigned char)(stream->adler >> (24 - 8 * i));
	return err ? err : stream_write(stream, end, sizeof(end));
}

/* Discard what was written since `start`. */
static int take_back(struct pack *pack, uint64_t start)
{
	pack->size = start;
	if (pack->synced > start)
		pack->synced = start;
	if (pack->fd >= 0 && ftruncate(pack->fd, (off_t)start) < 0)
		return pack_failed(pack);
	return 0;
}

static void note_entry(struct stream *stream, const struct oid *oid)
{
	struct pack_worker *worker = &stream->pack->workers[0];
	struct pack_entry *entry = pack_add_entry(worker, oid);

	entry->offset = stream->start;
	entry->len = stream->pack->size - stream->start;
	entry->crc = stream->crc;
	worker->flushed = worker->nr;
}

int pack_add_stream(struct pack *pack, struct oid *oid_out, const struct pack_source *source)
{
	struct pack_worker *worker = &pack->workers[0];
	struct stream stream = { .pack = pack, .sha256 = source->sha256, .adler = 1 };
	unsigned char header[16];
	char prefix[64];
	struct oid oid;
	int err;

	/* Not claimed yet: if it cannot be read to its end, the pack does not have it. */
	if (source->name && pack_has(pack, source->name)) {
		*oid_out = *source->name;
		return 0;
	}
	err = pack_flush(pack, worker);
	if (!err)
		err = pack_reserve(pack, &stream.start, 0);
	if (err)
		return err;
	stream.window = xmalloc(WINDOW + BATCH);
	stream.out = xmalloc((size_t)PIECES * PIECE_BOUND);
	if (source->name) {
		oid = *source->name;
	} else {
		stream.sha1 = worker->sha1;
		hash_begin(stream.sha1);
		hash_update(stream.sha1, prefix, hash_object_header(prefix, "blob", source->size));
	}
	err = stream_write(&stream, header, pack_header(header, OBJECT_BLOB, source->size));
	if (!err)
		err = stream_all(&stream, source);
	free(stream.window);
	free(stream.out);
	if (stream.sha1)
		hash_end(stream.sha1, oid.id);
	if (err) {
		char *kept = ckpt_error_keep();

		(void)take_back(pack, stream.start);
		return ckpt_error_put_back(err, kept);
	}
	*oid_out = oid;
	if (!pack_claim(pack, &oid))
		return take_back(pack, stream.start);
	note_entry(&stream, &oid);
	return 0;
}
