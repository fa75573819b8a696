/* SPDX-License-Identifier: MIT */
#include "record/compare.h"

#include "record/snapshot.h"
#include "tree/tree.h"

struct compare {
	struct compare_list *out;
	const struct compare_limit *limit; /* NULL: none */
};

void compare_list_release(struct compare_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].path);
		free(list->items[i].from);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

void compare_list_filter(struct compare_list *list,
			 bool (*keep)(struct change *change, void *payload), void *payload)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (keep(&list->items[i], payload)) {
			list->items[kept++] = list->items[i];
			continue;
		}
		free(list->items[i].path);
		free(list->items[i].from);
	}
	list->nr = kept;
}

bool compare_in_scope(const struct strlist *paths, const char *path)
{
	return !paths || !paths->nr || pathset_covers(paths, path);
}

static bool path_is_meant(const char *path, bool is_dir UNUSED, void *payload)
{
	return pathset_covers(payload, path);
}

static bool path_is_entered(const char *dir, void *payload)
{
	return pathset_covers(payload, dir) || pathset_reaches(payload, dir);
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

	if (compare->limit &&
	    !compare->limit->meant(path, any->kind == WT_DIR, compare->limit->payload)) {
		free(path);
		return;
	}
	change = ALLOC_NEXT(list->items, list->nr, list->alloc);
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

/* --- the walk --- */

int compare_load(const struct compare_side *side, struct wt_dir *dir)
{
	return side->snapshot ? snapshot_expand(side->snapshot, dir) : 0;
}

static bool modes_may_differ(const struct compare_walk *walk, const char *dir)
{
	size_t len = strlen(dir), at;

	if (walk->all_odd)
		return true;
	LOWER_BOUND(at, walk->odd.nr, strncmp(walk->odd.items[at], dir, len) < 0);
	/* Over-cautious where one name is a prefix of another: "a" also looks at "a-b". */
	return at < walk->odd.nr && !strncmp(walk->odd.items[at], dir, len);
}

/*
 * What the other directory has under that name; an entry of another kind is elsewhere in the order.
 */
static const struct wt_entry *other_kind(const struct wt_dir *dir, const struct wt_entry *entry)
{
	return wt_child(dir, entry->name, entry->name_len);
}

int compare_walk_into(struct compare_walk *walk, struct wt_dir *before, struct wt_dir *after)
{
	size_t i = 0, j = 0;
	int err;

	if (before->known && after->known && oid_equal(&before->tree, &after->tree) &&
	    !modes_may_differ(walk, before->path))
		return 0;
	err = compare_load(walk->before, before);
	if (!err)
		err = compare_load(walk->after, after);
	while (!err && (i < before->nr || j < after->nr)) {
		const struct wt_entry *a = i < before->nr ? &wt_entries(before)[i] : NULL;
		const struct wt_entry *b = j < after->nr ? &wt_entries(after)[j] : NULL;
		int cmp = !a ? 1 : !b ? -1 : wt_entry_compare(a, b);

		if (cmp <= 0)
			err = walk->fn(walk, before->path, a, cmp ? other_kind(after, a) : b);
		else if (!other_kind(before, b))
			err = walk->fn(walk, before->path, NULL, b);
		i += cmp <= 0;
		j += cmp >= 0;
	}
	return err;
}

int compare_walk(struct compare_walk *walk)
{
	const struct modes *before = walk->before->modes, *after = walk->after->modes;
	struct wt_entry nothing[1];
	struct wt_dir empty = { .path = "", .loaded = nothing };
	int err;

	walk->all_odd = !before || !after || !modes_differing(&walk->odd, before, after);
	err = compare_walk_into(walk, walk->before->root ? walk->before->root : &empty,
				walk->after->root ? walk->after->root : &empty);
	strlist_release(&walk->odd);
	return err;
}

/* --- what differs --- */

static bool is_entered(const struct compare_walk *walk, const struct wt_dir *dir)
{
	const struct compare_limit *limit = ((const struct compare *)walk->payload)->limit;

	return !limit || limit->entered(dir->path, limit->payload);
}

/* Everything of an entry that only one side has. */
static int one_side(struct compare_walk *walk, const char *dir, const struct wt_entry *old,
		    const struct wt_entry *new)
{
	const struct wt_entry *entry = old ? old : new;
	int err = 0;

	if (entry->kind == WT_DIR && !is_entered(walk, entry->dir))
		return 0;
	if (entry->kind == WT_DIR)
		err = compare_load(old ? walk->before : walk->after, entry->dir);
	if (!err && (entry->kind != WT_DIR || !entry->dir->nr))
		add_change(walk->payload, dir, old, new);
	for (size_t i = 0; entry->kind == WT_DIR && i < entry->dir->nr && !err; i++) {
		const struct wt_entry *child = &wt_entries(entry->dir)[i];

		err = one_side(walk, entry->dir->path, old ? child : NULL, new ? child : NULL);
	}
	return err;
}

static int visit_pair(struct compare_walk *walk, const char *dir, const struct wt_entry *old,
		      const struct wt_entry *new)
{
	int err;

	if (!old || !new)
		return one_side(walk, dir, old, new);
	if ((old->kind == WT_DIR) != (new->kind == WT_DIR)) {
		err = one_side(walk, dir, old, NULL);
		return err ? err : one_side(walk, dir, NULL, new);
	}
	if (old->kind == WT_DIR) {
		if (!is_entered(walk, old->dir))
			return 0;
		if (old->mode != new->mode && !new->dir->outside && !old->dir->outside)
			add_change(walk->payload, dir, old, new);
		return compare_walk_into(walk, old->dir, new->dir);
	}
	if (old->kind != new->kind || old->mode != new->mode || !oid_equal(&old->oid, &new->oid))
		add_change(walk->payload, dir, old, new);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

int compare_run(struct compare_list *out, const struct compare_side *before,
		const struct compare_side *after, const struct strlist *paths)
{
	const struct compare_limit limit = { path_is_meant, path_is_entered, (void *)paths };

	return compare_run_within(out, before, after, paths && paths->nr ? &limit : NULL);
}

int compare_run_within(struct compare_list *out, const struct compare_side *before,
		       const struct compare_side *after, const struct compare_limit *limit)
{
	struct compare compare = { .out = out, .limit = limit };
	struct compare_walk walk = {
		.before = before, .after = after, .fn = visit_pair, .payload = &compare
	};
	int err;

	memset(out, 0, sizeof(*out));
	err = compare_walk(&walk);
	if (err)
		compare_list_release(out);
	else if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_path);
	return err;
}
