/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "session/session.h"
#include "tree/tree.h"

/*
 * After a restore the worktree is as it was scanned before, except where the
 * restore, or somebody else, changed it: in the directories that the plan names,
 * and in those whose times differ, because making, renaming or removing a name
 * changes the times of its directory. Only these are looked at again. If somebody
 * writes into a file elsewhere while a restore runs, the next full scan finds it,
 * just as it finds what is written a moment later.
 */

static void add_parent(struct strlist *dirs, const char *path)
{
	const char *slash = strrchr(path, '/');

	strlist_take(dirs, slash ? xmemdupz(path, (size_t)(slash - path)) : xstrdup(""));
}

/* If a directory comes or goes, everything below it is touched, too. */
static void add_action(struct restore_touched *out, const struct plan_action *action)
{
	bool is_dir = (action->target && action->target->kind == WT_DIR) ||
		      (action->current && action->current->kind == WT_DIR);

	add_parent(&out->dirs, action->path);
	if (is_dir && action->kind != PLAN_CHMOD)
		strlist_add(&out->trees, action->path);
	else if (is_dir)
		strlist_add(&out->dirs, action->path);
}

/* --- times --- */

struct look {
	int rootfd;
	const struct wt_dir **dirs;
	size_t nr, alloc;
	bool *differs;
};

static void collect(struct look *look, const struct wt_dir *dir)
{
	ALLOC_GROW(look->dirs, look->nr + 1, look->alloc);
	look->dirs[look->nr++] = dir;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			collect(look, wt_entries(dir)[i].dir);
}

static int compare_times(size_t index, unsigned worker, void *payload)
{
	struct look *look = payload;
	const struct wt_dir *dir = look->dirs[index];
	struct wt_stat now;
	struct stat st;

	(void)worker;
	if (fstatat(look->rootfd, *dir->path ? dir->path : ".", &st, AT_SYMLINK_NOFOLLOW) < 0) {
		look->differs[index] = true;
		return 0;
	}
	wt_stat_from(&now, &st);
	look->differs[index] = !wt_stat_equal(&now, &dir->st);
	return 0;
}

static int add_differing(struct restore_touched *out, const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;
	struct look look = { .rootfd = scan->rootfd };
	int err;

	collect(&look, scan->root);
	look.differs = xcalloc(look.nr, sizeof(*look.differs));
	err = pool_for(r->session->threads, look.nr, compare_times, &look);
	for (size_t i = 0; i < look.nr && !err; i++)
		if (look.differs[i])
			strlist_add(&out->dirs, look.dirs[i]->path);
	free(look.dirs);
	free(look.differs);
	return err;
}

/* --- whether that is enough --- */

static bool touches_rules(const struct plan *plan)
{
	for (size_t i = 0; i < plan->rows_nr; i++) {
		const char *path = plan->rows[i].path, *slash = strrchr(path, '/');

		if (!strcmp(slash ? slash + 1 : path, ".gitignore"))
			return true;
	}
	return false;
}

/* Not if much of the worktree is touched, or if a plain scan would not see all of it. */
static bool is_enough(const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;
	struct wt_counts counts;

	if (r->opts->verify_full || r->opts->interrupted || r->scope.nr || r->also.nr ||
	    scan->hinted || scan->mounts.nr || touches_rules(&r->plan))
		return false;
	wt_count(&counts, scan->root);
	return r->plan.rows_nr <= counts.files / 4;
}

int restore_find_touched(struct restore_touched *out, bool *enough, const struct restore *r)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	*enough = is_enough(r);
	if (!*enough)
		return 0;
	for (size_t i = 0; i < r->plan.nr; i++)
		add_action(out, &r->plan.actions[i]);
	err = add_differing(out, r);
	strlist_sort_unique(&out->dirs);
	strlist_sort_unique(&out->trees);
	out->hints = (struct scan_hints){ .dirs = &out->dirs, .trees = &out->trees };
	return err;
}

void restore_touched_release(struct restore_touched *touched)
{
	strlist_release(&touched->dirs);
	strlist_release(&touched->trees);
}
