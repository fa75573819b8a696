/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "session/session.h"

int restore_point_open(struct restore_point *out, struct store *store,
		       const struct ckpt_record *record)
{
	int err = meta_read(&out->meta, store, record, false);

	return err ? err : snapshot_open_meta(&out->tree, store, record, &out->meta);
}

void restore_point_close(struct restore_point *point)
{
	snapshot_free(point->tree);
	meta_release(&point->meta);
}

/* --- what stays whatever the target has: files that others depend on, what a mount hides --- */

/* As it is on the disk; false if it is something else, or cannot be read: then nothing is known of it. */
static bool read_current(struct strbuf *out, const struct restore *r, const char *path)
{
	const struct wt_entry *entry = wt_find(r->job.current.scan->root, path);
	const char *name;
	int fd, err;

	if (!entry || entry->kind != WT_FILE)
		return false;
	fd = beneath_open_parent(r->job.current.scan->rootfd, path, &name);
	if (fd < 0)
		return false;
	err = fs_read_file(out, fd, name);
	close(fd);
	return !err;
}

static int read_target(struct strbuf *out, bool *exists, struct restore *r, const char *path)
{
	struct wt_entry *entry = NULL;
	int err = snapshot_find(&entry, r->target.tree, path);

	*exists = !err && entry && entry->kind == WT_FILE;
	return *exists ? objects_read(out, r->session->store, &entry->oid, OBJECT_BLOB) : err;
}

static int find_if_guarded(struct restore *r, const struct restore_kept *kept)
{
	struct strbuf now = STRBUF_INIT, then = STRBUF_INIT;
	bool exists, has = plan_concerns(&r->scope, kept->path) && read_current(&now, r, kept->path) &&
			   strstr(now.buf, kept->word);
	int err = has ? read_target(&then, &exists, r, kept->path) : 0;

	if (!err && has && !strstr(then.buf, kept->word))
		strlist_add(&r->guarded, kept->path);
	strbuf_release(&now);
	strbuf_release(&then);
	return err;
}

static int find_guarded(struct restore *r)
{
	const struct restore_kept *kept = r->opts->kept;
	int err = 0;

	strlist_release(&r->guarded);
	for (; kept && kept->path && !err; kept++)
		err = find_if_guarded(r, kept);
	return err;
}

static const char *why_guarded(const struct restore *r, const char *path)
{
	const struct restore_kept *kept = r->opts->kept;

	while (strcmp(kept->path, path) != 0)
		kept++;
	return kept->why;
}

static const char *protects_path(const char *path, enum wt_kind kind, void *payload)
{
	const struct restore *r = payload;

	for (size_t i = 0; i < r->guarded.nr; i++)
		if (!strcmp(r->guarded.items[i], path))
			return why_guarded(r, path);
	return protect_path(path, kind, r->protect);
}

/* What is hidden cannot be written, and what would be is not seen. */
static int keep_phantoms(struct restore *r)
{
	const struct skip_list *skips = &r->job.current.scan->skips;
	int err = 0;

	for (size_t i = 0; i < skips->nr && !err; i++) {
		struct wt_entry *entry = NULL;

		if (skips->items[i].why != SKIP_MOUNT ||
		    !plan_concerns(&r->scope, skips->items[i].path))
			continue;
		err = snapshot_find(&entry, r->target.tree, skips->items[i].path);
		if (!err && entry)
			plan_keep(&r->plan, skips->items[i].path, "hidden by an empty mount");
	}
	return err;
}

static int keep_apart(struct restore *r)
{
	for (size_t i = 0; i < r->guarded.nr; i++)
		if (!plan_keeps(&r->plan, r->guarded.items[i]))
			plan_keep(&r->plan, r->guarded.items[i],
				  why_guarded(r, r->guarded.items[i]));
	return keep_phantoms(r);
}

static bool hides_target(const struct restore *r)
{
	const struct skip_list *skips = &r->job.current.scan->skips;

	for (size_t i = 0; i < skips->nr; i++)
		if (skips->items[i].why == SKIP_MOUNT && plan_keeps(&r->plan, skips->items[i].path))
			return true;
	return false;
}

