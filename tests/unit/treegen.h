/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_TREEGEN_H
#define CKPT_TESTS_TREEGEN_H

/* Random trees in memory, with names that lie close together. After unit.h. */

#include "base/alloc.h"
#include "tree/wt_tree.h"

static const uint16_t treegen_modes[] = { 0644, 0644,  0644, 0755, 0600, 0444,
					  0700, 04755, 0,    0611, 0001 };

/* One to three letters of few: "a", "a-", "a." and "a" as a directory are where orders differ. */
UNUSED static void treegen_name(char out[8])
{
	static const char letters[] = "aab.-0+\x01\xff\xc3\xa4 |";
	unsigned len = 1 + rnd(3);

	for (unsigned i = 0; i < len; i++)
		out[i] = letters[rnd(sizeof(letters) - 1)];
	out[len] = '\0';
	if (out[0] == '.')
		out[0] = 'a';
}

static void treegen_entry(struct wt_entry *entry, struct arena *arena, const char *name)
{
	memset(entry, 0, sizeof(*entry));
	entry->name_len = (uint32_t)strlen(name);
	entry->name = arena_memdupz(arena, name, entry->name_len);
	entry->kind = (uint8_t)rnd(3);
	entry->mode = entry->kind == WT_LINK  ? 0
		      : entry->kind == WT_DIR ? (rnd(4) ? 0755 : 0700)
					      : treegen_modes[rnd(ARRAY_SIZE(treegen_modes))];
	entry->st = (struct wt_stat){ .size = rnd(100000),
				      .mtime_ns = (int64_t)(rnd64() >> 2),
				      .ctime_ns = (int64_t)(rnd64() >> 2),
				      .ino = rnd64() };
	if (entry->kind != WT_DIR) {
		/* Few different contents, so that trees agree in some. */
		memset(entry->oid.id, 1 + (int)rnd(6), OID_SIZE);
		memset(entry->sha256, entry->oid.id[0], SHA256_SIZE);
		entry->flags = (uint8_t)(WT_KNOWN | (rnd(4) ? 0 : WT_RACY) | (rnd(4) ? 0 : WT_SETTLED));
	}
}

/* A directory with up to `max` entries and directories `depth` levels deep below it. */
UNUSED static struct wt_dir *treegen(struct arena *arena, struct wt_dir *parent, const char *path,
				     unsigned depth, unsigned max)
{
	struct wt_dir *dir = arena_alloc(arena, sizeof(*dir));
	unsigned want = rnd(max + 1);

	memset(dir, 0, sizeof(*dir));
	dir->path = arena_memdupz(arena, path, strlen(path));
	dir->parent = parent;
	dir->st.ino = rnd64();
	dir->rules = rnd64();
	dir->listing = (uint8_t)rnd(4);
	rnd_bytes(&dir->tree, sizeof(dir->tree));
	dir->loaded = arena_alloc(arena, (want ? want : 1) * sizeof(struct wt_entry));
	for (unsigned i = 0; i < want; i++) {
		struct wt_entry *entry = &wt_entries(dir)[dir->nr];
		bool taken = false;
		char name[8];

		treegen_name(name);
		for (size_t j = 0; j < dir->nr; j++)
			taken = taken || !strcmp(wt_entries(dir)[j].name, name);
		if (taken)
			continue;
		treegen_entry(entry, arena, name);
		if (entry->kind == WT_DIR && !depth)
			continue;
		dir->nr++;
		if (entry->kind == WT_DIR) {
			struct strbuf below = STRBUF_INIT;

			strbuf_addf(&below, "%s%s%s", path, *path ? "/" : "", name);
			entry->dir = treegen(arena, dir, below.buf, depth - 1, max);
			strbuf_release(&below);
		}
	}
	if (dir->nr)
		qsort(wt_entries(dir), dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	return dir;
}

/* ---- as flat lists ---- */

struct flat {
	char *path;
	const struct wt_entry *entry;
};

struct flat_list {
	struct flat *items;
	size_t nr, alloc;
};

UNUSED static void flat_add(struct flat_list *out, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];

		ALLOC_GROW(out->items, out->nr + 1, out->alloc);
		out->items[out->nr++] = (struct flat){
			.path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name),
			.entry = entry,
		};
		if (entry->kind == WT_DIR)
			flat_add(out, entry->dir);
	}
}

UNUSED static const struct wt_entry *flat_find(const struct flat_list *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].path, path))
			return list->items[i].entry;
	return NULL;
}

UNUSED static void flat_release(struct flat_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
}

#endif
