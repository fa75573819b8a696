/* SPDX-License-Identifier: MIT */
#include "restore/plan.h"

#include "base/base.h"
#include "record/record.h"

/* --- what goes or comes as a whole --- */

static void note_created(struct plan *plan, const char *path, const struct wt_entry *target,
			 const struct strlist *paths)
{
	if (target->kind != WT_DIR || !plan_concerns(paths, path))
		return;
	if (compare_in_scope(paths, path))
		strlist_add(&plan->whole, path);
	for (size_t i = 0; i < target->dir->nr; i++) {
		char *child = xstrfmt("%s/%s", path, wt_entries(target->dir)[i].name);

		note_created(plan, child, &wt_entries(target->dir)[i], paths);
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
			note_created(plan, action->path, action->target, paths);
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

static bool picked(const struct folding *folding, size_t at)
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
		if (!picked(folding, at + nr))
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
		total += picked(&folding, i);
	for (size_t i = 0; i < plan->rows_nr;) {
		const struct plan_row *row = &plan->rows[i];
		struct plan_line line = { .path = row->path, .effect = row->effect, .rows = 1 };

		if (!picked(&folding, i)) {
			i++;
			continue;
		}
		if (total > max)
			fold_line(&line, &folding, i);
		ALLOC_GROW(out->items, out->nr + 1, out->alloc);
		out->items[out->nr++] = line;
		i += line.rows;
	}
}

void plan_lines_release(struct plan_lines *lines)
{
	free(lines->items);
	memset(lines, 0, sizeof(*lines));
}