/* --- the plan --- */

static int make_plan(struct restore *r)
{
	struct compare_side target = { .root = r->target.tree->root,
				       .snapshot = r->target.tree,
				       .modes = &r->target.tree->modes };
	struct compare_side current = { .root = r->job.current.scan->root, .modes = &r->modes };
	struct plan_opts opts = {
		.target = &target,
		.current = &current,
		.paths = &r->scope,
		.made = r->opts->step.made,
		.no_delete = r->opts->no_delete,
		.protect = protects_path,
		.payload = r,
	};
	int err;

	plan_release(&r->plan);
	survey_release(&r->survey);
	modes_release(&r->modes);
	err = modes_of_tree(&r->modes, r->job.current.scan->root);
	if (!err)
		err = find_guarded(r);
	if (!err)
		err = plan_make(&r->plan, &opts);
	if (!err)
		err = keep_apart(r);
	if (!err)
		err = survey_run(&r->survey, &r->plan, &opts, r->job.current.scan->rootfd);
	return err;
}

/* They are about to go, so the safety checkpoint needs their modes. */
static void record_made(struct restore *r)
{
	for (size_t i = 0; r->opts->step.made && i < r->opts->step.made->nr; i++) {
		const struct wt_entry *entry =
			wt_find(r->job.current.scan->root, r->opts->step.made->items[i]);

		if (entry && entry->kind == WT_DIR)
			entry->dir->outside = false;
	}
}

struct worktree_state_opts restore_scan_opts(const struct restore *r)
{
	return (struct worktree_state_opts){
		.scope = &r->scope,
		.include_ignored = r->opts->target->include_ignored,
		.include_sensitive = r->opts->target->include_sensitive,
		.held = r->held.tree ? r->held.tree : r->target.tree,
		.no_limit = true,
		.full = true,
		.also = &r->also,
		.progress = r->opts->progress,
	};
}

/* A composed target goes into the same pack: how much that is must be known before. */
static int reserve_room(struct restore *r)
{
	int err;

	if (!r->opts->composed.make || !r->session->settings.max_size)
		return 0;
	err = worktree_state_read(&r->job.current, NULL);
	if (!err)
		err = restore_compose(r);
	if (!err)
		r->job.more = restore_compose_bytes(r);
	return err;
}

/* `store`: read into the pack of the safety checkpoint; otherwise only compute names. */
static int scan_and_plan(struct restore *r, bool store)
{
	struct worktree_state_opts how = restore_scan_opts(r);
	int err = save_job_scan(&r->job, &how);

	if (!err)
		record_made(r);
	if (!err && store)
		err = reserve_room(r);
	if (!err)
		err = store ? save_job_read(&r->job) : worktree_state_read(&r->job.current, NULL);
	if (err && r->job.no_room)
		err = ckpt_error_prefix(CKPT_EREFUSED, RESTORE_NO_SAFETY);
	if (!err && r->opts->composed.make)
		err = restore_compose(r);
	return err ? err : make_plan(r);
}

/*
 * What exists but is now left out by a rule is captured by name, so that the
 * safety checkpoint has it: what the target has, too, and what the restore
 * that is being undone had restored.
 */
int restore_plan(struct restore *r, bool store)
{
	int err = scan_and_plan(r, store);

	if (!err && r->previous)
		err = restore_find_left_out(&r->also, r->previous, &r->scope, r->job.current.scan);
	if (err)
		return err;
	strlist_extend(&r->also, &r->survey.also);
	strlist_extend(&r->also, &r->survey.dirs);
	strlist_sort_unique(&r->also);
	return r->also.nr ? scan_and_plan(r, store) : 0;
}

/* Directories that are empty in the checkpoint and cannot be read: left alone. */
static int keep_unread(struct restore *r)
{
	int err = 0;

	for (size_t i = 0; i < r->survey.dirs.nr && !err; i++) {
		const char *path = r->survey.dirs.items[i];
		struct wt_entry *entry = NULL;

		err = snapshot_find(&entry, r->target.tree, path);
		if (!err && entry && entry->kind == WT_DIR)
			err = snapshot_expand(r->target.tree, entry->dir);
		if (!err && entry && entry->kind == WT_DIR && !entry->dir->nr)
			plan_keep(&r->plan, path, skip_why_name(SKIP_UNREADABLE));
	}
	return err;
}

