/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "store/delta_internal.h"
#include "store/pack.h"
#include "store/packs_internal.h"

#include <libdeflate.h>

#include <pthread.h>

enum {
	WHOLE_MAX = 16 << 20, /* inflated in one go up to this */
	CHAIN_MAX = 4095,     /* as many as git ever makes */
};

/* An object in a pack: its bytes, or those of the object that deltas make it from. */
struct found {
	enum object_type type;
	struct deflated base;
	struct deflated *deltas; /* the last to be applied comes first */
	size_t nr, alloc;
};

/* --- the header before the bytes --- */

/* How far before the delta its base starts; returns the length of that number, or 0. */
static size_t base_distance(uint64_t *out, const unsigned char *p, size_t len)
{
	size_t n = 0;

	if (!len)
		return 0;
	*out = p[0] & 0x7f;
	while (p[n] & 0x80) {
		if (++n >= len || *out >= UINT64_MAX >> 8)
			return 0;
		*out = (*out + 1) << 7 | (p[n] & 0x7f);
	}
	return n + 1;
}

/*
 * From a delta to its base: `at` is moved there. Returns the number of bytes that encode where, or
 * 0.
 */
static size_t go_to_base(struct packs_at *at, struct packs *packs, unsigned type,
			 const unsigned char *p, size_t len)
{
	struct packs_at base = { 0 };
	struct oid oid;
	uint64_t distance;
	size_t n;

	if (type == PACK_OFS_DELTA) {
		n = base_distance(&distance, p, len);
		if (!n || !distance || distance > at->offset - PACK_HEADER_SIZE)
			return 0;
		at->offset -= distance;
		return n;
	}
	if (len < OID_SIZE)
		return 0;
	memcpy(oid.id, p, OID_SIZE);
	if ((!at->pack || packs_beside(&base, at, &oid)) && packs_next(&base, packs, &oid))
		return 0;
	*at = base;
	return OID_SIZE;
}

/*
 * Follow the deltas to the object at their base. A cyclic chain is longer than
 * any that git makes.
 */
static int trace_deltas(struct found *out, struct packs *packs, struct packs_at at,
			const struct oid *oid)
{
	for (;;) {
		const unsigned char *p = at.data + at.offset;
		size_t left = (size_t)(at.end - at.offset), n;
		struct deflated here;
		unsigned type;

		n = pack_entry_header(&type, &here.size, p, left);
		if (!n)
			return packs_damaged(oid);
		here.data = p + n;
		here.left = left - n;
		if (type >= OBJECT_COMMIT && type <= OBJECT_TAG) {
			out->type = (enum object_type)type;
			out->base = here;
			return 0;
		}
		if ((type != PACK_OFS_DELTA && type != PACK_REF_DELTA) || out->nr == CHAIN_MAX)
			return packs_damaged(oid);
		n = go_to_base(&at, packs, type, here.data, here.left);
		if (!n)
			return packs_damaged(oid);
		here.data += n;
		here.left -= n;
		*ALLOC_NEXT(out->deltas, out->nr, out->alloc) = here;
	}
}

/* What is to be done with an object that was found. */
typedef int (*found_fn)(const struct found *found, const struct oid *oid, void *payload);

/* With the newest copy or, if that is damaged, the next one: perhaps it was stored again. */
static int with_copies(struct packs *packs, const struct oid *oid, found_fn fn, void *payload)
{
	struct packs_at where = { 0 };
	int bad = 0, err;

	for (;;) {
		struct found found = { 0 };

		err = packs_next(&where, packs, oid);
		if (err == CKPT_ENOTFOUND)
			return bad ? bad : err;
		if (!err)
			err = trace_deltas(&found, packs, where, oid);
		if (!err)
			err = fn(&found, oid, payload);
		free(found.deltas);
		if (err != CKPT_ECORRUPT)
			return err;
		bad = err;
	}
}

