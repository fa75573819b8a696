/* SPDX-License-Identifier: MIT */
#include "restore/plan.h"

#include "base/base.h"
#include "record/record.h"

struct planner {
	struct plan *plan;
	const struct plan_opts *opts;
	struct compare_walk *walk;
};

void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		free(plan->actions[i].path);
	for (size_t i = 0; i < plan->rows_nr; i++) {
		free(plan->rows[i].path);
		free(plan->rows[i].summary);
	}
	for (size_t i = 0; i < plan->kept_nr; i++) {
		free(plan->kept[i].path);
		free(plan->kept[i].why);
	}
	free(plan->actions);
	free(plan->rows);
	free(plan->kept);
	strlist_release(&plan->captures);
	strlist_release(&plan->emptied);
	strlist_release(&plan->whole);
	memset(plan, 0, sizeof(*plan));
}

bool plan_is_empty(const struct plan *plan)
{
	return !plan->nr && !plan->captures.nr;
}

static char *join(const char *dir, const struct wt_entry *entry)
{
	/* cppcheck-suppress ctunullpointer ; in visit() one of the two always exists */
	return xstrfmt("%s%s%s", dir, *dir ? "/" : "", entry->name);
}

static void add_action(struct planner *planner, enum plan_kind kind, const char *path,
		       const struct wt_entry *target, const struct wt_entry *current)
{
	struct plan *plan = planner->plan;

	ALLOC_GROW(plan->actions, plan->nr + 1, plan->alloc);
	plan->actions[plan->nr++] = (struct plan_action){
		.kind = kind, .path = xstrdup(path), .target = target, .current = current
	};
}

static void add_row(struct planner *planner, const char *path, enum plan_effect effect,
		    char *summary)
{
	struct plan *plan = planner->plan;

	ALLOC_GROW(plan->rows, plan->rows_nr + 1, plan->rows_alloc);
	plan->rows[plan->rows_nr++] = (struct plan_row){ xstrdup(path), effect, summary };
}

static void add_kept(struct plan *plan, const char *path, const char *why)
{
	ALLOC_GROW(plan->kept, plan->kept_nr + 1, plan->kept_alloc);
	plan->kept[plan->kept_nr++] = (struct plan_kept){ xstrdup(path), xstrdup(why) };
}

/* Drop the rows of a path and, with `all`, those below it. */
static void drop_rows(struct plan *plan, const char *path, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->rows_nr; i++) {
		struct plan_row *row = &plan->rows[i];

		if (all ? !path_below(row->path, path) : strcmp(row->path, path) != 0) {
			plan->rows[kept++] = *row;
			continue;
		}
		free(row->path);
		free(row->summary);
	}
	plan->rows_nr = kept;
}

void plan_keep(struct plan *plan, const char *path, const char *why)
{
	bool all = false;

	for (size_t i = 0; i < plan->nr; i++)
		if (!strcmp(plan->actions[i].path, path)) {
			all = plan->actions[i].kind == PLAN_CREATE;
			free(plan->actions[i].path);
			memmove(plan->actions + i, plan->actions + i + 1,
				(--plan->nr - i) * sizeof(*plan->actions));
			break;
		}
	drop_rows(plan, path, all);
	add_kept(plan, path, why);
}

bool plan_keeps(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->kept_nr; i++)
		if (!strcmp(plan->kept[i].path, path))
			return true;
	return false;
}

static const char *kind_name(const struct wt_entry *entry)
{
	static const char *const names[] = { "file", "symbolic link", "directory" };

	return names[entry->kind];
}

bool plan_concerns(const struct strlist *paths, const char *path)
{
	return compare_in_scope(paths, path) || pathset_reaches(paths, path);
}

static bool concerned(const struct planner *planner, const char *path)
{
	return plan_concerns(planner->opts->paths, path);
}

/* --- what only the checkpoint has --- */

