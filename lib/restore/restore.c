/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "keep/keep.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

void restore_result_release(struct restore_result *result)
{
	plan_release(&result->plan);
	strlist_release(&result->warnings);
	strlist_release(&result->differing);
	gitleft_release(&result->head);
	gitback_told_release(&result->git);
	for (size_t i = 0; i < result->nested_nr; i++)
		gitleft_release(&result->nested[i]);
	free(result->nested);
	capture_outcomes_release(&result->captures);
	for (size_t i = 0; i < result->conflicts_nr; i++) {
		free(result->conflicts[i].path);
		free(result->conflicts[i].why);
	}
	free(result->conflicts);
}

static int refuse_unsettled(void)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "a restore was interrupted; 'git checkpoint restore --continue' finishes "
			      "it, 'git checkpoint restore --abort' goes back to the state before it");
}

int restore_check_settled(struct session *session)
{
	return session->store && journal_is_left(session->store) ? refuse_unsettled() : 0;
}

/* The composed target must not be taken for garbage. A failure is found, and reported, later. */
static void store_composed(const struct ckpt_record *record, void *payload)
{
	(void)record;
	(void)restore_compose_store(payload);
}

static void init_restore(struct restore *r, struct session *session,
			 const struct restore_opts *opts)
{
	static const struct strlist nothing = STRLIST_INIT;

	memset(r, 0, sizeof(*r));
	r->session = session;
	r->opts = opts;
	restore_compose_init(r);
	opts = r->opts;
	r->stage.fd = -1;
	strlist_extend(&r->scope, opts->paths->nr ? opts->paths : &opts->target->scope);
	/* The root, which is sorted before all others, covers them. */
	if (r->scope.nr && !*r->scope.items[0])
		strlist_release(&r->scope);
	if (opts->also)
		strlist_extend(&r->also, opts->also);
	strlist_add(&r->keep, r->leads_to->id);
	if (opts->interrupted)
		strlist_add(&r->keep, opts->interrupted->id);
	if (opts->previous)
		strlist_add(&r->keep, opts->previous->id);
	r->safety = (struct save_opts){
		.reason = opts->paths->nr ? "pre-restore-safety-file" : "pre-restore-safety",
		.source = "checkpoint",
		.safety_for = target_name(opts->target),
		/* What is about to be done is not a restore of that checkpoint. */
		.before = opts->compose ? opts->reason : NULL,
		.step = -1,
		.include_ignored = opts->target->include_ignored,
		.include_sensitive = opts->target->include_sensitive,
		.extras = { .captures = &r->captures.replayed, .no_auto = true, .exact = true },
		.state_only = opts->target->state_only,
		.cache_later = !opts->no_verify && !*opts->target->composed_for,
		.taken = opts->compose ? store_composed : NULL,
		.taken_payload = r,
		.keep = &r->keep,
		.scope = r->scope.nr ? &r->scope : &nothing,
		.progress = opts->progress,
	};
	r->git = (struct gitback){
		.session = session,
		.target = opts->target,
		.opts = opts->git,
		.kind = opts->kind,
		.journal = &r->journal,
		.interrupted = opts->interrupted,
		.force = opts->force,
	};
}

/*
 * Whether a restore was interrupted is certain only with the lock. The one to
 * finish must be the one that was read without it.
 */
static int check_journal(struct restore *r)
{
	const struct journal *seen = r->opts->journal;
	int err;

	if (!r->opts->interrupted)
		return r->job.interrupted ? refuse_unsettled() : 0;
	if (!r->job.interrupted)
		return ckpt_error_set(CKPT_ENOTFOUND, "the restore has been finished meanwhile");
	err = journal_read(&r->journal, r->session->store);
	if (!err &&
	    (strcmp(r->journal.safety, seen->safety) || strcmp(r->journal.target, seen->target) ||
	     strcmp(r->journal.stages, seen->stages)))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "the interrupted restore was finished meanwhile, and another one was "
				     "interrupted; nothing was touched");
	return err;
}

