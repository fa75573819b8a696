/* SPDX-License-Identifier: MIT */
#include "store/delta_internal.h"

enum { COPY_WHOLE = 0x10000 }; /* what a length of 0 means */

struct reader {
	const unsigned char *p, *end;
};

/* One instruction: its own bytes, or a part of the base. */
struct piece {
	const unsigned char *bytes;
	uint32_t offset, len;
};

static int set_malformed(void)
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

	return read_size(base_out, &in) && read_size(result_out, &in) ? 0 : set_malformed();
}

/* All of it before anything is allocated: the instructions must produce the promised size. */
static bool is_fitting(struct reader in, uint64_t base_len, uint64_t result)
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

	if (!read_size(&from, &in) || !read_size(&result, &in) || !is_fitting(in, base_len, result))
		return set_malformed();
	if (from != base_len)
		return ckpt_error_set(CKPT_ECORRUPT, "a delta does not belong to its base");
	strbuf_grow(out, result);
	while (in.p < in.end && read_piece(&piece, &in))
		strbuf_add(out,
			   piece.bytes ? piece.bytes : (const unsigned char *)base + piece.offset,
			   piece.len);
	return 0;
}

/* --- making one --- */

enum { COPY_MAX = 0xffff, INSERT_MAX = 0x7f };

/* Either a part of the base or bytes of the result are pending; neighbours become one. */
struct maker {
	struct strbuf *out;
	size_t from, to; /* in the base */
	const unsigned char *bytes;
	size_t len;
};

/* "<mode> <name>" NUL <object name> */
struct entry {
	const unsigned char *start, *name;
	size_t name_len;
	const unsigned char *oid;
};

struct tree_reader {
	const unsigned char *p, *end;
};

static void add_size(struct strbuf *out, uint64_t size)
{
	for (; size >= 0x80; size >>= 7)
		strbuf_addch(out, (char)(0x80 | (size & 0x7f)));
	strbuf_addch(out, (char)size);
}

static void add_copy(struct strbuf *out, uint32_t offset, uint32_t len)
{
	size_t op = out->len;
	unsigned bits = 0x80;

	strbuf_addch(out, 0);
	for (unsigned i = 0; i < 4; i++)
		if (offset >> (8 * i) & 0xff) {
			strbuf_addch(out, (char)(offset >> (8 * i) & 0xff));
			bits |= 1u << i;
		}
	for (unsigned i = 0; i < 2; i++)
		if (len >> (8 * i) & 0xff) {
			strbuf_addch(out, (char)(len >> (8 * i) & 0xff));
			bits |= 0x10u << i;
		}
	out->buf[op] = (char)bits;
}

static void flush_maker(struct maker *maker)
{
	while (maker->from < maker->to) {
		size_t n = maker->to - maker->from < COPY_MAX ? maker->to - maker->from : COPY_MAX;

		add_copy(maker->out, (uint32_t)maker->from, (uint32_t)n);
		maker->from += n;
	}
	while (maker->len) {
		size_t n = maker->len < INSERT_MAX ? maker->len : INSERT_MAX;

		strbuf_addch(maker->out, (char)n);
		strbuf_add(maker->out, maker->bytes, n);
		maker->bytes += n;
		maker->len -= n;
	}
	maker->from = maker->to = 0;
}

static void make_copy(struct maker *maker, size_t offset, size_t len)
{
	if (maker->len || maker->to != offset) {
		flush_maker(maker);
		maker->from = offset;
	}
	maker->to = offset + len;
}

static void make_insert(struct maker *maker, const unsigned char *bytes, size_t len)
{
	if (!maker->len) {
		flush_maker(maker);
		maker->bytes = bytes;
	}
	maker->len += len;
}

/* False at the end, or where it is malformed. */
static bool next_entry(struct entry *out, struct tree_reader *in)
{
	const unsigned char *space = memchr(in->p, ' ', (size_t)(in->end - in->p)), *nul;

	nul = space ? memchr(space, '\0', (size_t)(in->end - space)) : NULL;
	if (!nul || in->end - nul <= OID_SIZE)
		return false;
	*out = (struct entry){ .start = in->p,
				    .name = space + 1,
				    .name_len = (size_t)(nul - space - 1),
				    .oid = nul + 1 };
	in->p = nul + 1 + OID_SIZE;
	return true;
}

/* The order of git's trees, except that a directory need not come where its "/" would put it. */
static int compare_entries(const struct entry *a, const struct entry *b)
{
	size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->name, b->name, len);

	return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static bool same_head(const struct entry *a, const struct entry *b)
{
	size_t len = (size_t)(a->oid - a->start);

	return len == (size_t)(b->oid - b->start) && !memcmp(a->start, b->start, len);
}

bool delta_make_tree(struct strbuf *out, const void *base, size_t base_len, const void *tree,
		     size_t len)
{
	struct tree_reader old = { base, (const unsigned char *)base + base_len };
	struct tree_reader in = { tree, (const unsigned char *)tree + len };
	struct maker maker = { .out = out };
	struct entry was, is;
	bool more = next_entry(&was, &old);

	if (base_len > UINT32_MAX)
		return false;
	add_size(out, base_len);
	add_size(out, len);
	while (next_entry(&is, &in)) {
		size_t head = (size_t)(is.oid - is.start);

		while (more && compare_entries(&was, &is) < 0)
			more = next_entry(&was, &old);
		if (!more || !same_head(&was, &is)) {
			make_insert(&maker, is.start, head + OID_SIZE);
			continue;
		}
		make_copy(&maker, (size_t)(was.start - (const unsigned char *)base), head);
		if (memcmp(was.oid, is.oid, OID_SIZE) != 0)
			make_insert(&maker, is.oid, OID_SIZE);
		else
			make_copy(&maker, (size_t)(was.oid - (const unsigned char *)base), OID_SIZE);
	}
	flush_maker(&maker);
	return in.p == in.end;
}
