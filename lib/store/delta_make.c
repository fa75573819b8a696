/* SPDX-License-Identifier: MIT */
#include "store/delta_internal.h"

#include "base/base.h"

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

static void flush(struct maker *maker)
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

static void copy(struct maker *maker, size_t offset, size_t len)
{
	if (maker->len || maker->to != offset) {
		flush(maker);
		maker->from = offset;
	}
	maker->to = offset + len;
}

static void insert(struct maker *maker, const unsigned char *bytes, size_t len)
{
	if (!maker->len) {
		flush(maker);
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
static int compare(const struct entry *a, const struct entry *b)
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

		while (more && compare(&was, &is) < 0)
			more = next_entry(&was, &old);
		if (!more || !same_head(&was, &is)) {
			insert(&maker, is.start, head + OID_SIZE);
			continue;
		}
		copy(&maker, (size_t)(was.start - (const unsigned char *)base), head);
		if (memcmp(was.oid, is.oid, OID_SIZE) != 0)
			insert(&maker, is.oid, OID_SIZE);
		else
			copy(&maker, (size_t)(was.oid - (const unsigned char *)base), OID_SIZE);
	}
	flush(&maker);
	return in.p == in.end;
}