/* --- inflating --- */

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
	hash_free(tools->sha1);
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
		tools->inflate = xhave(libdeflate_alloc_decompressor());
		tools->sha1 = hash_new(HASH_SHA1);
		pthread_setspecific(tools_key, tools);
	}
	return tools;
}

/* Append all of it. A wrong size never costs more memory than WHOLE_MAX. */
static int inflate_whole(struct strbuf *out, size_t *used_out, const struct deflated *from,
			 const struct oid *oid)
{
	size_t start = out->len, got = 0;

	if (from->size > WHOLE_MAX)
		return packs_inflate(used_out, from, oid, NULL, add_piece, out);
	strbuf_grow(out, from->size);
	if (libdeflate_zlib_decompress_ex(tools_get()->inflate, from->data, from->left,
					  out->buf + start, from->size, used_out,
					  &got) != LIBDEFLATE_SUCCESS ||
	    got != from->size)
		return packs_damaged(oid);
	strbuf_setlen(out, start + from->size);
	return 0;
}

/* The result of the deltas, appended. */
static int apply_chain(struct strbuf *out, size_t *used_out, const struct found *found,
		       const struct oid *oid)
{
	struct strbuf base = STRBUF_INIT, next = STRBUF_INIT, delta = STRBUF_INIT;
	int err = inflate_whole(&base, NULL, &found->base, oid);

	for (size_t i = found->nr; i-- && !err;) {
		struct strbuf *to = i ? &next : out;

		strbuf_reset(&delta);
		err = cancel_check();
		if (!err)
			err = inflate_whole(&delta, i ? NULL : used_out, &found->deltas[i], oid);
		if (!err && delta_apply(to, base.buf, base.len, delta.buf, delta.len))
			err = packs_damaged(oid);
		if (i) {
			struct strbuf old = base;

			base = next;
			next = old;
			strbuf_reset(&next);
		}
	}
	strbuf_release(&base);
	strbuf_release(&next);
	strbuf_release(&delta);
	return err;
}

/* Not compared with its name; `used_out` is set to the bytes that its own entry took. */
static int read_unnamed(struct strbuf *out, size_t *used_out, const struct found *found,
			const struct oid *oid)
{
	return found->nr ? apply_chain(out, used_out, found, oid)
			 : inflate_whole(out, used_out, &found->base, oid);
}

int packs_read_at(struct strbuf *out, enum object_type *type_out, size_t *used_out,
		  struct packs *packs, const struct packs_at *at)
{
	static const struct oid unknown;
	struct found found = { 0 };
	int err = at->offset < PACK_HEADER_SIZE || at->offset >= at->end
			  ? packs_damaged(&unknown)
			  : trace_deltas(&found, packs, *at, &unknown);

	if (!err)
		err = read_unnamed(out, used_out, &found, &unknown);
	if (!err) {
		const struct deflated *own = found.nr ? &found.deltas[0] : &found.base;

		*used_out += (size_t)(own->data - (at->data + at->offset));
		*type_out = found.type;
	}
	free(found.deltas);
	return err;
}

/* --- contents --- */

enum { DELTA_HEAD = 20 }; /* two numbers of 64 bits */

/* 1: that is enough. */
static int take_head(const void *data, size_t len, void *payload)
{
	struct strbuf *head = payload;

	strbuf_add(head, data, len < DELTA_HEAD ? len : DELTA_HEAD);
	return head->len >= DELTA_HEAD;
}

/* The size of the result is at the start of the last delta; what follows may be without end. */
static int delta_result_size(uint64_t *out, const struct deflated *delta, const struct oid *oid)
{
	struct strbuf head = STRBUF_INIT;
	uint64_t base;
	int err = delta->size > WHOLE_MAX ? packs_inflate(NULL, delta, oid, NULL, take_head, &head)
					  : inflate_whole(&head, NULL, delta, oid);

	if (err >= 0)
		err = delta_sizes(&base, out, head.buf, head.len) ? packs_damaged(oid) : 0;
	strbuf_release(&head);
	return err;
}

