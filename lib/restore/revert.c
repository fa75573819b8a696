/* SPDX-License-Identifier: MIT */
#include "restore/revert_internal.h"

#include "restore/restore_internal.h"
#include "session/session.h"
#include "turns/turns.h"

void revert_keep(struct revert_job *job, const char *path, const char *why)
{
	compose_conflict(job->compose, path, why);
	strlist_add(&job->conflict, path);
}

void revert_widen(struct ckpt_record *target, const struct ckpt_record *to)
{
	target->include_ignored |= to->include_ignored;
	target->include_sensitive |= to->include_sensitive;
	/* A file may have been renamed to anywhere. */
	if (target->scope.nr && to->scope.nr)
		strlist_extend(&target->scope, &to->scope);
	else
		strlist_release(&target->scope);
	strlist_sort_unique(&target->scope);
}

/* --- renames --- */

static int look_since(struct revert_job *job)
{
	struct compare_side before = { .root = job->to->root,
				       .snapshot = job->to,
				       .modes = &job->to->modes };
	struct compare_side after = { .root = compose_root(job->compose) };
	struct modes modes = { 0 };
	bool too_many; /* then fewer are found, and more is in conflict */
	int err;

	job->have_since = true;
	job->since.session = job->revert->session;
	job->since.as_merge = true;
	job->since.old = job->to;
	job->since.current = *compose_state(job->compose);
	err = modes_of_tree(&modes, after.root);
	after.modes = &modes;
	if (!err)
		err = compare_run(&job->since.changes, &before, &after, NULL);
	if (!err)
		err = renames_find(&job->since, RENAMES_SCORE_USUAL, &too_many);
	modes_release(&modes);
	return err;
}

int revert_renamed(const char **out, struct revert_job *job, const char *path)
{
	const struct compare_list *changes = &job->since.changes;
	int err = job->have_since ? 0 : look_since(job);

	*out = NULL;
	for (size_t i = 0; i < changes->nr && !err && !*out; i++)
		if (changes->items[i].kind == CHANGE_RENAMED &&
		    !strcmp(changes->items[i].from, path))
			*out = changes->items[i].path;
	return err;
}

/* --- directories, which merges of git know nothing of --- */

static int remove_dir(struct revert_job *job, const struct change *change,
		      const struct wt_entry *now)
{
	if (!now || now->kind != WT_DIR || now->dir->nr)
		return 0; /* it is gone, or in use for something else by now */
	if ((0040000u | now->mode) != change->old_mode) {
		revert_keep(job, change->path, job->revert->pick
						       ? "modify/delete: deleted by it, changed here"
						       : "modify/delete: created by it, changed since");
		return 0;
	}
	return revert_remove(job, change->path);
}

static int make_dir(struct revert_job *job, const struct change *change, const struct wt_entry *now)
{
	int err;

	if ((now && now->kind == WT_DIR) || !revert_has_room(job, change->path))
		return 0;
	err = revert_make_parents(job, change->path);
	if (!err)
		compose_put_dir(job->compose, change->path, change->new_mode & 07777);
	return err;
}

static int merge_dir(struct revert_job *job, const struct change *change, const struct wt_entry *now)
{
	unsigned mode;

	if (!now)
		revert_keep(job, change->path, "modify/delete: deleted since");
	else if (now->kind != WT_DIR)
		revert_keep(job, change->path, "kind: a file, a link or a directory since");
	else if (!revert_merge_mode(&mode, change->old_mode & 07777, now->mode,
				    change->new_mode & 07777))
		revert_keep(job, change->path, "mode: changed since");
	else if (mode != now->mode)
		compose_set_mode(job->compose, change->path, mode);
	return 0;
}

static int take_dir(struct revert_job *job, const struct change *change)
{
	const struct wt_entry *now = compose_now(job->compose, change->path);

	return change->kind == CHANGE_ADDED	? make_dir(job, change, now)
	       : change->kind == CHANGE_DELETED ? remove_dir(job, change, now)
						: merge_dir(job, change, now);
}

/* --- the order of events --- */

/*
 * The step seems to have created what the checkpoint before it left out: an ignored or a sensitive
 * file for example, which was there all the time. It stays, as it does in a restore.
 */
static bool was_left_out(struct revert_job *job, const struct change *change)
{
	const struct wt_entry *now = compose_now(job->compose, change->path);
	const char *why;

	if (change->kind != CHANGE_DELETED)
		return false;
	why = protect_path(change->path, change->is_dir ? WT_DIR : WT_FILE, job->protect);
	if (why && now) {
		char *text = xstrfmt("protected: %s", why);

		revert_keep(job, change->path, text);
		free(text);
	}
	return why != NULL;
}

static bool is_meant(struct change *change, void *payload)
{
	struct revert_job *job = payload;
	const struct revert *revert = job->revert;

	return compare_in_scope(&revert->from->scope, change->path) &&
	       compare_in_scope(&revert->to->scope, change->path) &&
	       (!revert->only || pathspec_matches(revert->only, change->path, change->is_dir)) &&
	       !was_left_out(job, change);
}

