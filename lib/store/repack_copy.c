/* SPDX-License-Identifier: MIT */
#include "store/repack.h"

#include "store/delta_internal.h"
#include "store/oidset.h"
#include "store/pack.h"
#include "store/shadow.h"

/*
 * Checkpoints that follow each other have nearly the same trees, and a save writes each that
 * changed. Of one path the newest stays whole, which is what will be read most, and the others
 * become deltas of it. When that pack is merged with others, the one that was whole becomes a
 * delta in turn: chains are as long as the number of merges.
 */
enum {
	CHAIN_MAX = 64,	      /* as long as a chain may have become */
	DEPTH_MAX = 8,	      /* of a chain */
	NESTED_MAX = 512,     /* directories in directories */
	TREE_MAX = 1 << 20,   /* bytes of one tree */
	ALL_MAX = 32 << 20,   /* bytes of all trees: a save waits for this */
	COMMIT_MAX = 1 << 20, /* no record is larger */
};

/* What is copied from old packs into a new one. */
struct item {
	const struct packed *packed;
	const unsigned char *bytes;  /* its entry */
	unsigned type;		     /* of the entry */
	const struct item *base; /* of a delta; NULL: it is written whole */
	unsigned height;	     /* the longest chain of deltas that rests on it */
	struct strbuf delta;	     /* a new one, made of `base`; empty: the entry is copied */
	bool visited;
};

struct items {
	struct item *items; /* in the order in which they are written */
	size_t nr, alloc;
	struct item **by_oid;
};

bool repack_intact(const struct pack_contents *pack, const struct packed *item)
{
	return pack->data && hash_crc(0, pack->data + item->offset, item->len) == item->crc;
}

/* --- what to copy --- */

static int gather_items(struct items *out, struct strlist *damaged_out,
			const struct pack_contents *from, struct oidset *seen,
			repack_wanted_fn wanted, void *payload)
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
			*ALLOC_NEXT(out->items, out->nr, out->alloc) = (struct item){
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
	const struct item *const *a = x, *const *b = y;

	return memcmp(&(*a)->packed->oid, &(*b)->packed->oid, OID_SIZE);
}

static struct item *find_item(const struct items *items, const struct oid *oid)
{
	size_t at;

	LOWER_BOUND(at, items->nr, memcmp(&items->by_oid[at]->packed->oid, oid, OID_SIZE) < 0);
	return at < items->nr && oid_equal(&items->by_oid[at]->packed->oid, oid) ? items->by_oid[at] :
										   NULL;
}

/* Deltas whose base is copied, too, stay deltas. */
static void find_bases(struct items *items)
{
	items->by_oid = xcalloc(items->nr + 1, sizeof(struct item *));
	for (size_t i = 0; i < items->nr; i++)
		items->by_oid[i] = &items->items[i];
	qsort(items->by_oid, items->nr, sizeof(struct item *), by_oid);
	for (size_t i = 0; i < items->nr; i++) {
		struct item *item = &items->items[i];
		uint64_t size;
		unsigned type;
		size_t head = pack_entry_header(&type, &size, item->bytes, item->packed->len);
		struct oid base;

		if (type != PACK_REF_DELTA || !head || item->packed->len < head + OID_SIZE)
			continue;
		memcpy(base.id, item->bytes + head, OID_SIZE);
		item->base = find_item(items, &base);
	}
}

static void measure_heights(struct items *items)
{
	for (size_t i = 0; i < items->nr; i++) {
		const struct item *item = &items->items[i];

		for (unsigned n = 1; item->base && n < CHAIN_MAX; n++) {
			struct item *base = (struct item *)item->base;

			if (base->height < n)
				base->height = n;
			item = base;
		}
	}
}

/* --- trees as deltas of each other --- */

/* A tree that may become a delta or the base of one. */
struct candidate {
	uint64_t path; /* a hash: if two paths share it, their trees make poor deltas, no more */
	size_t order;  /* the newest first */
	struct item *item;
	struct strbuf tree;
};

struct root {
	int64_t date;
	uint64_t path;
	struct item *tree;
};

struct search {
	struct items *items;
	struct store *store;
	struct root *roots;
	size_t roots_nr, roots_alloc;
	struct candidate *found;
	size_t nr, alloc;
	uint64_t bytes;
};

static bool read_item(struct strbuf *out, const struct search *search,
		      const struct item *item, enum object_type wanted)
{
	enum object_type type;

	return !packs_read(out, &type, search->store->packs, &item->packed->oid) && type == wanted;
}

/* What is a delta already stays one. */
static bool is_whole(const struct item *item)
{
	return item && !item->base && item->packed->len <= TREE_MAX;
}

/* --- which trees have the same path --- */

