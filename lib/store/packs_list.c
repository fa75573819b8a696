/* SPDX-License-Identifier: MIT */
#include "store/packs.h"

#include "base/base.h"
#include "store/pack.h"
#include "store/packs_find_internal.h"

static int by_offset(const void *a, const void *b)
{
	const struct packed *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The offsets, as the index has them; false if some are impossible. */
static bool list_items(struct pack_contents *out, const struct one_pack *pack)
{
	const unsigned char *names = pack->index.data + INDEX_HEAD + INDEX_FANOUT;
	const unsigned char *crcs = names + (size_t)pack->nr * OID_SIZE;
	bool sound = true;

	out->nr = pack->nr;
	out->items = xcalloc(out->nr + 1, sizeof(*out->items));
	for (uint32_t i = 0; i < pack->nr; i++) {
		struct packed *item = &out->items[i];

		memcpy(item->oid.id, names + (size_t)i * OID_SIZE, OID_SIZE);
		item->crc = packs_get32(crcs + (size_t)i * 4);
		sound &= packs_offset(&item->offset, pack, i);
	}
	qsort(out->items, out->nr, sizeof(*out->items), by_offset);
	return sound;
}

/* Each object ends where the next starts, and together they are the pack. */
static bool measure_items(struct pack_contents *out, const struct one_pack *pack)
{
	const unsigned char *data = pack->pack.data;
	uint64_t end = pack->pack.size - OID_SIZE;

	if (packs_get32(data + 8) != out->nr ||
	    (out->nr && out->items[0].offset != PACK_HEADER_SIZE))
		return false;
	for (size_t i = out->nr; i--;) {
		struct packed *item = &out->items[i];

		if (item->offset >= end)
			return false;
		item->len = end - item->offset;
		end = item->offset;
		out->tight |= (data[item->offset] >> 4 & 7) == PACK_OFS_DELTA;
	}
	return true;
}

int packs_contents(struct pack_contents *out, struct packs *packs, size_t index)
{
	struct pack_contents all = { 0 };
	struct one_pack *pack = packs_newest(packs);
	bool sound;

	while (pack && pack->number != index)
		pack = pack->next;
	if (!pack)
		return ckpt_error_set(CKPT_ENOTFOUND, "no such pack");
	all.name = pack->name;
	sound = list_items(&all, pack);
	if (packs_state(packs, pack) == PACK_MAPPED) {
		all.data = pack->pack.data;
		sound = sound && measure_items(&all, pack);
	}
	all.bytes = pack->index.size + pack->bytes;
	if (!sound) {
		packs_contents_release(&all);
		return ckpt_error_set(CKPT_ECORRUPT, "the index of the pack '%s' is damaged",
				      pack->name);
	}
	*out = all;
	return 0;
}

void packs_contents_release(struct pack_contents *contents)
{
	free(contents->items);
	*contents = (struct pack_contents){ 0 };
}
