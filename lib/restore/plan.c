/* SPDX-License-Identifier: MIT */
#include "restore/plan.h"

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

static char *join_path(const char *dir, const struct wt_entry *entry)
{
	/* cppcheck-suppress ctunullpointer ; in visit_entry() one of the two always exists */
	return xstrfmt("%s%s%s", dir, *dir ? "/" : "", entry->name);
}

static void add_action(struct planner *planner, enum plan_kind kind, const char *path,
		       const struct wt_entry *target, const struct wt_entry *current)
{
	struct plan *plan = planner->plan;

	*ALLOC_NEXT(plan->actions, plan->nr, plan->alloc) = (struct plan_action){
		.kind = kind, .path = xstrdup(path), .target = target, .current = current
	};
}

static void add_row(struct planner *planner, const char *path, enum plan_effect effect,
		    char *summary)
{
	struct plan *plan = planner->plan;

	*ALLOC_NEXT(plan->rows, plan->rows_nr, plan->rows_alloc) =
		(struct plan_row){ xstrdup(path), effect, summary };
}

static void add_kept(struct plan *plan, const char *path, const char *why)
{
	*ALLOC_NEXT(plan->kept, plan->kept_nr, plan->kept_alloc) =
		(struct plan_kept){ xstrdup(path), xstrdup(why) };
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

static bool is_concerned(const struct planner *planner, const char *path)
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
		char *child = join_path(path, &wt_entries(entry->dir)[i]);

		if (is_concerned(planner, child)) {
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

static int create_entry(struct planner *planner, const char *path, const struct wt_entry *target)
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
	if (opts->no_delete || !is_concerned(planner, path))
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
		char *child = join_path(path, &wt_entries(current->dir)[i]);
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

static int replace_entry(struct planner *planner, const char *path, const struct wt_entry *target,
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
		return replace_entry(planner, path, target, current);
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

static int visit_entry(struct compare_walk *walk, const char *dir, const struct wt_entry *target,
		       const struct wt_entry *current)
{
	struct planner *planner = walk->payload;
	char *path = join_path(dir, target ? target : current);
	bool gone;
	int err = 0;

	if (!is_concerned(planner, path))
		;
	else if (!current)
		err = create_entry(planner, path, target);
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

static void list_made_below(struct strlist *out, const char *path, const struct wt_entry *target,
			    const struct strlist *paths)
{
	if (target->kind != WT_DIR || compare_in_scope(paths, path) || !plan_concerns(paths, path))
		return;
	strlist_add(out, path);
	for (size_t i = 0; i < target->dir->nr; i++) {
		char *child = join_path(path, &wt_entries(target->dir)[i]);

		list_made_below(out, child, &wt_entries(target->dir)[i], paths);
		free(child);
	}
}

void plan_list_made(struct strlist *out, const struct plan *plan, const struct strlist *paths)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->actions[i].kind == PLAN_CREATE)
			list_made_below(out, plan->actions[i].path, plan->actions[i].target, paths);
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
	struct compare_walk walk = { .before = opts->target,
				     .after = opts->current,
				     .fn = visit_entry,
				     .payload = &planner };
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

/* --- what goes or comes as a whole --- */

static void note_whole_created(struct plan *plan, const char *path, const struct wt_entry *target,
			       const struct strlist *paths)
{
	if (target->kind != WT_DIR || !plan_concerns(paths, path))
		return;
	if (compare_in_scope(paths, path))
		strlist_add(&plan->whole, path);
	for (size_t i = 0; i < target->dir->nr; i++) {
		char *child = xstrfmt("%s/%s", path, wt_entries(target->dir)[i].name);

		note_whole_created(plan, child, &wt_entries(target->dir)[i], paths);
		free(child);
	}
}

/* Something was kept after the directory had been found to go. */
static void drop_keepers(struct plan *plan)
{
	struct strlist kept = STRLIST_INIT;
	size_t nr = 0;

	for (size_t i = 0; i < plan->kept_nr; i++)
		strlist_add(&kept, plan->kept[i].path);
	strlist_sort_unique(&kept);
	for (size_t i = 0; i < plan->whole.nr; i++) {
		char *dir = plan->whole.items[i];

		if (pathset_has(&kept, dir) || pathset_reaches(&kept, dir))
			free(dir);
		else
			plan->whole.items[nr++] = dir;
	}
	plan->whole.nr = nr;
	strlist_release(&kept);
}

void plan_note_whole(struct plan *plan, const struct strlist *paths)
{
	strlist_release(&plan->whole);
	strlist_extend(&plan->whole, &plan->emptied);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_action *action = &plan->actions[i];

		/* What an earlier restore made goes only if it happens to be empty. */
		if (action->kind == PLAN_RMDIR && action->current)
			strlist_add(&plan->whole, action->path);
		else if (action->kind == PLAN_CREATE)
			note_whole_created(plan, action->path, action->target, paths);
	}
	strlist_sort_unique(&plan->whole);
	if (plan->kept_nr)
		drop_keepers(plan);
}

/* --- lines --- */

struct folding {
	const struct plan *plan;
	plan_pick_fn pick;
	const void *payload;
};

static bool is_picked(const struct folding *folding, size_t at)
{
	return !folding->pick || folding->pick(&folding->plan->rows[at], folding->payload);
}

/* How many rows from `at` on are in the same directory; 0 if not all of them are picked. */
static size_t rows_below(const struct folding *folding, size_t at, size_t dir_len)
{
	const struct plan *plan = folding->plan;
	const char *first = plan->rows[at].path;
	size_t nr = 0;

	/* One before it that is not picked, or could not be folded either. */
	if (at && !strncmp(plan->rows[at - 1].path, first, dir_len + 1))
		return 0;
	for (; at + nr < plan->rows_nr; nr++) {
		if (strncmp(plan->rows[at + nr].path, first, dir_len + 1) != 0)
			break;
		if (!is_picked(folding, at + nr))
			return 0;
	}
	return nr;
}

/* Let the topmost directory that can do so stand for the row and those after it. */
static void fold_line(struct plan_line *line, const struct folding *folding, size_t at)
{
	for (const char *slash = strchr(line->path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - line->path), rows;
		char *dir = xmemdupz(line->path, len);
		bool whole = pathset_has(&folding->plan->whole, dir);

		free(dir);
		rows = whole ? rows_below(folding, at, len) : 0;
		/* A name says more than "1 file". */
		if (rows > 1) {
			line->dir_len = len;
			line->rows = rows;
			return;
		}
	}
}

void plan_fold(struct plan_lines *out, const struct plan *plan, size_t max, plan_pick_fn pick,
	       const void *payload)
{
	const struct folding folding = { plan, pick, payload };
	size_t total = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < plan->rows_nr; i++)
		total += is_picked(&folding, i);
	for (size_t i = 0; i < plan->rows_nr;) {
		const struct plan_row *row = &plan->rows[i];
		struct plan_line line = { .path = row->path, .effect = row->effect, .rows = 1 };

		if (!is_picked(&folding, i)) {
			i++;
			continue;
		}
		if (total > max)
			fold_line(&line, &folding, i);
		*ALLOC_NEXT(out->items, out->nr, out->alloc) = line;
		i += line.rows;
	}
}

void plan_lines_release(struct plan_lines *lines)
{
	free(lines->items);
	memset(lines, 0, sizeof(*lines));
}
