/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "restore/restore_hash_internal.h"
#include "session/session.h"

/* --- hashes --- */

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
	*ALLOC_NEXT(lines->items, lines->nr, lines->alloc) =
		(struct statehash_item){ xstrdup(path), entry };
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

static struct restore_hash begin_hash(const struct restore *r)
{
	return (struct restore_hash){
		.target = r->target.tree,
		.record = r->opts->target,
		.paths = &r->scope,
		.plan = &r->plan,
		.no_delete = r->opts->no_delete,
		.threads = r->session->threads,
	};
}

int restore_hash_both(struct restore_result *out, struct restore *r)
{
	struct restore_hash check = begin_hash(r);
	bool whole;
	int err = restore_hash_target(out->target_hash, &check);

	if (err)
		return err;
	restore_hash_worktree(out->pre_hash, &whole, &check, r->job.current.scan->root);
	if (whole)
		memcpy(r->job.state_hash, out->pre_hash, sizeof(out->pre_hash));
	return 0;
}

/* --- where to look --- */

/*
 * After a restore the worktree is as it was scanned before, except where the
 * restore, or somebody else, changed it: in the directories that the plan names,
 * and in those whose times differ, because making, renaming or removing a name
 * changes the times of its directory. Only these are looked at again. If somebody
 * writes into a file elsewhere while a restore runs, the next full scan finds it,
 * just as it finds what is written a moment later.
 */

struct touched {
	struct strlist dirs, trees;
	struct scan_hints hints;
};

static void add_parent(struct strlist *dirs, const char *path)
{
	const char *slash = strrchr(path, '/');

	strlist_take(dirs, slash ? xmemdupz(path, (size_t)(slash - path)) : xstrdup(""));
}

/* If a directory comes or goes, everything below it is touched, too. */
static void add_action(struct touched *out, const struct plan_action *action)
{
	bool is_dir = (action->target && action->target->kind == WT_DIR) ||
		      (action->current && action->current->kind == WT_DIR);

	add_parent(&out->dirs, action->path);
	if (is_dir && action->kind != PLAN_CHMOD)
		strlist_add(&out->trees, action->path);
	else if (is_dir)
		strlist_add(&out->dirs, action->path);
}

struct look {
	int rootfd;
	const struct wt_dir **dirs;
	size_t nr, alloc;
	bool *differs;
};

static void collect_dirs(struct look *look, const struct wt_dir *dir)
{
	*ALLOC_NEXT(look->dirs, look->nr, look->alloc) = dir;
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR)
			collect_dirs(look, wt_entries(dir)[i].dir);
}

static int compare_times(size_t index, unsigned worker UNUSED, void *payload)
{
	struct look *look = payload;
	const struct wt_dir *dir = look->dirs[index];
	struct wt_stat now;
	struct stat st;

	if (fstatat(look->rootfd, *dir->path ? dir->path : ".", &st, AT_SYMLINK_NOFOLLOW) < 0) {
		look->differs[index] = true;
		return 0;
	}
	wt_stat_from(&now, &st);
	look->differs[index] = !wt_stat_equal(&now, &dir->st);
	return 0;
}

static int add_differing(struct touched *out, const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;
	struct look look = { .rootfd = scan->rootfd };
	int err;

	collect_dirs(&look, scan->root);
	look.differs = xcalloc(look.nr, sizeof(*look.differs));
	err = pool_for(r->session->threads, look.nr, compare_times, &look);
	for (size_t i = 0; i < look.nr && !err; i++)
		if (look.differs[i])
			strlist_add(&out->dirs, look.dirs[i]->path);
	free(look.dirs);
	free(look.differs);
	return err;
}

static bool touches_rules(const struct plan *plan)
{
	for (size_t i = 0; i < plan->rows_nr; i++)
		if (!strcmp(path_base(plan->rows[i].path), ".gitignore"))
			return true;
	return false;
}

