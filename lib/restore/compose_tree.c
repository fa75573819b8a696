/* SPDX-License-Identifier: MIT */
#include "restore/compose_internal.h"

#include "base/base.h"
#include "save/save.h"
#include "tree/tree.h"

enum { NEW_DIR_MODE = 0755 };

/* Changes of one directory, or of one name in it: a part of the sorted list. */
struct part {
	const struct compose_change *items;
	size_t nr;
};

int compose_compare_paths(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (*a == *b)
		return 0;
	/* The end comes first, then what is below. */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static struct wt_dir *make_dir(struct compose *compose, const struct wt_dir *from, const char *path,
			       size_t len)
{
	struct wt_dir *dir = arena_alloc(&compose->arena, sizeof(*dir));

	memset(dir, 0, sizeof(*dir));
	dir->path = arena_memdupz(&compose->arena, path, len);
	if (from) {
		dir->outside = from->outside;
		dir->ignored = from->ignored;
	}
	ALLOC_GROW(compose->dirs, compose->dirs_nr + 1, compose->dirs_alloc);
	compose->dirs[compose->dirs_nr++] = dir;
	return dir;
}

static struct wt_dir *change_dir(struct compose *compose, const struct wt_dir *from,
				 const char *path, size_t len, struct part part);

/* Those of `part` from `at` on that are about one name or below it; `len` is that of its path. */
static struct part next_part(struct part part, size_t at, size_t prefix, size_t *len)
{
	const char *path = part.items[at].path;
	struct part out = { part.items + at, 1 };

	*len = prefix + strcspn(path + prefix, "/");
	while (at + out.nr < part.nr) {
		const char *next = part.items[at + out.nr].path;

		if (strncmp(next, path, *len) || (next[*len] && next[*len] != '/'))
			break;
		out.nr++;
	}
	return out;
}

/* True if there is something; `now` NULL: nothing is there. */
static bool change_entry(struct wt_entry *out, struct compose *compose, const struct wt_entry *now,
			 const char *path, size_t prefix, size_t len, struct part part)
{
	const struct compose_change *self = part.items[0].path[len] ? NULL : &part.items[0];
	struct part below = { part.items + (self ? 1 : 0), part.nr - (self ? 1 : 0) };
	const struct wt_dir *from = now && now->kind == WT_DIR ? now->dir : NULL;
	bool dir = below.nr || from || (self && self->what == COMPOSE_DIR);

	memset(out, 0, sizeof(*out));
	if (now)
		*out = *now;
	if (self && self->what == COMPOSE_PUT) {
		*out = self->entry;
		dir = false;
	} else if (self && self->what == COMPOSE_REMOVE && !dir) {
		return false;
	}
	out->name = arena_memdupz(&compose->arena, path + prefix, len - prefix);
	out->name_len = (uint32_t)(len - prefix);
	if (dir) {
		struct wt_dir *made = change_dir(compose, from, path, len, below);

		/* It was there only for what was in it, or is to go with that; or never came. */
		if (!made->nr && (self ? self->what == COMPOSE_REMOVE : !from))
			return !self && now;
		if (!from) {
			memset(&out->st, 0, sizeof(out->st));
			out->mode = NEW_DIR_MODE;
		}
		out->kind = WT_DIR;
		out->flags = 0;
		out->dir = made;
	}
	if (self && (self->what == COMPOSE_DIR || self->what == COMPOSE_MODE))
		out->mode = self->entry.mode;
	return dir || (self && self->what == COMPOSE_PUT) || now;
}

/* A directory with these changes; the rest of it is that of the scan. */
static struct wt_dir *change_dir(struct compose *compose, const struct wt_dir *from,
				 const char *path, size_t len, struct part part)
{
	struct wt_dir *dir = make_dir(compose, from, path, len);
	size_t prefix = len ? len + 1 : 0, alloc = (from ? from->nr : 0) + part.nr + 1;
	bool *changed = xcalloc(alloc, sizeof(*changed));

	dir->loaded = arena_alloc(&compose->arena, alloc * sizeof(struct wt_entry));
	for (size_t at = 0; at < part.nr;) {
		size_t name_end;
		struct part one = next_part(part, at, prefix, &name_end);
		const char *first = one.items[0].path;
		const struct wt_entry *now =
			from ? wt_child(from, first + prefix, name_end - prefix) : NULL;

		if (now)
			changed[now - wt_entries(from)] = true;
		if (change_entry(&dir->loaded[dir->nr], compose, now, first, prefix, name_end, one))
			dir->nr++;
		at += one.nr;
	}
	for (size_t i = 0; from && i < from->nr; i++)
		if (!changed[i])
			dir->loaded[dir->nr++] = wt_entries(from)[i];
	if (dir->nr)
		qsort(dir->loaded, dir->nr, sizeof(struct wt_entry), wt_entry_compare);
	for (size_t i = 0; i < dir->nr; i++)
		if (dir->loaded[i].kind == WT_DIR && !dir->loaded[i].dir->known)
			dir->loaded[i].dir->parent = dir;
	free(changed);
	return dir;
}

void compose_make_tree(struct compose *compose)
{
	struct part all = { compose->items, compose->nr };

	compose->root = change_dir(compose, compose->state->scan->root, "", 0, all);
}