struct stat_of {
	enum object_type type;
	uint64_t size;
};

static int stat_found(const struct found *found, const struct oid *oid, void *payload)
{
	struct stat_of *out = payload;

	out->type = found->type;
	out->size = found->base.size;
	return found->nr ? delta_result_size(&out->size, &found->deltas[0], oid) : 0;
}

int packs_stat(enum object_type *type_out, uint64_t *size_out, struct packs *packs,
	       const struct oid *oid)
{
	struct stat_of is;
	int err = with_copies(packs, oid, stat_found, &is);

	if (!err) {
		*type_out = is.type;
		*size_out = is.size;
	}
	return err;
}

int packs_weigh(uint64_t *out, struct packs *packs, const struct pack_contents *contents)
{
	int err = 0;

	*out = 0;
	for (size_t i = 0; i < contents->nr && !err; i++) {
		enum object_type type;
		uint64_t size;

		err = packs_stat(&type, &size, packs, &contents->items[i].oid);
		if (!err)
			err = cancel_check();
		*out = err || size > UINT64_MAX - *out ? UINT64_MAX : *out + size;
	}
	return err;
}

struct read_to {
	struct strbuf *out;
	enum object_type type;
};

static int read_found(const struct found *found, const struct oid *oid, void *payload)
{
	struct read_to *to = payload;
	struct strbuf *out = to->out;
	size_t start = out->len;
	struct oid is;
	int err;

	to->type = found->type;
	err = read_unnamed(out, NULL, found, oid);
	if (!err) {
		hash_object(tools_get()->sha1, &is, objects_type_name(found->type),
			    out->buf + start, out->len - start);
		if (!oid_equal(&is, oid))
			err = packs_damaged(oid);
	}
	if (err)
		strbuf_setlen(out, start);
	return err;
}

int packs_read(struct strbuf *out, enum object_type *type_out, struct packs *packs,
	       const struct oid *oid)
{
	struct read_to to = { .out = out };
	int err = with_copies(packs, oid, read_found, &to);

	if (!err)
		*type_out = to.type;
	return err;
}

/* Pieces on their way to the caller. */
struct stream {
	struct digest *sha1;
	packs_piece_fn fn;
	void *payload;
	bool begun;
};

static int pass_piece(const void *data, size_t len, void *payload)
{
	struct stream *stream = payload;

	stream->begun = true;
	return stream->fn(data, len, stream->payload);
}

static int stream_whole(const struct found *found, const struct oid *oid, struct stream *stream)
{
	struct strbuf data = STRBUF_INIT;
	struct read_to to = { .out = &data };
	int err = read_found(found, oid, &to);

	if (!err) {
		stream->begun = true;
		err = stream->fn(data.buf, data.len, stream->payload);
	}
	strbuf_release(&data);
	return err;
}

static int stream_found(const struct found *found, const struct oid *oid, void *payload)
{
	struct stream *stream = payload;
	struct oid is = { { 0 } };
	char header[64];
	int err;

	if (stream->begun)
		return CKPT_ECORRUPT; /* what was passed on cannot be taken back */
	if (found->nr)
		return stream_whole(found, oid, stream);
	stream->sha1 = hash_new(HASH_SHA1);
	hash_update(stream->sha1, header,
		    hash_object_header(header, objects_type_name(found->type), found->base.size));
	err = packs_inflate(NULL, &found->base, oid, stream->sha1, pass_piece, stream);
	hash_end(stream->sha1, is.id);
	hash_free(stream->sha1);
	return err ? err : oid_equal(&is, oid) ? 0 : packs_damaged(oid);
}

int packs_stream(struct packs *packs, const struct oid *oid, packs_piece_fn fn, void *payload)
{
	struct stream stream = { .fn = fn, .payload = payload };

	return with_copies(packs, oid, stream_found, &stream);
}

static int drop_piece(const void *data UNUSED, size_t len UNUSED, void *payload UNUSED)
{
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
	return !err;
}
