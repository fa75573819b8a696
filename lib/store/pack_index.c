/* SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "base/base.h"

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