/* One goes, the other comes: each for itself. */
static void split_tangled(struct revert_job *job)
{
	struct compare_list *list = &job->step.changes;

	for (size_t i = 0, nr = list->nr; i < nr; i++) {
		struct change gone = list->items[i];

		if (gone.kind != CHANGE_RENAMED || !revert_is_tangled(job, gone.from, gone.path))
			continue;
		list->items[i].kind = CHANGE_ADDED;
		list->items[i].from = NULL;
		gone.kind = CHANGE_DELETED;
		gone.path = gone.from;
		gone.from = NULL;
		*ALLOC_NEXT(list->items, list->nr, list->alloc) = gone;
	}
}

/* From the later one back to the earlier one. */
static int look_at_step(struct revert_job *job)
{
	struct compare_side before = { .root = job->to->root,
				       .snapshot = job->to,
				       .modes = &job->to->modes };
	struct compare_side after = { .root = job->from->root,
				      .snapshot = job->from,
				      .modes = &job->from->modes };
	bool too_many;
	int err;

	job->step.session = job->revert->session;
	job->step.as_merge = true;
	job->step.old = job->to;
	job->step.new = job->from;
	err = compare_run(&job->step.changes, &before, &after, NULL);
	if (err)
		return err;
	compare_list_filter(&job->step.changes, is_meant, job);
	err = renames_find(&job->step, RENAMES_SCORE_USUAL, &too_many);
	if (!err)
		split_tangled(job);
	return err;
}

/* What goes makes room for what comes. */
static int turn_of(const struct change *change)
{
	return change->kind == CHANGE_ADDED ? 2 : change->kind == CHANGE_RENAMED ? 1 : 0;
}

static int take_all(struct revert_job *job)
{
	const struct compare_list *changes = &job->step.changes;
	int err = 0;

	for (int turn = 0; turn < 3 && !err; turn++)
		for (size_t i = 0; i < changes->nr && !err; i++) {
			const struct change *change = &changes->items[i];

			if (turn_of(change) != turn)
				continue;
			err = cancel_check();
			if (!err)
				err = change->is_dir ? take_dir(job, change)
						     : revert_path(job,
								   change->from ? change->from
										: change->path,
								   change->path);
		}
	/* Something else may have been merged into a file that is in conflict. */
	for (size_t i = 0; i < job->conflict.nr && !err; i++)
		compose_forget(job->compose, job->conflict.items[i], false);
	return err;
}

int revert_compose(struct compose *compose, void *payload)
{
	const struct revert *revert = payload;
	struct revert_job job = { .revert = revert, .compose = compose };
	struct store *store = revert->session->store;
	struct restore_point from = { 0 };
	int err = restore_point_open(&from, store, revert->from);

	job.from = from.tree;
	job.protect = protect_new(revert->session);
	if (!err)
		err = protect_add(job.protect, revert->from, &from.meta, from.tree);
	if (!err)
		err = snapshot_open(&job.to, store, revert->to);
	if (!err)
		err = look_at_step(&job);
	if (!err)
		err = take_all(&job);
	compare_list_release(&job.step.changes);
	compare_list_release(&job.since.changes);
	protect_free(job.protect);
	restore_point_close(&from);
	snapshot_free(job.to);
	strlist_release(&job.removed);
	strlist_release(&job.conflict);
	return err;
}

/* --- which two checkpoints --- */

static int check_files(const struct ckpt_record *from, const struct ckpt_record *to)
{
	const struct ckpt_record *both[] = { from, to };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		if (both[i]->state_only)
			return ckpt_error_set(CKPT_ERROR,
					      "checkpoint '%s' holds only state, no files",
					      both[i]->id);
	return 0;
}

static int find_checkpoint(struct ckpt_record *out, struct session *session, const char *name, size_t len)
{
	char *copy = xmemdupz(name, len);
	int err = session_lookup(out, session->store, copy);

	free(copy);
	return err;
}

static int find_newest(struct ckpt_record *out, struct session *session)
{
	struct ref_list refs;
	int err = refs_list(&refs, session->store);

	if (!err)
		err = lookup_latest(out, session->store, &refs);
	refs_release(&refs);
	return err;
}

int revert_range(struct ckpt_record *from, struct ckpt_record *to, struct session *session,
		 const char *typed)
{
	const char *dots = strstr(typed, "..");
	struct turn_range turn = TURN_RANGE_INIT;
	int err;

	*from = *to = (struct ckpt_record)CKPT_RECORD_INIT;
	if (!dots && turns_is_turn(typed)) {
		/* What a coding agent did from one prompt to the next: the caller's then. */
		err = turns_range(&turn, session->store, typed);
		*from = turn.begin;
		*to = turn.end;
	} else if (!dots) {
		err = session_lookup(to, session->store, typed);
		if (!err)
			err = diff_base(from, session, to);
		if (err == CKPT_ENOTFOUND && *to->id) {
			char *text = diff_no_base(session, to, "revert");

			err = ckpt_error_set(err, "%s", text);
			free(text);
		}
	} else if (dots == typed) {
		err = ckpt_error_set(CKPT_EUSAGE,
				     "'%s' does not say where to begin; name a checkpoint before '..'",
				     typed);
	} else if (dots[2] == '.') {
		err = ckpt_error_set(CKPT_EUSAGE, "'%s' is not a range; write '<a>..<b>'", typed);
	} else {
		err = find_checkpoint(from, session, typed, (size_t)(dots - typed));
		if (!err)
			err = dots[2] ? session_lookup(to, session->store, dots + 2)
				      : find_newest(to, session);
	}
	return err ? err : check_files(from, to);
}