static void keep_all(struct restore_result *out, struct restore *r, const struct strlist *paths,
		     const char *why)
{
	for (size_t i = 0; i < paths->nr; i++) {
		plan_keep(&r->plan, paths->items[i], why);
		out->incomplete = true;
	}
}

/* What is in the way and could not be captured even by name. */
static int check_obstacles(struct restore_result *out, struct restore *r)
{
	struct strbuf list = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < r->survey.conflicts.nr; i++)
		strbuf_addf(&list, "%s%s", i ? "\n" : "", r->survey.conflicts.items[i]);
	if (list.len) {
		err = ckpt_error_set(CKPT_EREFUSED, "%s; move it away first", list.buf);
	} else if (r->survey.also.nr && !r->opts->force) {
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' would be overwritten, but cannot be saved first; use --force "
				     "to restore the rest",
				     r->survey.also.items[0]);
	}
	if (!err && r->survey.elsewhere.nr && !r->opts->force)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is on a different file system from the worktree; use --force "
				     "to restore the rest",
				     r->survey.elsewhere.items[0]);
	if (!err && r->survey.denied.nr && !r->opts->force)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' or its directory belongs to another user or is immutable, so "
				     "it cannot be changed; use --force to restore the rest",
				     r->survey.denied.items[0]);
	strbuf_release(&list);
	if (err)
		return err;
	keep_all(out, r, &r->survey.also, "cannot be saved first");
	keep_all(out, r, &r->survey.elsewhere, "another file system");
	keep_all(out, r, &r->survey.denied, "no permission to change it");
	return 0;
}

/* It exists, but in no checkpoint: it can be neither restored nor removed. */
static int refuse_absent(const struct restore *r, const char *path)
{
	const struct skip_list *skips = &r->job.current.scan->skips;
	const char *id = r->opts->target->id;

	for (size_t i = 0; i < skips->nr; i++)
		if (path_below(path, skips->items[i].path))
			return ckpt_error_set(CKPT_ENOTFOUND,
					      "'%s' is not in checkpoint '%s' and stays as it is (%s)", path,
					      id, skip_why_name(skips->items[i].why));
	return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is neither in the worktree nor in checkpoint '%s'",
			      path, id);
}

/* Only what was typed for this restore; remembered paths may have changed since. */
static int check_paths_exist(struct restore *r)
{
	if (r->opts->kind != JOURNAL_RESTORE || r->opts->step.interrupted || r->opts->composed.make)
		return 0;
	for (size_t i = 0; i < r->opts->paths->nr; i++) {
		const char *path = r->opts->paths->items[i];
		struct wt_entry *entry = NULL;
		int err = snapshot_find(&entry, r->target.tree, path);

		if (err)
			return err;
		if (entry || !*path)
			continue;
		if (!wt_find(r->job.current.scan->root, path))
			return refuse_absent(r, path);
	}
	return 0;
}

int restore_check_plan(struct restore_result *out, struct restore *r)
{
	int err = check_paths_exist(r);

	out->incomplete = out->incomplete || hides_target(r);
	if (!err)
		err = check_obstacles(out, r);
	if (!err)
		err = keep_unread(r);
	if (!err)
		restore_compose_touched(r);
	if (!err && (r->scope.nr || r->touched.nr))
		plan_list_made(&r->made, &r->plan, r->touched.nr ? &r->touched : &r->scope);
	return err;
}

/* --- what the user has agreed to --- */

bool restore_has_nothing_to_do(const struct restore_result *result)
{
	return plan_is_empty(&result->plan) && !result->git.says.nr;
}

static char *row_key(const struct plan_row *row)
{
	return xstrfmt("%d %s", (int)row->effect, row->path);
}

/* No row has a key like this: they begin with a number. */
static char *line_key(const char *line)
{
	return xstrfmt("git %s", line);
}

