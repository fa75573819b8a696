/* SPDX-License-Identifier: MIT */
#include "record/compare.h"

#include "base/base.h"
#include "record/snapshot.h"
#include "worktree/worktree.h"

#include <stdlib.h>
#include <string.h>

struct compare {
	struct compare_list *out;
	const struct compare_side *sides[2];
	const struct strlist *paths;
	struct strlist odd; /* paths whose recorded modes differ, sorted */
	bool all_odd;       /* any path's may */
};

void compare_list_release(struct compare_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

bool compare_in_scope(const struct strlist *paths, const char *path)
{
	return !paths || !paths->nr || pathset_covers(paths, path);
}

static unsigned full_mode(const struct wt_entry *entry)
{
	return entry->kind == WT_DIR ? 0040000u | entry->mode : wt_entry_mode(entry);
}

static void add_change(struct compare *compare, const char *dir, const struct wt_entry *old,
		       const struct wt_entry *new)
{
	const struct wt_entry *any = new ? new : old;
	char *path = xstrfmt("%s%s%s", dir, *dir ? "/" : "", any->name);
	struct compare_list *list = compare->out;
	struct change *change;

	if (!compare_in_scope(compare->paths, path)) {
		free(path);
		return;
	}
	ALLOC_GROW(list->items, list->nr + 1, list->alloc);
	change = &list->items[list->nr++];
	memset(change, 0, sizeof(*change));
	change->path = path;
	change->is_dir = any->kind == WT_DIR;
	change->kind = !old ? CHANGE_ADDED :
		       !new ? CHANGE_DELETED :
		       old->kind != new->kind ? CHANGE_TYPE :
						CHANGE_MODIFIED;
	if (old) {
		change->old_mode = full_mode(old);
		change->old_oid = old->oid;
	}
	if (new) {
		change->new_mode = full_mode(new);
		change->new_oid = new->oid;
	}
}

static int load(struct compare *compare, int side, struct wt_dir *dir)
{
	struct snapshot *snapshot = compare->sides[side]->snapshot;

	return snapshot && dir ? snapshot_expand(snapshot, dir) : 0;
}

/* All of an entry that only one side has. */
static int one_side(struct compare *compare, int side, const char *dir, const struct wt_entry *entry)
{
	int err;

	if (entry->kind != WT_DIR) {
		add_change(compare, dir, side ? NULL : entry, side ? entry : NULL);
		return 0;
	}
	err = load(compare, side, entry->dir);
	if (!err && !entry->dir->nr)
		add_change(compare, dir, side ? NULL : entry, side ? entry : NULL);
	for (size_t i = 0; i < entry->dir->nr && !err; i++)
		err = one_side(compare, side, entry->dir->path, &entry->dir->entries[i]);
	return err;
}

static bool modes_may_differ(const struct compare *compare, const char *dir)
{
	size_t len = strlen(dir), low = 0, high = compare->odd.nr;

	if (compare->all_odd)
		return true;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strncmp(compare->odd.items[mid], dir, len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	/* Over-cautious where one name begins another: "a" looks at "a-b" too. */
	return low < compare->odd.nr && !strncmp(compare->odd.items[low], dir, len);
}

static int both_sides(struct compare *compare, struct wt_dir *old, struct wt_dir *new);

static int both_entries(struct compare *compare, const char *dir, const struct wt_entry *old,
			const struct wt_entry *new)
{
	if (old->kind == WT_DIR) {
		if (old->mode != new->mode && !new->dir->outside && !old->dir->outside)
			add_change(compare, dir, old, new);
		return both_sides(compare, old->dir, new->dir);
	}
	if (old->kind != new->kind || old->mode != new->mode || !oid_equal(&old->oid, &new->oid))
		add_change(compare, dir, old, new);
	return 0;
}

static int both_sides(struct compare *compare, struct wt_dir *old, struct wt_dir *new)
{
	size_t i = 0, j = 0;
	int err;

	if (old->known && new->known && oid_equal(&old->tree, &new->tree) &&
	    !modes_may_differ(compare, old->path))
		return 0;
	err = load(compare, 0, old);
	if (!err)
		err = load(compare, 1, new);
	while (!err && (i < old->nr || j < new->nr)) {
		const struct wt_entry *a = i < old->nr ? &old->entries[i] : NULL;
		const struct wt_entry *b = j < new->nr ? &new->entries[j] : NULL;
		int cmp = !a ? 1 : !b ? -1 : wt_entry_compare(a, b);

		if (cmp < 0)
			err = one_side(compare, 0, old->path, a);
		else if (cmp > 0)
			err = one_side(compare, 1, new->path, b);
		else
			err = both_entries(compare, old->path, a, b);
		i += cmp <= 0;
		j += cmp >= 0;
	}
	return err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

int compare_run(struct compare_list *out, const struct compare_side *before,
		const struct compare_side *after, const struct strlist *paths)
{
	struct compare compare = { .out = out, .sides = { before, after }, .paths = paths };
	struct wt_entry nothing[1];
	struct wt_dir empty = { .path = "", .entries = nothing };
	int err;

	memset(out, 0, sizeof(*out));
	compare.all_odd = !before->modes || !after->modes ||
			  !modes_differing(&compare.odd, before->modes, after->modes);
	err = both_sides(&compare, before->root ? before->root : &empty,
			 after->root ? after->root : &empty);
	strlist_release(&compare.odd);
	if (err)
		compare_list_release(out);
	else if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_path);
	return err;
}
