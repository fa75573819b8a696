/* SPDX-License-Identifier: MIT */
#include "ops/restore_run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fsio.h"
#include "ops/apply.h"
#include "ops/session.h"
#include "record/audit.h"
#include "record/journal.h"
#include "record/snapshot.h"
#include "store/objects.h"
#include "store/store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void restore_result_release(struct restore_result *result)
{
	plan_release(&result->plan);
	strlist_release(&result->warnings);
}

int restore_check_settled(struct session *session)
{
	if (!session->store || !journal_exists(session->store))
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "a restore was interrupted; 'git checkpoint restore --continue' finishes "
			      "it, 'git checkpoint restore --abort' goes back to the state before it");
}

/* --- the plan --- */

static int make_plan(struct restore *r)
{
	struct compare_side target = { .root = r->target->root,
				       .snapshot = r->target,
				       .modes = &r->target->modes };
	struct compare_side current = { .root = r->job.capture.scan->root, .modes = &r->modes };
	struct plan_opts opts = {
		.target = &target,
		.current = &current,
		.paths = &r->scope,
		.no_delete = r->opts->no_delete,
		.protect = protect_path,
		.payload = r->protect,
	};
	struct strbuf modes = STRBUF_INIT;
	int err;

	plan_release(&r->plan);
	survey_release(&r->survey);
	modes_release(&r->modes);
	modes_encode(&modes, r->job.capture.scan->root);
	err = modes_parse(&r->modes, modes.buf, modes.len);
	strbuf_release(&modes);
	if (!err)
		err = plan_make(&r->plan, &opts);
	if (!err)
		err = survey_run(&r->survey, &r->plan, &opts, r->job.capture.scan->rootfd);
	return err;
}

/* `store`: read into the pack of the safety checkpoint; else only name what is there. */
static int scan_and_plan(struct restore *r, bool store)
{
	struct capture_opts capture = {
		.scope = &r->scope,
		.include_ignored = r->opts->target->include_ignored,
		.include_sensitive = r->opts->target->include_sensitive,
		.no_limit = true,
		.also = &r->also,
		.progress = r->opts->progress,
	};
	int err = save_job_scan(&r->job, &capture);

	if (!err)
		err = store ? save_job_read(&r->job) : capture_read(&r->job.capture, NULL);
	return err ? err : make_plan(r);
}

/*
 * Files of the checkpoint that are there but that a rule leaves out now are
 * captured by name, so that the safety checkpoint has them.
 */
static int plan_restore(struct restore *r, bool store)
{
	int err = scan_and_plan(r, store);

	if (err || !r->survey.also.nr)
		return err;
	strlist_extend(&r->also, &r->survey.also);
	strlist_sort_unique(&r->also);
	return scan_and_plan(r, store);
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
				     "'%s' would be overwritten but cannot be saved before; use --force "
				     "to restore all the rest",
				     r->survey.also.items[0]);
	}
	for (size_t i = 0; i < r->survey.also.nr && !err; i++) {
		plan_keep(&r->plan, r->survey.also.items[i], "cannot be saved before");
		out->incomplete = true;
	}
	strbuf_release(&list);
	return err;
}

static int check_paths_exist(struct restore *r)
{
	for (size_t i = 0; i < r->opts->paths->nr; i++) {
		const char *path = r->opts->paths->items[i];
		struct wt_entry *entry = NULL;
		int err = snapshot_find(&entry, r->target, path);

		if (err)
			return err;
		if (entry || !*path)
			continue;
		if (!wt_find(r->job.capture.scan->root, path))
			return ckpt_error_set(CKPT_ENOTFOUND,
					      "'%s' is neither in the worktree nor in checkpoint %s",
					      path, r->opts->target->id);
	}
	return 0;
}

/* --- doing it --- */