/* Not if much of the worktree is touched, or if a plain scan would not see all of it. */
static bool is_touched_enough(const struct restore *r)
{
	const struct scan *scan = r->job.current.scan;
	struct wt_counts counts;

	if (r->opts->verify_full || r->opts->step.interrupted || r->scope.nr || r->also.nr ||
	    scan->hinted || scan->mounts.nr || touches_rules(&r->plan))
		return false;
	wt_count(&counts, scan->root);
	return r->plan.rows_nr <= counts.files / 4;
}

/*
 * Which directories the restore, or somebody else, changed since the scan. `enough` is false if
 * everything has to be looked at.
 */
static int find_touched(struct touched *out, bool *enough, const struct restore *r)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	*enough = is_touched_enough(r);
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

static void release_touched(struct touched *touched)
{
	strlist_release(&touched->dirs);
	strlist_release(&touched->trees);
}

/* --- what is on disk now --- */

int restore_find_left_out(struct strlist *out, struct snapshot *snapshot,
			  const struct strlist *paths, const struct scan *scan)
{
	struct compare_side held = { .root = snapshot->root,
				     .snapshot = snapshot,
				     .modes = &snapshot->modes };
	/* Modes do not matter here; treated as equal, whole subtrees are skipped. */
	struct compare_side current = { .root = scan->root, .modes = &snapshot->modes };
	struct compare_list changes;
	int err = compare_run(&changes, &held, &current, paths);

	if (err)
		return err;
	for (size_t i = 0; i < changes.nr; i++) {
		const struct change *change = &changes.items[i];
		const char *name;
		struct stat st;
		int fd;

		if (change->kind != CHANGE_DELETED)
			continue;
		fd = beneath_open_parent(scan->rootfd, change->path, &name);
		if (fd >= 0 && !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode) == change->is_dir)
			strlist_add(out, change->path);
		fs_close(fd);
	}
	compare_list_release(&changes);
	strlist_sort_unique(out);
	return 0;
}

static int scan_once(struct worktree_state *out, struct restore *r, bool *enough)
{
	struct worktree_state_opts opts = restore_scan_opts(r);
	struct worktree_state *before = &r->job.current;
	struct touched touched;
	int err = find_touched(&touched, enough, r);

	if (!err && *enough) {
		worktree_state_update_cache(before, &r->opts->target->commit);
		opts.base = before->cache;
		opts.hints = &touched.hints;
	}
	if (!err)
		err = worktree_state_scan(out, r->session, &r->job.refs, &opts);
	release_touched(&touched);
	return err;
}

/*
 * From what is on disk now; only what was not rewritten may come from the
 * cache. The restored rules may leave out part of it.
 */
static int scan_result(struct worktree_state *out, struct restore *r)
{
	size_t before = r->also.nr;
	bool enough;
	int err = scan_once(out, r, &enough);

	if (!err) {
		err = restore_find_left_out(&r->also, r->target.tree, &r->scope, out->scan);
		if (err || r->also.nr != before)
			worktree_state_release(out);
	}
	/* With them among the paths, everything is looked at. */
	if (!err && r->also.nr != before)
		err = scan_once(out, r, &enough);
	if (err)
		return err;
	err = worktree_state_read(out, NULL);
	if (err)
		worktree_state_release(out);
	return err;
}

static bool counts_as_difference(const struct restore *r, const struct change *change,
				 const struct strlist *left)
{
	if (change->kind == CHANGE_ADDED && r->opts->no_delete)
		return false;
	for (size_t i = 0; i < r->plan.kept_nr; i++)
		if (path_below(change->path, r->plan.kept[i].path))
			return false;
	for (size_t i = 0; i < left->nr; i++)
		if (path_below(change->path, left->items[i]))
			return false;
	return true;
}