static bool has_agreed_line(const struct strlist *agreed, const char *line)
{
	char *key = line_key(line);
	bool found = pathset_has(agreed, key);

	free(key);
	return found;
}

bool restore_line_is_new(const struct restore_result *preview, const char *line)
{
	return !preview->agreed || !has_agreed_line(preview->agreed, line);
}

static bool is_agreed(const struct strlist *agreed, const struct plan_row *row)
{
	char *key = row_key(row);
	bool found = pathset_has(agreed, key);

	free(key);
	return found;
}

bool restore_row_is_new(const struct restore_result *preview, const struct plan_row *row)
{
	return !preview->agreed || !is_agreed(preview->agreed, row);
}

bool restore_has_grown(const struct plan *plan, const struct gitback_told *git,
		       const struct strlist *agreed)
{
	for (size_t i = 0; i < plan->rows_nr; i++)
		if (!is_agreed(agreed, &plan->rows[i]))
			return true;
	for (size_t i = 0; i < git->says.nr; i++)
		if (!has_agreed_line(agreed, git->says.items[i]))
			return true;
	return false;
}

void restore_agree(struct strlist *agreed, const struct restore_result *preview)
{
	for (size_t i = 0; i < preview->plan.rows_nr; i++)
		strlist_take(agreed, row_key(&preview->plan.rows[i]));
	for (size_t i = 0; i < preview->git.says.nr; i++)
		strlist_take(agreed, line_key(preview->git.says.items[i]));
	strlist_sort_unique(agreed);
}

/* --- what the user should know --- */

static void warn_kept(struct strlist *out, const struct plan *plan)
{
	struct strbuf quoted = STRBUF_INIT;

	for (size_t i = 0; i < plan->kept_nr; i++) {
		strbuf_reset(&quoted);
		quote_path(&quoted, plan->kept[i].path);
		strlist_addf(out, "Kept: %s (%s)", quoted.buf, plan->kept[i].why);
	}
	strbuf_release(&quoted);
}

/* What kept changing was saved as it was read last; if it changes again, it is left alone. */
static void warn_skips(struct restore_result *out, const struct plan *plan,
		       const struct skip_list *skips, const struct wt_dir *root)
{
	struct strbuf quoted = STRBUF_INIT;

	for (size_t i = 0; i < skips->nr; i++) {
		if (!skip_why_incomplete(skips->items[i].why) || wt_find(root, skips->items[i].path))
			continue;
		out->incomplete = true;
		if (plan_keeps(plan, skips->items[i].path))
			continue; /* said already */
		strbuf_reset(&quoted);
		quote_path(&quoted, skips->items[i].path);
		strlist_addf(&out->warnings, "Kept: %s (%s)", quoted.buf,
			     skip_why_name(skips->items[i].why));
	}
	strbuf_release(&quoted);
}

/* What is left as it is of the project's repository, and of those within the worktree. */
static void tell_left(struct restore_result *out, const struct restore *r)
{
	const struct restore_opts *opts = r->opts;
	const struct nested_list *list = &r->target.meta.nested;

	/* What is composed has the repository as it is. */
	if (!*opts->target->composed_for)
		gitleft_tell(&out->head, &r->job.git, opts->target, opts->git.what, opts->paths->nr);
	for (size_t i = 0; i < list->nr; i++) {
		const char *path = list->items[i].path;
		struct gitleft left = { STRLIST_INIT, STRLIST_INIT };

		if (plan_concerns(opts->paths, path))
			gitleft_tell_nested(&left, r->session, &list->items[i],
					    opts->paths->nr && !pathset_covers(opts->paths, path));
		if (!left.says.nr)
			continue;
		*ALLOC_NEXT(out->nested, out->nested_nr, out->nested_alloc) = left;
	}
}

void restore_warn(struct restore_result *out, struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;

	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds only state: no file is touched",
			     target->id);
		return;
	}
	tell_left(out, r);
	strlist_extend(&out->warnings, &r->job.current.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.current.scan->skips, r->job.current.scan->root);
}