/* Open the checkpoints that decide what may go. */
static int open_points(struct restore *r)
{
	const struct restore_opts *opts = r->opts;
	struct store *store = r->session->store;
	int err;

	if (!target_exists(store, r->leads_to->id) && !fetched_exists(store, r->leads_to->id))
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was dropped meanwhile",
				      target_name(r->leads_to));
	r->protect = protect_new(r->session);
	/* What a composed target lacks of the worktree is meant to go. */
	if (opts->compose)
		return restore_point_open(&r->held, store, r->leads_to);
	err = restore_point_open(&r->target, store, opts->target);
	if (!err)
		err = protect_add(r->protect, opts->target, &r->target.meta, r->target.tree);
	/* Aborting means going back to exactly that state. */
	if (!err && opts->interrupted && strcmp(opts->interrupted->id, opts->target->id)) {
		err = restore_point_open(&r->interrupted, store, opts->interrupted);
		if (!err)
			err = protect_add(r->protect, opts->interrupted, &r->interrupted.meta,
					  r->interrupted.tree);
	}
	/* It is not held for us: it may have gone while we waited for the lock. */
	if (!err && opts->previous && target_exists(store, opts->previous->id))
		err = snapshot_open(&r->previous, store, opts->previous);
	if (!err)
		protect_exempt(r->protect, r->previous);
	return err;
}

/*
 * Not for named paths: undo and redo of such a restore lead to checkpoints without captures, since a
 * safety checkpoint takes exactly what is restored. Going back before anything was restored needs none
 * either.
 */
static bool restores_captures(const struct restore *r)
{
	if (journal_kind_is_new(r->opts->kind) && r->opts->paths->nr)
		return false;
	return !r->opts->abort || r->journal.replaying;
}

static int open_restore(struct restore *r, struct session *session, const struct restore_opts *opts)
{
	int err;

	init_restore(r, session, opts);
	err = save_job_begin(&r->job, session, &r->safety);
	if (!err)
		err = check_journal(r);
	if (!err)
		err = open_points(r);
	if (!err && restores_captures(r))
		err = capture_back_open(&r->captures, session, &r->target.meta);
	return err;
}

static void close_restore(struct restore *r)
{
	capture_back_close(&r->captures);
	stage_close(&r->stage);
	plan_release(&r->plan);
	survey_release(&r->survey);
	modes_release(&r->modes);
	protect_free(r->protect);
	snapshot_free(r->previous);
	restore_point_close(&r->interrupted);
	restore_point_close(&r->target);
	restore_compose_release(r);
	journal_release(&r->journal);
	journal_undo_release(&r->undo);
	gitback_release(&r->git);
	save_job_end(&r->job);
	store_unlock(r->session->store);
	strlist_release(&r->scope);
	strlist_release(&r->also);
	strlist_release(&r->guarded);
	strlist_release(&r->made);
	strlist_release(&r->keep);
}

/* Make sure that they can be read, and take the same ones for the safety checkpoint. */
static int save_captures(struct restore_result *out, struct restore *r)
{
	struct save_job *job = &r->job;
	int err = capture_check(r->session, &r->captures.captures, NULL);

	if (err == CKPT_ECANCELLED)
		return err;
	if (err)
		return ckpt_error_prefix(CKPT_ECORRUPT, "checkpoint '%s' is damaged",
					 r->opts->target->id);
	err = extras_take(&job->extras, &job->meta, &job->notes, r->session, &r->safety.extras);
	if (!err || err == CKPT_ECANCELLED)
		return err;
	if (!r->journal.replaying)
		return ckpt_error_prefix(CKPT_EREFUSED, RESTORE_NO_SAFETY);
	/*
	 * Half restored, it may not be in a state to be saved; the state before is in a checkpoint.
	 */
	strlist_addf(&out->warnings, "the current state could not be saved: %s", ckpt_error_last());
	extras_release(&job->extras);
	record_captures_release(&job->meta.captures);
	return 0;
}

static void plan_captures(struct restore_result *out, struct restore *r)
{
	strlist_release(&r->plan.captures);
	strlist_extend(&r->plan.captures, &r->captures.replayed);
	capture_back_plan(&out->captures, &out->warnings, &r->captures);
}