/* It does not match: tell where. What was `left` alone does not count. */
static int name_differing(struct strlist *out, struct restore *r, const struct wt_dir *root,
			  const struct strlist *left)
{
	struct compare_side target = { .root = r->target.tree->root,
				       .snapshot = r->target.tree,
				       .modes = &r->target.tree->modes };
	struct modes modes = { 0 };
	struct compare_side current = { .root = (struct wt_dir *)root, .modes = &modes };
	struct compare_list changes;
	int err = modes_of_tree(&modes, root);

	if (!err)
		err = compare_run(&changes, &target, &current, &r->scope);
	if (!err) {
		for (size_t i = 0; i < changes.nr; i++)
			if (counts_as_difference(r, &changes.items[i], left))
				strlist_add(out, changes.items[i].path);
		compare_list_release(&changes);
	}
	modes_release(&modes);
	return err;
}

/*
 * It does not match; but perhaps only because files that were ignored before no
 * longer are. The safety checkpoint has the rules that left them out.
 */
static int look_again(struct restore_result *out, struct restore *r, struct restore_hash *check,
		      struct wt_dir *root)
{
	struct ckpt_record safety = CKPT_RECORD_INIT;
	struct restore_point point = { 0 };
	struct strlist left = STRLIST_INIT;
	struct strbuf quoted = STRBUF_INIT;
	bool whole;
	int err = lookup_name(&safety, r->session->store, out->safety);

	check->before = protect_new(r->session);
	check->left = &left;
	if (!err)
		err = restore_point_open(&point, r->session->store, &safety);
	if (!err)
		err = protect_add(check->before, &safety, &point.meta, point.tree);
	if (err)
		goto out;
	restore_hash_worktree(out->post_hash, &whole, check, root);
	for (size_t i = 0; i < left.nr; i++) {
		strbuf_reset(&quoted);
		quote_path(&quoted, left.items[i]);
		strlist_addf(&out->warnings, "Kept: %s (ignored before)", quoted.buf);
	}
	if (strcmp(out->post_hash, out->target_hash))
		err = name_differing(&out->differing, r, root, &left);
out:
	protect_free(check->before);
	check->before = NULL;
	check->left = NULL;
	restore_point_close(&point);
	record_release(&safety);
	strlist_release(&left);
	strbuf_release(&quoted);
	return err;
}

/* The tree alone does not tell the modes of directories, and of a file only whether it is a program. */
static bool is_target(const struct restore *r, const struct wt_dir *root)
{
	const struct strbuf *held = &r->target.meta.modes;
	struct strbuf modes = STRBUF_INIT;
	bool same;

	modes_encode(&modes, root);
	same = oid_equal(&root->tree, &r->opts->target->tree) && modes.len == held->len &&
	       !memcmp(modes.buf, held->buf, held->len);
	strbuf_release(&modes);
	return same;
}

/* Exactly the checkpoint: the next save need not read it again. */
static void keep_cache(const struct restore *r, struct worktree_state *state)
{
	const struct ckpt_record *target = r->opts->target;

	if (!*target->composed_for && is_target(r, state->scan->root))
		worktree_state_write_cache(state, &target->commit);
}

int restore_verify(struct restore_result *out, struct restore *r)
{
	struct restore_hash check = begin_hash(r);
	struct worktree_state state;
	bool whole;
	int err;

	if (restore_is_state_only(r)) {
		memcpy(out->post_hash, out->target_hash, sizeof(out->post_hash));
		out->verified = out->match = true;
		return 0;
	}
	err = scan_result(&state, r);
	if (!err) {
		restore_hash_worktree(out->post_hash, &whole, &check, state.scan->root);
		keep_cache(r, &state);
		if (strcmp(out->post_hash, out->target_hash))
			err = look_again(out, r, &check, state.scan->root);
		worktree_state_release(&state);
	}
	out->verified = !err;
	out->match = !err && !strcmp(out->post_hash, out->target_hash);
	return err;
}

void restore_own_check(struct restore_result *result, const struct session *session,
		       const char *command)
{
	bool setting = !command;

	if (setting)
		command = session->settings.verify_command;
	if (!command || !result->done)
		return;
	if (setting && result->foreign) {
		strlist_addf(&result->warnings,
			     "verifyCommand was not run, since the files come from elsewhere: look "
			     "at them, then run '%s'",
			     command);
		return;
	}
	result->own_check = command;
	result->own_check_status = spawn_shell(command, session->worktree);
}