static int begin_journal(struct restore *r, const char *safety)
{
	struct journal journal = { 0 };
	char *staging;
	int err;

	/* Whatever settles an interrupted restore: its two ends stay those it had. */
	if (r->opts->interrupted) {
		err = journal_read(&journal, r->session->store);
		if (err)
			return err;
		staging = xstrfmt("%s %s", journal.staging, r->stage.name);
		free(journal.staging);
		journal.staging = staging;
		err = journal_write(&journal, r->session->store);
		journal_release(&journal);
		return err;
	}
	snprintf(journal.target, sizeof(journal.target), "%s", r->opts->target->id);
	snprintf(journal.safety, sizeof(journal.safety), "%s", safety);
	journal.kind = xstrdup(r->opts->kind);
	journal.staging = xstrdup(r->stage.name);
	journal.reason = xstrdup(r->opts->reason ? r->opts->reason : "");
	strlist_extend(&journal.paths, r->opts->paths);
	journal.no_delete = r->opts->no_delete;
	err = journal_write(&journal, r->session->store);
	journal_release(&journal);
	return err;
}

static int stage_plan(struct restore *r)
{
	struct stage_opts opts = {
		.store = r->session->store,
		.plan = &r->plan,
		.paths = &r->scope,
		.threads = r->session->threads,
		.progress = r->opts->progress,
	};
	unsigned long long token;
	char name[64];
	int err;

	if (getrandom(&token, sizeof(token), 0) != sizeof(token))
		return ckpt_error_errno("unable to get random bytes");
	snprintf(name, sizeof(name), CAPTURE_STAGING_PREFIX "%016llx", token);
	err = stage_fill(&r->stage, r->job.capture.scan->rootfd, name, &opts);
	if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND)
		err = ckpt_error_prefix(CKPT_ECORRUPT, "checkpoint %s is damaged",
					r->opts->target->id);
	return err;
}

/*
 * Move on the stack that undo and redo walk. Done again after an interruption,
 * so what stands there already is not put there twice.
 */
static int note_restore(struct restore *r, const char *safety)
{
	const char *before = r->opts->interrupted ? r->opts->interrupted->id : safety;
	struct undo_stack stack;
	struct undo_entry *entry;
	int err;

	undo_read(&stack, r->session->store);
	if (!strcmp(r->opts->kind, "undo")) {
		entry = stack.done ? &stack.items[stack.done - 1] : NULL;
		if (entry && !strcmp(entry->before, r->opts->target->id)) {
			snprintf(entry->after, sizeof(entry->after), "%s", before);
			stack.done--;
		}
	} else if (!strcmp(r->opts->kind, "redo")) {
		entry = stack.done < stack.nr ? &stack.items[stack.done] : NULL;
		if (entry && !strcmp(entry->after, r->opts->target->id)) {
			snprintf(entry->before, sizeof(entry->before), "%s", before);
			snprintf(entry->restored, sizeof(entry->restored), "%s", entry->after);
			stack.done++;
		}
	} else if (!plan_is_empty(&r->plan) || r->opts->interrupted) {
		entry = stack.done ? &stack.items[stack.done - 1] : NULL;
		if (!entry || strcmp(entry->before, before) || !r->opts->interrupted)
			undo_push(&stack, before, r->opts->target->id, &r->scope);
	}
	err = undo_write(&stack, r->session->store);
	undo_release(&stack);
	return err;
}

/* What interrupted restores had prepared, and what they had displaced. */
static int settle_staging(struct restore_result *out, struct restore *r)
{
	DIR *dir = opendir(r->session->worktree);
	struct strbuf rescued = STRBUF_INIT;
	struct journal journal;
	struct dirent *ent;
	int err = journal_read(&journal, r->session->store);

	while (dir && !err && (ent = readdir(dir))) {
		if (!stage_is_name(ent->d_name))
			continue;
		/* One that the journal does not know was never used, perhaps not even filled. */
		if (!strstr(journal.staging, ent->d_name)) {
			err = fs_remove_tree(dirfd(dir), ent->d_name);
			continue;
		}
		strbuf_reset(&rescued);
		err = stage_settle(&rescued, r->session->store, dirfd(dir), ent->d_name);
		if (!err && rescued.len) {
			strlist_addf(&out->warnings, "Kept: %s (files that are in no checkpoint, from the "
						     "instant of the interruption)",
				     rescued.buf);
			out->incomplete = true;
		}
	}
	if (dir)
		closedir(dir);
	journal_release(&journal);
	strbuf_release(&rescued);
	return err;
}

