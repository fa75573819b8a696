/* SPDX-License-Identifier: MIT */
#include "store/repack_internal.h"

#include "base/base.h"
#include "store/delta_internal.h"
#include "store/objects.h"
#include "store/packs.h"
#include "store/shadow.h"

/*
 * Checkpoints that follow each other have nearly the same trees, and a save writes each that
 * changed. Of one path the newest stays whole, which is what will be read most, and the others
 * become deltas of it. When that pack is merged with others, the one that was whole becomes a
 * delta in turn: chains are as long as the number of merges.
 */
enum {
	DEPTH_MAX = 8,	      /* of a chain */
	NESTED_MAX = 512,     /* directories in directories */
	TREE_MAX = 1 << 20,   /* bytes of one tree */
	ALL_MAX = 32 << 20,   /* bytes of all trees: a save waits for this */
	COMMIT_MAX = 1 << 20, /* no record is larger */
};

/* A tree that may become a delta or the base of one. */
struct candidate {
	uint64_t path; /* a hash: if two paths share it, their trees make poor deltas, no more */
	size_t order;  /* the newest first */
	struct repack_item *item;
	struct strbuf tree;
};

struct root {
	int64_t date;
	uint64_t path;
	struct repack_item *tree;
};

struct search {
	struct repack_items *items;
	struct store *store;
	struct root *roots;
	size_t roots_nr, roots_alloc;
	struct candidate *found;
	size_t nr, alloc;
	uint64_t bytes;
};

static bool read_item(struct strbuf *out, const struct search *search,
		      const struct repack_item *item, enum object_type wanted)
{
	enum object_type type;

	return !packs_read(out, &type, search->store->packs, &item->packed->oid) && type == wanted;
}

/* What is a delta already stays one. */
static bool is_whole(const struct repack_item *item)
{
	return item && !item->base && item->packed->len <= TREE_MAX;
}

/* --- which trees have the same path --- */

/* The tree of a commit, and when it was made. Commits with as many parents have the same purpose. */
static void add_root(struct search *search, const struct repack_item *commit)
{
	struct strbuf text = STRBUF_INIT;
	const char *line, *date;
	struct root root = { .path = HASH_MIX_START };
	struct oid tree;

	if (!read_item(&text, search, commit, OBJECT_COMMIT) ||
	    strncmp(text.buf, "tree ", 5) != 0 || !oid_parse(&tree, text.buf + 5))
		goto out;
	root.tree = repack_find(search->items, &tree);
	line = strchr(text.buf, '\n');
	for (; line && !strncmp(line, "\nparent ", 8); line = strchr(line + 1, '\n'))
		root.path++;
	line = line ? strstr(line, "\ncommitter ") : NULL;
	date = line ? strchr(line, '>') : NULL;
	root.date = date ? strtoll(date + 1, NULL, 10) : 0;
	if (is_whole(root.tree)) {
		ALLOC_GROW(search->roots, search->roots_nr + 1, search->roots_alloc);
		search->roots[search->roots_nr++] = root;
	}
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

static void visit(struct search *search, struct repack_item *item, uint64_t path, unsigned nested)
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
			visit(search, repack_find(search->items, &entry.oid),
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
	struct repack_item *item = tree->item, *from = base->item;
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

void repack_trees(struct repack_items *items, struct store *store)
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
		visit(&search, search.roots[i].tree, search.roots[i].path, 0);
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