/* Rows for an entry with everything below; loads all of it, since apply needs it. */
static int create_rows(struct planner *planner, const char *path, const struct wt_entry *entry)
{
	bool empty = true;
	int err;

	if (entry->kind != WT_DIR) {
		if (compare_in_scope(planner->opts->paths, path))
			add_row(planner, path, EFFECT_BROUGHT_BACK,
				xstrfmt("deleted %s comes back", kind_name(entry)));
		return 0;
	}
	err = compare_load(planner->opts->target, entry->dir);
	for (size_t i = 0; i < entry->dir->nr && !err; i++) {
		char *child = join(path, &wt_entries(entry->dir)[i]);

		if (concerned(planner, child)) {
			err = create_rows(planner, child, &wt_entries(entry->dir)[i]);
			empty = false;
		}
		free(child);
	}
	if (!err && empty && compare_in_scope(planner->opts->paths, path))
		add_row(planner, path, EFFECT_BROUGHT_BACK,
			xstrdup("deleted directory comes back"));
	return err;
}

static int create(struct planner *planner, const char *path, const struct wt_entry *target)
{
	add_action(planner, PLAN_CREATE, path, target, NULL);
	return create_rows(planner, path, target);
}

/* --- what only the worktree has --- */

/* `gone` is true if nothing of it stays. */
static void remove_entry(struct planner *planner, const char *path, const struct wt_entry *current,
			 bool *gone)
{
	const struct plan_opts *opts = planner->opts;
	const char *why = opts->protect ? opts->protect(path, current->kind, opts->payload) : NULL;
	bool all_gone = true;

	*gone = false;
	if (opts->no_delete || !concerned(planner, path))
		return;
	if (why) {
		add_kept(planner->plan, path, why);
		return;
	}
	if (current->kind != WT_DIR) {
		if (compare_in_scope(opts->paths, path)) {
			add_action(planner, PLAN_REMOVE, path, NULL, current);
			add_row(planner, path, EFFECT_REMOVED,
				xstrfmt("created %s is removed", kind_name(current)));
			*gone = true;
		}
		return;
	}
	for (size_t i = 0; i < current->dir->nr; i++) {
		char *child = join(path, &wt_entries(current->dir)[i]);
		bool child_gone;

		remove_entry(planner, child, &wt_entries(current->dir)[i], &child_gone);
		all_gone = all_gone && child_gone;
		free(child);
	}
	if (!all_gone || current->dir->outside || !compare_in_scope(opts->paths, path))
		return;
	add_action(planner, PLAN_RMDIR, path, NULL, current);
	if (!current->dir->nr)
		add_row(planner, path, EFFECT_REMOVED, xstrdup("created directory is removed"));
	*gone = true;
}

/* --- what both have --- */

/* Something of another kind is there, but only paths below it are asked for. */
static int replace_below(struct planner *planner, const char *path, const struct wt_entry *target,
			 const struct wt_entry *current)
{
	struct wt_entry none;
	struct wt_dir nothing = { .path = path, .loaded = &none };

	return compare_walk_into(planner->walk, target->kind == WT_DIR ? target->dir : &nothing,
				 current->kind == WT_DIR ? current->dir : &nothing);
}

static int replace(struct planner *planner, const char *path, const struct wt_entry *target,
		   const struct wt_entry *current)
{
	if (!compare_in_scope(planner->opts->paths, path))
		return replace_below(planner, path, target, current);
	add_action(planner, PLAN_REPLACE, path, target, current);
	add_row(planner, path, EFFECT_CHANGED,
		xstrfmt("%s becomes a %s again", kind_name(current), kind_name(target)));
	return target->kind == WT_DIR ? snapshot_expand_all(planner->opts->target->snapshot,
							    target->dir) :
					0;
}

static int both_dirs(struct planner *planner, const char *path, struct wt_dir *target,
		     struct wt_dir *current)
{
	int err = compare_walk_into(planner->walk, target, current);

	/* It is empty on one side, and on disk there is nothing but what was captured. */
	if (!err && current->listing & WT_WHOLE && (!target->nr || !current->nr) &&
	    compare_in_scope(planner->opts->paths, path))
		strlist_add(&planner->plan->emptied, path);
	return err;
}

