/* SPDX-License-Identifier: MIT */
#include "store/repack.h"

#include "base/base.h"
#include "store/oidset.h"
#include "store/pack.h"
#include "store/repack_internal.h"
#include "store/shadow.h"

enum { CHAIN_MAX = 64 };

bool repack_intact(const struct pack_contents *pack, const struct packed *item)
{
	return pack->data && hash_crc(0, pack->data + item->offset, item->len) == item->crc;
}

/* --- what to copy --- */

static int gather(struct repack_items *out, struct strlist *damaged_out,
		  const struct pack_contents *from, struct oidset *seen, repack_wanted_fn wanted,
		  void *payload)
{
	bool damaged = false;
	int err = 0;

	for (size_t i = 0; i < from->nr && !err; i++) {
		const struct packed *item = &from->items[i];

		if (!wanted(&item->oid, payload))
			continue;
		err = cancel_check();
		if (!repack_intact(from, item)) {
			damaged = true;
		} else if (oidset_add(seen, &item->oid)) {
			ALLOC_GROW(out->items, out->nr + 1, out->alloc);
			out->items[out->nr++] = (struct repack_item){
				.packed = item,
				.bytes = from->data + item->offset,
				.type = from->data[item->offset] >> 4 & 7,
				.delta = STRBUF_INIT,
			};
		}
	}
	if (damaged)
		strlist_add(damaged_out, from->name);
	return err;
}

static int by_oid(const void *x, const void *y)
{
	const struct repack_item *const *a = x, *const *b = y;

	return memcmp(&(*a)->packed->oid, &(*b)->packed->oid, OID_SIZE);
}

struct repack_item *repack_find(const struct repack_items *items, const struct oid *oid)
{
	size_t at;

	LOWER_BOUND(at, items->nr, memcmp(&items->by_oid[at]->packed->oid, oid, OID_SIZE) < 0);
	return at < items->nr && oid_equal(&items->by_oid[at]->packed->oid, oid) ? items->by_oid[at] :
										   NULL;
}

/* Deltas whose base is copied, too, stay deltas. */
static void find_bases(struct repack_items *items)
{
	items->by_oid = xcalloc(items->nr + 1, sizeof(struct repack_item *));
	for (size_t i = 0; i < items->nr; i++)
		items->by_oid[i] = &items->items[i];
	qsort(items->by_oid, items->nr, sizeof(struct repack_item *), by_oid);
	for (size_t i = 0; i < items->nr; i++) {
		struct repack_item *item = &items->items[i];
		uint64_t size;
		unsigned type;
		size_t head = pack_entry_header(&type, &size, item->bytes, item->packed->len);
		struct oid base;

		if (type != PACK_REF_DELTA || !head || item->packed->len < head + OID_SIZE)
			continue;
		memcpy(base.id, item->bytes + head, OID_SIZE);
		item->base = repack_find(items, &base);
	}
}

static void measure_heights(struct repack_items *items)
{
	for (size_t i = 0; i < items->nr; i++) {
		const struct repack_item *item = &items->items[i];

		for (unsigned n = 1; item->base && n < CHAIN_MAX; n++) {
			struct repack_item *base = (struct repack_item *)item->base;

			if (base->height < n)
				base->height = n;
			item = base;
		}
	}
}

/* --- copying --- */

/* A delta that has lost its base. */
static int add_whole(struct pack *pack, struct store *store, const struct repack_item *item)
{
	struct strbuf data = STRBUF_INIT;
	enum object_type type;
	int err = packs_read(&data, &type, store->packs, &item->packed->oid);

	if (!err)
		err = pack_add_anew(pack, type, &item->packed->oid, data.buf, data.len);
	strbuf_release(&data);
	return err;
}

static int add(struct pack *pack, struct store *store, const struct repack_item *item)
{
	const struct packed *packed = item->packed;
	int err = cancel_check();

	if (err)
		return err;
	if (item->delta.len)
		return pack_add_delta(pack, &packed->oid, &item->base->packed->oid, item->delta.buf,
				      item->delta.len);
	if (item->type >= PACK_OFS_DELTA && !item->base)
		return add_whole(pack, store, item);
	return pack_add_copy(pack, &packed->oid, item->bytes, packed->len, packed->crc);
}

static void release(struct repack_items *items)
{
	for (size_t i = 0; i < items->nr; i++)
		strbuf_release(&items->items[i].delta);
	free(items->items);
	free(items->by_oid);
}

int repack_copy(char **name_out, struct strlist *damaged_out, struct store *store,
		const struct pack_contents *packs, size_t nr, unsigned threads,
		repack_wanted_fn wanted, void *payload)
{
	struct pack *pack = pack_new(store, threads, 1);
	struct repack_items items = { 0 };
	struct oidset seen = { 0 };
	char hex[OID_HEX + 1];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = gather(&items, damaged_out, &packs[i], &seen, wanted, payload);
	oidset_release(&seen);
	if (!err && items.nr) {
		find_bases(&items);
		measure_heights(&items);
		repack_trees(&items, store);
	}
	for (size_t i = 0; i < items.nr && !err; i++)
		err = add(pack, store, &items.items[i]);
	if (!err)
		err = pack_commit(pack, NULL);
	if (!err)
		*name_out = oid_is_zero(pack_id(pack)) ? xstrdup("") :
							 xstrfmt("pack-%s", oid_hex(hex, pack_id(pack)));
	release(&items);
	pack_free(pack);
	return err;
}
