/* SPDX-License-Identifier: MIT */
#include "store/delta_internal.h"

#include "base/base.h"

enum { COPY_WHOLE = 0x10000 }; /* what a length of 0 means */

struct reader {
	const unsigned char *p, *end;
};

/* One instruction: its own bytes, or a part of the base. */
struct piece {
	const unsigned char *bytes;
	uint32_t offset, len;
};

static int malformed(void)
{
	return ckpt_error_set(CKPT_ECORRUPT, "a delta is malformed");
}

/* A number, seven bits to a byte, the lowest first. */
static bool read_size(uint64_t *out, struct reader *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; in->p < in->end && shift < 64; shift += 7) {
		unsigned char c = *in->p++;

		if (shift == 63 && c > 1)
			return false;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*out = value;
			return true;
		}
	}
	return false;
}

/* A number of `nr` bytes of which only those with their bit set are stored. */
static bool read_sparse(uint32_t *out, struct reader *in, unsigned bits, unsigned nr)
{
	*out = 0;
	for (unsigned i = 0; i < nr; i++) {
		if (!(bits & 1u << i))
			continue;
		if (in->p == in->end)
			return false;
		*out |= (uint32_t)*in->p++ << (8 * i);
	}
	return true;
}

static bool read_piece(struct piece *out, struct reader *in)
{
	unsigned char op = *in->p++;

	if (op & 0x80) {
		out->bytes = NULL;
		if (!read_sparse(&out->offset, in, op & 0x0f, 4) ||
		    !read_sparse(&out->len, in, op >> 4 & 0x07, 3))
			return false;
		if (!out->len)
			out->len = COPY_WHOLE;
		return true;
	}
	if (!op || op > in->end - in->p) /* 0 is not given a meaning yet */
		return false;
	*out = (struct piece){ .bytes = in->p, .len = op };
	in->p += op;
	return true;
}

int delta_sizes(uint64_t *base_out, uint64_t *result_out, const void *delta, size_t len)
{
	struct reader in = { delta, (const unsigned char *)delta + len };

	return read_size(base_out, &in) && read_size(result_out, &in) ? 0 : malformed();
}

/* All of it before anything is allocated: the instructions must produce the promised size. */
static bool fits(struct reader in, uint64_t base_len, uint64_t result)
{
	struct piece piece;
	uint64_t sum = 0;

	while (in.p < in.end) {
		if (!read_piece(&piece, &in))
			return false;
		if (!piece.bytes && (uint64_t)piece.offset + piece.len > base_len)
			return false;
		sum += piece.len;
		if (sum > result)
			return false;
	}
	return sum == result;
}

int delta_apply(struct strbuf *out, const void *base, size_t base_len, const void *delta,
		size_t len)
{
	struct reader in = { delta, (const unsigned char *)delta + len };
	uint64_t from, result;
	struct piece piece;

	if (!read_size(&from, &in) || !read_size(&result, &in) || !fits(in, base_len, result))
		return malformed();
	if (from != base_len)
		return ckpt_error_set(CKPT_ECORRUPT, "a delta does not belong to its base");
	strbuf_grow(out, result);
	while (in.p < in.end && read_piece(&piece, &in))
		strbuf_add(out,
			   piece.bytes ? piece.bytes : (const unsigned char *)base + piece.offset,
			   piece.len);
	return 0;
}
