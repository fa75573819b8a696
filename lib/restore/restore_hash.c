/* SPDX-License-Identifier: MIT */
#include "restore/restore_hash_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "restore/protect_internal.h"

/* What counts. */
struct lines {
	const struct restore_hash *check;
	bool worktree; /* otherwise the checkpoint */
	struct strlist kept; /* sorted */
	struct statehash_item *items;
	size_t nr, alloc;
};

static bool in_target(const struct restore_hash *check, const char *path)
{
	struct wt_entry *entry = NULL;

	return !snapshot_find(&entry, check->target, path) && entry;
}

/* Not seen by the restore: ignored at that time, and not a path of the checkpoint. */
static bool was_left(const struct lines *lines, const char *path, enum wt_kind kind)
{
	const struct restore_hash *check = lines->check;

	if (!lines->worktree || !check->before || in_target(check, path) ||
	    !protect_path(path, kind, check->before))
		return false;
	strlist_add(check->left, path);
	return true;
}

static void add_line(struct lines *lines, const char *path, const struct wt_entry *entry)
{
	ALLOC_GROW(lines->items, lines->nr + 1, lines->alloc);
	lines->items[lines->nr++] = (struct statehash_item){ xstrdup(path), entry };
}

/* True if something below it was counted. */
static bool add_dir(struct lines *lines, const struct wt_dir *dir)
{
	const struct restore_hash *check = lines->check;
	bool any = false;

	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char *path = xstrfmt("%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		bool mine = compare_in_scope(check->paths, path) && !pathset_covers(&lines->kept, path);

		if (mine && was_left(lines, path, entry->kind)) {
			/* does not count, and neither does anything below */
		} else if (entry->kind == WT_DIR) {
			/* With nothing counted in it, it counts if the checkpoint has it. */
			if (add_dir(lines, entry->dir)) {
				any = true;
			} else if (mine && (!lines->worktree || in_target(check, path))) {
				add_line(lines, path, entry);
				any = true;
			}
		} else if (mine && (!lines->worktree || !check->no_delete || in_target(check, path))) {
			add_line(lines, path, entry);
			any = true;
		}
		free(path);
	}
	return any;
}

static void begin_lines(struct lines *lines, const struct restore_hash *check, bool worktree)
{
	memset(lines, 0, sizeof(*lines));
	lines->check = check;
	lines->worktree = worktree;
	for (size_t i = 0; i < check->plan->kept_nr; i++)
		strlist_add(&lines->kept, check->plan->kept[i].path);
	strlist_sort_unique(&lines->kept);
}

static void hash_lines(char out[STATEHASH_SIZE], struct lines *lines)
{
	statehash_items(out, lines->items, lines->nr);
	for (size_t i = 0; i < lines->nr; i++)
		free(lines->items[i].path);
	free(lines->items);
	strlist_release(&lines->kept);
}

static bool keeps_of_target(const struct restore_hash *check)
{
	for (size_t i = 0; i < check->plan->kept_nr; i++)
		if (in_target(check, check->plan->kept[i].path))
			return true;
	return false;
}

int restore_hash_target(char out[STATEHASH_SIZE], const struct restore_hash *check)
{
	struct contents_opts opts = { .threads = check->threads };
	struct lines lines;
	int err;

	if (!check->paths->nr && !keeps_of_target(check)) {
		memcpy(out, check->record->state_hash, STATEHASH_SIZE);
		return 0;
	}
	err = check->paths->nr ? contents_hash_paths(check->target, check->paths, &opts) :
				 contents_hash(check->target, &opts);
	if (err)
		return ckpt_error_prefix(err, "checkpoint '%s'", check->record->id);
	begin_lines(&lines, check, false);
	add_dir(&lines, check->target->root);
	hash_lines(out, &lines);
	return 0;
}

/* Every empty directory of the tree is one of the checkpoint's too. */
static bool no_odd_dirs(const struct restore_hash *check, const struct wt_dir *dir)
{
	struct wt_entry *target = NULL;

	/* The same directory, with everything below. */
	if (dir->known && *dir->path && !snapshot_find(&target, check->target, dir->path) && target &&
	    target->kind == WT_DIR && oid_equal(&dir->tree, &target->dir->tree))
		return true;
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_dir *child = wt_entries(dir)[i].dir;

		if (wt_entries(dir)[i].kind != WT_DIR)
			continue;
		if (child->nr ? !no_odd_dirs(check, child) : !in_target(check, child->path))
			return false;
	}
	return true;
}

void restore_hash_worktree(char out[STATEHASH_SIZE], bool *whole, const struct restore_hash *check,
			   struct wt_dir *root)
{
	struct lines lines;

	*whole = !check->paths->nr && !check->plan->kept_nr && !check->no_delete && !check->before &&
		 no_odd_dirs(check, root);
	if (*whole) {
		statehash(out, root);
		return;
	}
	begin_lines(&lines, check, true);
	add_dir(&lines, root);
	hash_lines(out, &lines);
}