/* Behind the journal: from here on an interruption has to be continued or undone. */
static int carry_out(struct restore_result *out, struct restore *r)
{
	struct strlist changed = STRLIST_INIT;
	int err = apply_run(&changed, &r->stage, &r->plan);

	for (size_t i = 0; i < changed.nr; i++)
		strlist_addf(&out->warnings, "%s changed while it was to be restored and was left as it is",
			     changed.items[i]);
	out->incomplete = out->incomplete || changed.nr;
	strlist_release(&changed);
	if (!err)
		err = stage_remove(&r->stage);
	if (!err && !r->opts->no_verify)
		err = restore_verify(out, r);
	if (!err && r->opts->interrupted)
		err = settle_staging(out, r);
	if (!err && !r->opts->abort)
		err = note_restore(r, out->safety);
	if (!err)
		err = journal_remove(r->session->store);
	return err ? ckpt_error_prefix(err, "the restore stopped half-way, nothing is lost; 'git "
					    "checkpoint restore --continue' when that is mended, or "
					    "'--abort'") :
		     0;
}

static int make_safety(struct restore_result *out, struct restore *r)
{
	struct save_result saved;
	int err = save_job_commit(&saved, &r->job);

	if (err)
		return ckpt_error_prefix(CKPT_EREFUSED, "no safety checkpoint could be taken, nothing "
							"was touched");
	snprintf(out->safety, sizeof(out->safety), "%s", saved.record.id);
	out->safety_commit = saved.record.commit;
	save_result_release(&saved);
	return 0;
}

/* What does not matter enough to hide the failure before it. */
static int clean_up(struct restore_result *out, struct restore *r, int err, bool begun)
{
	struct store *store = r->session->store;
	char *message = err ? xstrdup(ckpt_error_last()) : NULL;

	if (err && !begun) {
		(void)stage_remove(&r->stage);
		if (!r->opts->interrupted)
			(void)journal_remove(store);
	} else {
		(void)ckpt_audit_add(store, err ? "restore-interrupted" : r->opts->kind,
				     r->opts->target->id, &r->opts->target->commit,
				     r->opts->reason ? r->opts->reason : r->opts->target->reason,
				     out->verified ? out->post_hash : NULL);
	}
	if (err)
		ckpt_error_set(err, "%s", message);
	free(message);
	return err;
}

static int drop_piece(const void *data, size_t len, void *payload)
{
	(void)data;
	(void)len;
	(void)payload;
	return 0;
}

static int read_back(struct store *store, const struct wt_entry *entry)
{
	int err = 0;

	if (entry->kind != WT_DIR)
		return objects_stream(store, &entry->oid, drop_piece, NULL);
	for (size_t i = 0; i < entry->dir->nr && !err; i++)
		err = read_back(store, &entry->dir->entries[i]);
	return err;
}

/*
 * What is about to go must be readable in the safety checkpoint, also where it
 * was stored long ago: a copy may have gone bad since.
 */
static int check_safety(struct restore *r)
{
	struct store *store = r->session->store;
	int err = objects_reopen(store);

	for (size_t i = 0; i < r->plan.nr && !err; i++) {
		const struct plan_action *action = &r->plan.actions[i];

		if (!action->current || action->kind == PLAN_CHMOD || action->kind == PLAN_RMDIR)
			continue;
		err = read_back(store, action->current);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(CKPT_EREFUSED,
						"'%s' cannot be read back from the safety checkpoint, "
						"nothing was touched",
						action->path);
	}
	return err;
}

/* Nothing is touched, so nothing has to be saved before: the newest checkpoint is as good. */
static int execute_nothing(struct restore_result *out, struct restore *r)
{
	const struct ref_list *refs = &r->job.refs;

	snprintf(out->safety, sizeof(out->safety), "%s", refs->items[refs->nr - 1].id);
	out->safety_commit = refs->items[refs->nr - 1].commit;
	return r->opts->no_verify ? 0 : restore_verify(out, r);
}

static int execute(struct restore_result *out, struct restore *r)
{
	int err;

	if (plan_is_empty(&r->plan) && !strcmp(r->opts->kind, "restore") && !r->opts->interrupted)
		return execute_nothing(out, r);
	err = stage_plan(r);
	if (!err)
		err = make_safety(out, r);
	if (!err)
		err = check_safety(r);
	if (!err)
		err = begin_journal(r, out->safety);
	if (err)
		return clean_up(out, r, err, false);
	return clean_up(out, r, carry_out(out, r), true);
}