/* Without files there is little to plan. */
static int prepare_state_only(struct restore_result *out, struct restore *r, bool store)
{
	if (r->opts->paths->nr)
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' holds only state, no files",
				      r->opts->target->id);
	if (r->opts->git.what != JOURNAL_FILES)
		return ckpt_error_set(CKPT_ERROR,
				      "checkpoint '%s' holds only state: nothing of the repository",
				      r->opts->target->id);
	memcpy(out->target_hash, r->opts->target->state_hash, sizeof(out->target_hash));
	memcpy(out->pre_hash, out->target_hash, sizeof(out->pre_hash));
	return store ? save_job_read(&r->job) : 0;
}

/* Everything up to the point where something would be touched. */
static int prepare(struct restore_result *out, struct restore *r, bool store)
{
	struct restore_hash check;
	bool whole = false;
	/* First, since nothing else is refused as quickly. */
	int err = restore_is_state_only(r) ? 0 : gitback_plan(&out->git, &r->git);

	if (!err && store)
		err = save_captures(out, r);
	if (!err && restore_is_state_only(r)) {
		err = prepare_state_only(out, r, store);
		plan_captures(out, r);
		return err;
	}
	if (!err)
		err = restore_plan(r, store);
	if (!err)
		err = restore_check_plan(out, r);
	if (!err)
		restore_compose_say(out, r);
	check = restore_hash_init(r);
	if (!err)
		err = restore_hash_target(out->target_hash, &check);
	if (!err)
		restore_hash_worktree(out->pre_hash, &whole, &check, r->job.current.scan->root);
	if (!err && whole)
		memcpy(r->job.state_hash, out->pre_hash, sizeof(out->pre_hash));
	if (!err)
		plan_captures(out, r);
	return err;
}

/* What is left of the plan when its trees are gone. */
static void keep_rows(struct restore_result *out, struct restore *r)
{
	plan_note_whole(&r->plan, &r->scope);
	out->plan = r->plan;
	memset(&r->plan, 0, sizeof(r->plan));
	for (size_t i = 0; i < out->plan.nr; i++)
		out->plan.actions[i].target = out->plan.actions[i].current = NULL;
}

/* Show the plan and ask; what the user agrees to is added to `agreed`, sorted. */
static int ask(struct strlist *agreed, struct session *session, const struct restore_opts *opts)
{
	struct restore_result preview = { 0 };
	struct restore r;
	int err = open_restore(&r, session, opts);

	if (!err)
		err = prepare(&preview, &r, false);
	if (!err)
		err = restore_compose_patches(&r);
	if (!err)
		restore_warn(&preview, &r);
	if (!err)
		keep_rows(&preview, &r);
	close_restore(&r); /* no process shall wait for the lock while the user thinks */
	if (!err) {
		preview.agreed = agreed->nr ? agreed : NULL;
		err = opts->confirm(&preview, session, opts->payload);
	}
	if (!err)
		restore_agree(agreed, &preview);
	restore_result_release(&preview);
	return err;
}

int restore_checkpoint(struct restore_result *out, struct session *session,
		       const struct restore_opts *opts)
{
	bool asks = opts->confirm && !opts->dry_run, agreed_to;
	struct strlist agreed = STRLIST_INIT;
	struct restore r;
	int err = restore_check_source(opts);

	if (err) {
		memset(out, 0, sizeof(*out));
		return err;
	}
	do {
		err = asks ? ask(&agreed, session, opts) : 0;
		memset(out, 0, sizeof(*out));
		if (err) {
			strlist_release(&agreed);
			return err;
		}
		err = open_restore(&r, session, opts);
		if (!err)
			err = prepare(out, &r, !opts->dry_run);
		agreed_to = err || !asks || !restore_has_grown(&r.plan, &out->git, &agreed);
		if (!agreed_to) {
			close_restore(&r);
			restore_result_release(out);
		}
	} while (!agreed_to);
	strlist_release(&agreed);
	if (!err && opts->dry_run)
		err = restore_compose_patches(&r);
	if (!err && opts->choices)
		err = restore_choose(opts->choices, &r);
	if (!err)
		restore_warn(out, &r);
	if (!err && !opts->dry_run) {
		err = restore_execute(out, &r);
		out->done = !err;
		/* Stat cache, stack and journal came after the safety checkpoint. */
		if (!err && session->settings.max_size)
			retain_hold_budget(session, &r.keep);
	}
	if (!err)
		keep_rows(out, &r);
	close_restore(&r);
	if (err)
		restore_result_release(out);
	return err;
}
