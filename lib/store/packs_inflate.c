/* SPDX-License-Identifier: MIT */
/*
 * While one piece of a large object is inflated, the one before it is hashed,
 * summed up and passed on, by other threads if there are processors for them.
 */
#include "store/packs_internal.h"

#include <libdeflate.h>
#include <zlib.h>

#include <sys/mman.h>

enum {
	FORGET = 4 << 20,  /* how much is released at a time */
	SHARED_MIN = 8 << 20, /* from this size on a second thread is worth its start */
	THREADS = 2,
};

struct piece {
	unsigned char *buf;
	size_t len;
};

struct inflating {
	const struct deflated *from;
	const struct oid *oid;
	struct digest *sha1;
	packs_piece_fn fn;
	void *payload;

	z_stream z;
	int rc; /* of the last inflate() */
	size_t left;
	uint64_t done;
	const unsigned char *seen;
	size_t room;
	struct piece next, now;
	uint32_t adler; /* up to `now` */
};

/* What was read of a large object would count as our memory for as long as it is mapped. */
static void forget(struct inflating *in)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)in->seen / page * page, end = (uintptr_t)in->z.next_in / page * page;

	if (in->z.next_in - in->seen < FORGET)
		return;
	(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
	in->seen = in->z.next_in;
}

static int fill_next(struct inflating *in)
{
	z_stream *z = &in->z;
	int err = cancel_check();

	z->next_out = in->next.buf;
	z->avail_out = (uInt)in->room;
	while (!err && in->rc == Z_OK && z->avail_out) {
		size_t had;

		/* Its counters have 32 bits. */
		z->avail_in = in->left > FS_CHUNK ? FS_CHUNK : (uInt)in->left;
		had = z->avail_in;
		in->rc = inflate(z, Z_NO_FLUSH);
		in->left -= had - z->avail_in;
		if (in->rc != Z_OK && in->rc != Z_STREAM_END)
			err = packs_damaged(in->oid);
		forget(in);
	}
	in->next.len = in->room - z->avail_out;
	in->done += in->next.len;
	if (!err && in->done > in->from->size)
		err = packs_damaged(in->oid);
	return err;
}

static int work_item(size_t index, unsigned worker UNUSED, void *payload)
{
	struct inflating *in = payload;

	switch (index) {
	case 0:
		return fill_next(in);
	case 1:
		if (in->sha1)
			hash_update(in->sha1, in->now.buf, in->now.len);
		in->adler = libdeflate_adler32(in->adler, in->now.buf, in->now.len);
		return 0;
	default:
		return in->fn(in->now.buf, in->now.len, in->payload);
	}
}

/* zlib's own check of the sum takes as long as inflating what was not compressed. */
static bool sum_is_right(const struct inflating *in)
{
	const unsigned char *end = in->z.next_in;

	return in->adler == ((uint32_t)end[-4] << 24 | (uint32_t)end[-3] << 16 |
			     (uint32_t)end[-2] << 8 | end[-1]);
}

static int inflate_all(struct inflating *in)
{
	unsigned threads = in->from->size >= SHARED_MIN && pool_default_threads() > 1 ? THREADS : 1;
	int err = fill_next(in);

	while (!err && in->next.len) {
		struct piece full = in->next;

		in->next = in->now;
		in->now = full;
		err = pool_for(threads, 3, work_item, in);
	}
	if (!err && (in->rc != Z_STREAM_END || in->done != in->from->size || !sum_is_right(in)))
		err = packs_damaged(in->oid);
	return err;
}

int packs_inflate(size_t *used_out, const struct deflated *from, const struct oid *oid,
		  struct digest *sha1, packs_piece_fn fn, void *payload)
{
	struct inflating in = { .from = from, .oid = oid, .sha1 = sha1, .fn = fn, .payload = payload,
				.left = from->left, .seen = from->data, .adler = 1,
				.room = from->size >= SHARED_MIN ? 4 * FS_CHUNK : FS_CHUNK };
	int err;

	in.z.next_in = (unsigned char *)from->data;
	if (inflateInit(&in.z) != Z_OK)
		return ckpt_error_set(CKPT_ERROR, "unable to start zlib");
	inflateValidate(&in.z, 0);
	in.next.buf = xmalloc(in.room);
	in.now.buf = xmalloc(in.room);
	err = inflate_all(&in);
	if (used_out)
		*used_out = from->left - in.left;
	inflateEnd(&in.z);
	free(in.next.buf);
	free(in.now.buf);
	return err;
}