static int open_restore(struct restore *r, struct session *session, const struct restore_opts *opts)
{
	static const struct strlist nothing = STRLIST_INIT;
	int err;

	memset(r, 0, sizeof(*r));
	r->session = session;
	r->opts = opts;
	r->stage.fd = -1;
	strlist_extend(&r->scope, opts->paths->nr ? opts->paths : &opts->target->scope);
	if (r->scope.nr == 1 && !*r->scope.items[0])
		strlist_release(&r->scope);
	r->safety = (struct save_opts){
		.reason = opts->paths->nr ? "pre-restore-safety-file" : "pre-restore-safety",
		.source = "checkpoint",
		.step = -1,
		.include_ignored = opts->target->include_ignored,
		.include_sensitive = opts->target->include_sensitive,
		.scope = r->scope.nr ? &r->scope : &nothing,
		.progress = opts->progress,
	};
	err = save_job_begin(&r->job, session, &r->safety);
	if (!err)
		err = snapshot_open(&r->target, session->store, opts->target);
	if (!err)
		err = protect_new(&r->protect, session);
	if (!err)
		err = protect_add(r->protect, opts->target);
	if (!err && opts->interrupted)
		err = protect_add(r->protect, opts->interrupted);
	if (!err && opts->previous)
		err = protect_exempt(r->protect, opts->previous);
	return err;
}

static void close_restore(struct restore *r)
{
	stage_close(&r->stage);
	plan_release(&r->plan);
	survey_release(&r->survey);
	modes_release(&r->modes);
	protect_free(r->protect);
	snapshot_free(r->target);
	save_job_end(&r->job);
	store_unlock(r->session->store);
	strlist_release(&r->scope);
	strlist_release(&r->also);
}

/* Everything up to the point where something would be touched. */
static int prepare(struct restore_result *out, struct restore *r, bool store)
{
	struct check check = restore_check(r);
	int err = plan_restore(r, store);

	if (!err)
		err = check_paths_exist(r);
	if (!err)
		err = check_obstacles(out, r);
	if (!err)
		err = check_target(out->target_hash, &check);
	if (!err)
		err = check_worktree(out->pre_hash, &check, r->job.capture.scan->root);
	return err;
}

/* What is left of the plan when the trees that it points into are gone. */
static void keep_rows(struct restore_result *out, struct restore *r)
{
	out->plan = r->plan;
	memset(&r->plan, 0, sizeof(r->plan));
	for (size_t i = 0; i < out->plan.nr; i++)
		out->plan.actions[i].target = out->plan.actions[i].current = NULL;
}

static int ask(struct session *session, const struct restore_opts *opts)
{
	struct restore_result preview = { 0 };
	struct restore r;
	int err = open_restore(&r, session, opts);

	if (!err)
		err = prepare(&preview, &r, false);
	if (!err)
		keep_rows(&preview, &r);
	close_restore(&r); /* nobody shall wait for the lock while somebody thinks */
	if (!err)
		err = opts->confirm(&preview.plan, opts->payload);
	restore_result_release(&preview);
	return err;
}

int ckpt_restore(struct restore_result *out, struct session *session,
		 const struct restore_opts *opts)
{
	struct restore r;
	int err = opts->interrupted ? 0 : restore_check_settled(session);

	memset(out, 0, sizeof(*out));
	if (!err && opts->confirm && !opts->dry_run)
		err = ask(session, opts);
	if (err)
		return err;
	err = open_restore(&r, session, opts);
	if (!err && !opts->interrupted)
		err = restore_check_settled(session); /* now with the lock */
	if (!err)
		err = prepare(out, &r, !opts->dry_run);
	if (!err)
		restore_warn(out, &r);
	if (!err && !opts->dry_run) {
		err = execute(out, &r);
		out->done = !err;
	}
	if (!err)
		keep_rows(out, &r);
	close_restore(&r);
	if (err)
		restore_result_release(out);
	return err;
}