/* The tree of a commit, and when it was made. Commits with as many parents have the same purpose. */
static void add_root(struct search *search, const struct item *commit)
{
	struct strbuf text = STRBUF_INIT;
	const char *line, *date;
	struct root root = { .path = HASH_MIX_START };
	struct oid tree;

	if (!read_item(&text, search, commit, OBJECT_COMMIT) ||
	    strncmp(text.buf, "tree ", 5) != 0 || !oid_parse(&tree, text.buf + 5))
		goto out;
	root.tree = find_item(search->items, &tree);
	line = strchr(text.buf, '\n');
	for (; line && !strncmp(line, "\nparent ", 8); line = strchr(line + 1, '\n'))
		root.path++;
	line = line ? strstr(line, "\ncommitter ") : NULL;
	date = line ? strchr(line, '>') : NULL;
	root.date = date ? strtoll(date + 1, NULL, 10) : 0;
	if (is_whole(root.tree))
		*ALLOC_NEXT(search->roots, search->roots_nr, search->roots_alloc) = root;
out:
	strbuf_release(&text);
}

static int newest_first(const void *x, const void *y)
{
	const struct root *a = x, *b = y;

	if (a->date != b->date)
		return a->date > b->date ? -1 : 1;
	return a->tree < b->tree ? 1 : a->tree > b->tree ? -1 : 0;
}

static void visit_tree(struct search *search, struct item *item, uint64_t path, unsigned nested)
{
	struct strbuf tree = STRBUF_INIT;
	struct tree_entry entry;
	size_t at = 0;

	if (!is_whole(item) || item->visited || nested > NESTED_MAX || search->bytes > ALL_MAX)
		return;
	item->visited = true;
	if (!read_item(&tree, search, item, OBJECT_TREE) || tree.len > TREE_MAX) {
		strbuf_release(&tree);
		return;
	}
	search->bytes += tree.len;
	while (objects_tree_next(&entry, &tree, &at) > 0)
		if (entry.mode == 040000)
			visit_tree(search, find_item(search->items, &entry.oid),
			      hash_mix(path, entry.name, entry.name_len), nested + 1);
	ALLOC_GROW(search->found, search->nr + 1, search->alloc);
	search->found[search->nr] = (struct candidate){ path, search->nr, item, tree };
	search->nr++;
}

/* --- deltas --- */

static int by_path(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* False if it would not save much, or make a chain too long. */
static bool make_delta(struct candidate *tree, const struct candidate *base)
{
	struct item *item = tree->item, *from = base->item;
	struct strbuf delta = STRBUF_INIT;
	bool good = item->height < DEPTH_MAX &&
		    delta_make_tree(&delta, base->tree.buf, base->tree.len, tree->tree.buf,
				    tree->tree.len) &&
		    delta.len + OID_SIZE < item->packed->len * 3 / 4;

	if (!good) {
		strbuf_release(&delta);
		return false;
	}
	item->delta = delta;
	item->base = from;
	if (from->height < item->height + 1)
		from->height = item->height + 1;
	return true;
}

static void delta_trees(struct items *items, struct store *store)
{
	struct search search = { .items = items, .store = store };
	const struct candidate *base = NULL;

	for (size_t i = 0; i < items->nr; i++)
		if (items->items[i].type == OBJECT_COMMIT &&
		    items->items[i].packed->len <= COMMIT_MAX)
			add_root(&search, &items->items[i]);
	if (search.roots_nr)
		qsort(search.roots, search.roots_nr, sizeof(*search.roots), newest_first);
	for (size_t i = 0; i < search.roots_nr; i++)
		visit_tree(&search, search.roots[i].tree, search.roots[i].path, 0);
	if (search.nr)
		qsort(search.found, search.nr, sizeof(*search.found), by_path);
	for (size_t i = 0; i < search.nr; i++)
		if (!base || base->path != search.found[i].path ||
		    !make_delta(&search.found[i], base))
			base = &search.found[i];
	for (size_t i = 0; i < search.nr; i++)
		strbuf_release(&search.found[i].tree);
	free(search.found);
	free(search.roots);
}

/* --- copying --- */

/* A delta that has lost its base. */
static int add_whole(struct pack *pack, struct store *store, const struct item *item)
{
	struct strbuf data = STRBUF_INIT;
	enum object_type type;
	int err = packs_read(&data, &type, store->packs, &item->packed->oid);

	if (!err)
		err = pack_add_anew(pack, type, &item->packed->oid, data.buf, data.len);
	strbuf_release(&data);
	return err;
}

static int add_item(struct pack *pack, struct store *store, const struct item *item)
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

static void release_items(struct items *items)
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
	struct items items = { 0 };
	struct oidset seen = { 0 };
	char hex[OID_HEX + 1];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = gather_items(&items, damaged_out, &packs[i], &seen, wanted, payload);
	oidset_release(&seen);
	if (!err && items.nr) {
		find_bases(&items);
		measure_heights(&items);
		delta_trees(&items, store);
	}
	for (size_t i = 0; i < items.nr && !err; i++) {
		err = add_item(pack, store, &items.items[i]);
		if (store->progress)
			store->progress("Packing", i, items.nr, NULL);
	}
	if (!err)
		err = pack_commit(pack, NULL);
	if (!err)
		*name_out = oid_is_zero(pack_id(pack)) ? xstrdup("") :
							 xstrfmt("pack-%s", oid_hex(hex, pack_id(pack)));
	release_items(&items);
	pack_free(pack);
	return err;
}