static int both_entries(struct planner *planner, const char *path, const struct wt_entry *target,
			const struct wt_entry *current)
{
	bool mine = compare_in_scope(planner->opts->paths, path);

	if (target->kind != current->kind)
		return replace(planner, path, target, current);
	if (target->kind == WT_DIR) {
		if (mine && target->mode != current->mode && !current->dir->outside) {
			add_action(planner, PLAN_CHMOD, path, target, current);
			add_row(planner, path, EFFECT_CHANGED,
				xstrfmt("mode %04o becomes %04o", current->mode, target->mode));
		}
		return both_dirs(planner, path, target->dir, current->dir);
	}
	if (!mine)
		return 0;
	if (!oid_equal(&target->oid, &current->oid)) {
		add_action(planner, PLAN_OVERWRITE, path, target, current);
		add_row(planner, path, EFFECT_CHANGED,
			xstrdup(target->kind == WT_LINK ? "link target" : "contents"));
	} else if (target->mode != current->mode) {
		/*
		 * If a file with other names is changed in place, the others change too, wherever
		 * they are.
		 */
		add_action(planner, current->flags & WT_LINKED ? PLAN_OVERWRITE : PLAN_CHMOD, path,
			   target, current);
		add_row(planner, path, EFFECT_CHANGED,
			xstrfmt("mode %04o becomes %04o", current->mode, target->mode));
	}
	return 0;
}

static int visit(struct compare_walk *walk, const char *dir, const struct wt_entry *target,
		 const struct wt_entry *current)
{
	struct planner *planner = walk->payload;
	char *path = join(dir, target ? target : current);
	bool gone;
	int err = 0;

	if (!concerned(planner, path))
		;
	else if (!current)
		err = create(planner, path, target);
	else if (!target)
		remove_entry(planner, path, current, &gone);
	else
		err = both_entries(planner, path, target, current);
	free(path);
	return err;
}

/* --- directories that are only on the way --- */

/* Directories that a restore had created, whatever is in them by now. */
static void remove_made(struct planner *planner)
{
	const struct strlist *made = planner->opts->made;

	for (size_t i = 0; made && i < made->nr && !planner->opts->no_delete; i++)
		add_action(planner, PLAN_RMDIR, made->items[i], NULL, NULL);
}

static void list_made(struct strlist *out, const char *path, const struct wt_entry *target,
		      const struct strlist *paths)
{
	if (target->kind != WT_DIR || compare_in_scope(paths, path) || !plan_concerns(paths, path))
		return;
	strlist_add(out, path);
	for (size_t i = 0; i < target->dir->nr; i++) {
		char *child = join(path, &wt_entries(target->dir)[i]);

		list_made(out, child, &wt_entries(target->dir)[i], paths);
		free(child);
	}
}

void plan_list_made(struct strlist *out, const struct plan *plan, const struct strlist *paths)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->actions[i].kind == PLAN_CREATE)
			list_made(out, plan->actions[i].path, plan->actions[i].target, paths);
	strlist_sort_unique(out);
}

/* Removals after all others, the deepest first; otherwise by path. */
static int by_order(const void *x, const void *y)
{
	const struct plan_action *a = x, *b = y;
	bool a_removal = a->kind >= PLAN_REMOVE, b_removal = b->kind >= PLAN_REMOVE;

	if (a_removal != b_removal)
		return a_removal ? 1 : -1;
	return a_removal ? strcmp(b->path, a->path) : strcmp(a->path, b->path);
}

static int rows_by_path(const void *x, const void *y)
{
	return strcmp(((const struct plan_row *)x)->path, ((const struct plan_row *)y)->path);
}

int plan_make(struct plan *out, const struct plan_opts *opts)
{
	struct planner planner = { .plan = out, .opts = opts };
	struct compare_walk walk = {
		.before = opts->target, .after = opts->current, .fn = visit, .payload = &planner
	};
	int err;

	memset(out, 0, sizeof(*out));
	planner.walk = &walk;
	err = compare_walk(&walk);
	if (err) {
		plan_release(out);
		return err;
	}
	remove_made(&planner);
	if (out->nr)
		qsort(out->actions, out->nr, sizeof(*out->actions), by_order);
	if (out->rows_nr)
		qsort(out->rows, out->rows_nr, sizeof(*out->rows), rows_by_path);
	return 0;
}
