/* SPDX-License-Identifier: MIT */
#include "store/pack_writer_internal.h"

#include "base/base.h"

#include <libdeflate.h>
#include <zlib.h>

enum {
	STREAM_CHUNK = 256 * 1024,
	PROBE = 16 * 1024,
};

/* A large object on its way into the file. */
struct stream {
	struct pack *pack;
	uint64_t start; /* in the file */
	uint32_t crc;
	int level; /* of deflate at present */
	unsigned char *out;
};

static int stream_write(struct stream *stream, const void *data, size_t len)
{
	uint64_t at;
	int err = pack_reserve(stream->pack, &at, len);

	if (err)
		return err;
	if (fs_pwrite_all(stream->pack->fd, data, len, (off_t)at) < 0)
		return pack_failed(stream->pack);
	stream->crc = crc_update(stream->crc, data, len);
	return 0;
}

static int stream_deflate(struct stream *stream, z_stream *z, int flag)
{
	int rc, err = 0;

	do {
		z->next_out = stream->out;
		z->avail_out = STREAM_CHUNK;
		rc = deflate(z, flag);
		if (rc == Z_STREAM_ERROR)
			return ckpt_error_set(CKPT_ERROR, "unable to compress an object");
		err = stream_write(stream, stream->out, STREAM_CHUNK - z->avail_out);
	} while (!err && !z->avail_out);
	return err;
}

/*
 * Large files are mostly archives, pictures, films: compressing them again takes
 * long and gains nothing. The beginning of each chunk tells; such chunks are
 * stored as they are.
 */
static int choose_level(struct stream *stream, z_stream *z, const unsigned char *chunk, size_t len)
{
	struct pack *pack = stream->pack;
	struct libdeflate_compressor *deflate = pack->workers[0].deflate;
	size_t probe = len < PROBE ? len : PROBE;
	/* Room for a saving of a twentieth only: 0 means that it did not fit. */
	size_t packed = libdeflate_zlib_compress(deflate, chunk, probe, stream->out,
						 probe - probe / 20);
	int level = packed ? (int)pack->level : 0;

	if (level == stream->level)
		return 0;
	stream->level = level;
	z->next_out = stream->out;
	z->avail_out = STREAM_CHUNK;
	z->next_in = NULL;
	z->avail_in = 0;
	if (deflateParams(z, level, Z_DEFAULT_STRATEGY) != Z_OK)
		return ckpt_error_set(CKPT_ERROR, "unable to compress an object");
	return stream_write(stream, stream->out, STREAM_CHUNK - z->avail_out);
}

static int stream_all(struct stream *stream, z_stream *z, struct digest *sha1, uint64_t size,
		      pack_read_fn read, void *payload)
{
	unsigned char *in = xmalloc(STREAM_CHUNK);
	uint64_t left = size;
	int err = 0;

	for (;;) {
		int n = read(in, STREAM_CHUNK, payload);

		if (n < 0)
			err = n;
		else if ((uint64_t)n > left || (!n && left))
			err = ckpt_error_set(CKPT_ERROR, "a file changed while it was read");
		if (err || !n)
			break;
		left -= (uint64_t)n;
		hash_update(sha1, in, (size_t)n);
		err = choose_level(stream, z, in, (size_t)n);
		if (err)
			break;
		z->next_in = in;
		z->avail_in = (uInt)n;
		err = stream_deflate(stream, z, Z_NO_FLUSH);
		if (err)
			break;
	}
	if (!err)
		err = stream_deflate(stream, z, Z_FINISH);
	free(in);
	return err;
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

int pack_add_stream(struct pack *pack, struct oid *oid_out, uint64_t size, pack_read_fn read,
		    void *payload)
{
	struct pack_worker *worker = &pack->workers[0];
	struct stream stream = { .pack = pack, .level = (int)pack->level };
	unsigned char header[16];
	char prefix[64];
	z_stream z = { 0 };
	struct oid oid;
	int err = pack_flush(pack, worker);

	if (!err)
		err = pack_reserve(pack, &stream.start, 0);
	if (err)
		return err;
	if (deflateInit(&z, (int)pack->level) != Z_OK)
		return ckpt_error_set(CKPT_ERROR, "unable to start zlib");
	stream.out = xmalloc(STREAM_CHUNK);
	hash_begin(worker->sha1);
	hash_update(worker->sha1, prefix, hash_object_header(prefix, "blob", size));
	err = stream_write(&stream, header, pack_header(header, OBJECT_BLOB, size));
	if (!err)
		err = stream_all(&stream, &z, worker->sha1, size, read, payload);
	deflateEnd(&z);
	free(stream.out);
	hash_end(worker->sha1, oid.id);
	if (err) {
		char *kept = ckpt_error_keep();

		(void)take_back(pack, stream.start);
		return ckpt_error_put_back(err, kept);
	}
	*oid_out = oid;
	if (!pack_claim(pack, &oid))
		return take_back(pack, stream.start);
	{
		struct pack_entry *entry = pack_add_entry(worker, &oid);

		entry->offset = stream.start;
		entry->len = pack->size - stream.start;
		entry->crc = stream.crc;
		worker->flushed = worker->nr;
	}
	return 0;
}
