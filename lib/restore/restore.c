/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "session/session.h"

#include <sys/random.h>

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

bool restore_captures_failed(const struct restore_result *result)
{
	for (size_t i = 0; i < result->captures.nr; i++)
		if (result->captures.items[i].status != CAPTURE_DONE &&
		    result->captures.items[i].status != CAPTURE_FOREIGN && result->done)
			return true;
	return false;
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
static void store_composed(const struct ckpt_record *record UNUSED, void *payload)
{
	(void)restore_compose_store(payload);
}

/* What is about to be done, for the title of the safety checkpoint. */
static char *name_intent(const struct restore *r)
{
	const struct restore_opts *opts = r->opts;
	char *name, *intent;

	if (opts->intent || opts->kind == JOURNAL_UNDO || opts->kind == JOURNAL_REDO)
		return xstrdup(opts->intent ? opts->intent : journal_kind_name(opts->kind));
	name = title_name(r->leads_to);
	intent = xstrfmt("restoring %s%s",
			 opts->paths->nr || opts->composed.make ? "parts of " : "", name);
	free(name);
	return intent;
}

static void init_restore(struct restore *r, struct session *session,
			 const struct restore_opts *opts)
{
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
	if (opts->composed.also)
		strlist_extend(&r->also, opts->composed.also);
	strlist_add(&r->keep, r->leads_to->id);
	if (opts->step.interrupted)
		strlist_add(&r->keep, opts->step.interrupted->id);
	if (opts->step.previous)
		strlist_add(&r->keep, opts->step.previous->id);
	r->intent = name_intent(r);
	r->safety = (struct save_opts){
		.reason = opts->paths->nr ? "pre-restore-safety-file" : "pre-restore-safety",
		.source = "checkpoint",
		.safety = { .target = lookup_target_name(opts->target),
			    .cache_later = !opts->no_verify && !*opts->target->composed_for },
		.before = r->intent,
		.step = -1,
		.extras = { .captures = &r->captures.replayed,
			    .no_auto = true,
			    .exact = true,
			    .alone = opts->target->state_only },
		.scan = { .scope = r->scope.nr ? &r->scope : &strlist_empty,
			  .include_ignored = opts->target->include_ignored,
			  .include_sensitive = opts->target->include_sensitive,
			  .progress = opts->progress },
		.taken = opts->composed.make ? store_composed : NULL,
		.taken_payload = r,
		.keep = &r->keep,
	};
	r->git = (struct gitback){
		.session = session,
		.target = opts->target,
		.opts = opts->git,
		.kind = opts->kind,
		.journal = &r->journal,
		.interrupted = opts->step.interrupted,
		.force = opts->force,
	};
}

/*
 * Whether a restore was interrupted is certain only with the lock. The one to
 * finish must be the one that was read without it.
 */
static int check_journal(struct restore *r)
{
	const struct journal *seen = r->opts->step.journal;
	int err;

	if (!r->opts->step.interrupted)
		return r->job.interrupted ? refuse_unsettled() : 0;
	if (!r->job.interrupted)
		return ckpt_error_set(CKPT_ENOTFOUND, "another process already finished this restore");
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

	if (!lookup_target_exists(store, r->leads_to->id) && !fetched_exists(store, r->leads_to->id))
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' was dropped by another process",
				      lookup_target_name(r->leads_to));
	r->protect = protect_new(r->session);
	/* What a composed target lacks of the worktree is meant to go. */
	if (opts->composed.make)
		return restore_point_open(&r->held, store, r->leads_to);
	err = restore_point_open(&r->target, store, opts->target);
	if (!err)
		err = protect_add(r->protect, opts->target, &r->target.meta, r->target.tree);
	/* Aborting means going back to exactly that state. */
	if (!err && opts->step.interrupted && strcmp(opts->step.interrupted->id, opts->target->id)) {
		err = restore_point_open(&r->interrupted, store, opts->step.interrupted);
		if (!err)
			err = protect_add(r->protect, opts->step.interrupted, &r->interrupted.meta,
					  r->interrupted.tree);
	}
	/* It is not held for us: it may have gone while we waited for the lock. */
	if (!err && opts->step.previous && lookup_target_exists(store, opts->step.previous->id))
		err = snapshot_open(&r->previous, store, opts->step.previous);
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
	return !r->opts->step.abort || r->journal.replaying;
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
	r->captures.foreign = record_is_foreign(opts->target) && !opts->captures;
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
	gitback_release(&r->git);
	save_job_end(&r->job);
	store_unlock(r->session->store);
	free(r->intent);
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
	out->foreign = record_is_foreign(r->leads_to) || r->opts->step.foreign;
	out->incomplete = out->incomplete || (r->captures.foreign && out->captures.nr);
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
static int prepare_restore(struct restore_result *out, struct restore *r, bool store)
{
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
	if (!err)
		err = restore_hash_both(out, r);
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
static int ask_user(struct strlist *agreed, struct session *session, const struct restore_opts *opts)
{
	struct restore_result preview = { 0 };
	struct restore r;
	int err = open_restore(&r, session, opts);

	if (!err)
		err = prepare_restore(&preview, &r, false);
	if (!err)
		err = restore_choose(&r);
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

/* --- doing it --- */

static int stage_plan(struct restore *r)
{
	struct stage_opts opts = {
		.store = r->session->store,
		.plan = &r->plan,
		.paths = &r->scope,
		.threads = r->session->threads,
		.any_room = r->opts->force || r->opts->step.interrupted,
		.progress = r->opts->progress,
	};
	unsigned long long token;
	char name[64];
	int err;

	if (getrandom(&token, sizeof(token), 0) != sizeof(token))
		return ckpt_error_errno("unable to get random bytes");
	snprintf(name, sizeof(name), STAGE_DIR_PREFIX "%016llx", token);
	err = stage_fill(&r->stage, r->job.current.scan->rootfd, name, &opts);
	return err ? record_damaged(err, r->session->store, r->opts->target->id) : 0;
}

static void warn_of_writers(struct restore_result *out, const struct apply_result *applied)
{
	for (size_t i = 0; i < applied->changed.nr; i++)
		strlist_addf(&out->warnings, "'%s' changed during the restore and was left as it is",
			     applied->changed.items[i]);
	for (size_t i = 0; i < applied->open.nr; i++)
		strlist_addf(&out->warnings,
			     "'%s' was open for writing: what is written to it after the restore is lost",
			     applied->open.items[i]);
	out->incomplete = out->incomplete || applied->changed.nr;
}

/*
 * Written through an open descriptor while it was in the stage: it is in no checkpoint.
 */
static int rescue_late(struct restore_result *out, struct restore *r,
		       const struct apply_result *applied)
{
	struct strbuf rescued = STRBUF_INIT;
	int err = stage_keep(&rescued, &r->stage, &applied->late_names);

	for (size_t i = 0; i < applied->late.nr && !err; i++)
		strlist_addf(&out->warnings, "Kept: %s/%s (what was written to '%s' while it was restored)",
			     rescued.buf, applied->late_names.items[i], applied->late.items[i]);
	out->incomplete = true;
	strbuf_release(&rescued);
	return err;
}

static int replay_captures(struct restore_result *out, struct restore *r)
{
	bool left = out->verified && !out->match;
	int err = r->captures.replayed.nr && !left ? restore_note_replay(r) : 0;

	return err ? err : capture_back_replay(&out->captures, &out->warnings, r->session,
						&r->captures, left);
}

/* After the journal: from here on an interruption must be continued or undone. */
static int carry_out(struct restore_result *out, struct restore *r)
{
	struct apply_opts apply = {
		.stage = &r->stage,
		.plan = &r->plan,
		.paths = &r->scope,
		.threads = r->session->threads,
		.note_mode = restore_note_mode,
		.payload = r,
	};
	struct apply_result applied = { 0 };
	int err = restore_is_state_only(r) ? 0 : apply_run(&applied, &apply);

	warn_of_writers(out, &applied);
	if (!err && r->opts->step.interrupted && !restore_is_state_only(r))
		restore_settle_modes(r);
	if (!err && !applied.late.nr)
		err = stage_remove(&r->stage);
	if (!err && !r->opts->no_verify)
		err = restore_verify(out, r);
	if (!err)
		err = gitback_apply(&out->git, &r->git, out->verified && !out->match);
	if (!err)
		err = replay_captures(out, r);
	if (!err && applied.late.nr)
		err = rescue_late(out, r, &applied);
	apply_result_release(&applied);
	if (!err && r->opts->step.interrupted)
		err = restore_settle_stages(out, r);
	if (!err)
		err = restore_note(r, out->safety);
	if (!err)
		err = journal_remove(r->session->store);
	/* Before this, the message of an interrupt is correct. */
	if (err == CKPT_ECANCELLED)
		return ckpt_error_set(err, "the restore was interrupted halfway, nothing is lost; 'git "
					   "checkpoint restore --continue' finishes it, '--abort' goes "
					   "back");
	return err ? ckpt_error_prefix(err, "the restore stopped halfway, nothing is lost; fix the cause "
					    "and run 'git checkpoint restore --continue', or '--abort'") :
		     0;
}

static int make_safety(struct restore_result *out, struct restore *r)
{
	struct save_result saved;
	bool stored;
	int err = restore_compose_pack(r);

	if (!err)
		err = save_job_commit(&saved, &r->job);
	if (err == CKPT_ECANCELLED)
		return err;
	if (err)
		return ckpt_error_prefix(CKPT_EREFUSED, RESTORE_NO_SAFETY);
	snprintf(out->safety, sizeof(out->safety), "%s", saved.record.id);
	out->safety_commit = saved.record.commit;
	stored = saved.new_bytes > 0;
	err = gitback_check_safety(&r->git, &saved.record);
	if (err)
		err = ckpt_error_prefix(err, RESTORE_NO_SAFETY);
	if (!err)
		err = restore_compose_store(r);
	save_result_release(&saved);
	/* The open packs do not have what was just stored. */
	return !err && stored ? objects_reopen(r->session->store) : err;
}

/* In the audit trail a composed target is the checkpoint that it leads to. */
static void note_restore(struct restore *r, const struct restore_result *out, bool failed)
{
	const struct restore_opts *opts = r->opts;
	struct ckpt_record named = CKPT_RECORD_INIT;
	const struct ckpt_record *target = r->leads_to;

	if (*target->composed_for && !lookup_name(&named, r->session->store, target->composed_for))
		target = &named;
	(void)audit_add_restore(r->session->store,
				failed ? "restore-interrupted" : journal_kind_name(opts->kind),
				target, opts->reason, restore_source(opts),
				out->verified ? out->post_hash : NULL, opts->git.what);
	record_release(&named);
}

/* What is not important enough to hide the earlier failure. */
static int clean_up(struct restore_result *out, struct restore *r, int err, bool begun)
{
	struct store *store = r->session->store;
	char *kept = err ? ckpt_error_keep() : NULL;

	if (err && !begun) {
		(void)stage_remove(&r->stage);
		if (!r->opts->step.interrupted)
			(void)journal_remove(store);
	} else {
		note_restore(r, out, err != 0);
	}
	ckpt_error_put_back(err, kept);
	return err;
}

static int read_back(struct restore *r, const struct wt_entry *entry)
{
	int err = 0;

	if (entry->kind != WT_DIR)
		return r->job.pack && pack_wrote(r->job.pack, &entry->oid) ?
			       0 :
			       objects_check(r->session->store, &entry->oid);
	for (size_t i = 0; i < entry->dir->nr && !err; i++)
		err = read_back(r, &wt_entries(entry->dir)[i]);
	return err;
}

/*
 * What is about to go must be readable in the safety checkpoint, even if it
 * was stored long ago: a copy may have been damaged since. What was stored a
 * moment ago was read back then.
 */
static int check_safety(struct restore *r)
{
	int err = 0;

	for (size_t i = 0; i < r->plan.nr && !err; i++) {
		const struct plan_action *action = &r->plan.actions[i];

		if (!action->current || action->kind == PLAN_CHMOD || action->kind == PLAN_RMDIR)
			continue;
		err = read_back(r, action->current);
		if (err && err != CKPT_ECANCELLED)
			err = ckpt_error_prefix(CKPT_EREFUSED,
						"'%s' cannot be read back from the safety checkpoint, "
						"nothing was touched",
						action->path);
	}
	return err;
}

/* Nothing is touched, so nothing has to be saved first: the newest checkpoint, if any, is as good. */
static int execute_nothing(struct restore_result *out, struct restore *r)
{
	const struct ref_list *refs = &r->job.refs;

	snprintf(out->safety, sizeof(out->safety), "%s", refs->items[refs->nr - 1].id);
	out->safety_commit = refs->items[refs->nr - 1].commit;
	return r->opts->no_verify ? 0 : restore_verify(out, r);
}

static int execute_plan(struct restore_result *out, struct restore *r)
{
	int err;

	if (plan_is_empty(&r->plan) && gitback_is_empty(&r->git) &&
	    journal_kind_is_new(r->opts->kind) && !r->opts->step.interrupted && r->job.refs.nr)
		return execute_nothing(out, r);
	err = r->opts->step.interrupted ? restore_free_stages(r) : 0;
	/* What was composed is stored with the safety checkpoint, and read from the store. */
	if (!err && r->compose)
		err = make_safety(out, r);
	if (!err && !restore_is_state_only(r))
		err = stage_plan(r);
	if (!err && !r->compose)
		err = make_safety(out, r);
	if (!err)
		err = check_safety(r);
	if (!err)
		err = restore_begin_journal(r, out->safety);
	if (err)
		return clean_up(out, r, err, false);
	return clean_up(out, r, carry_out(out, r), true);
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
		err = asks ? ask_user(&agreed, session, opts) : 0;
		memset(out, 0, sizeof(*out));
		if (err) {
			strlist_release(&agreed);
			return err;
		}
		err = open_restore(&r, session, opts);
		if (!err)
			err = prepare_restore(out, &r, !opts->dry_run);
		agreed_to = err || !asks || !restore_has_grown(&r.plan, &out->git, &agreed);
		if (!agreed_to) {
			close_restore(&r);
			restore_result_release(out);
		}
	} while (!agreed_to);
	strlist_release(&agreed);
	if (!err && opts->dry_run)
		err = restore_choose(&r);
	if (!err)
		restore_warn(out, &r);
	if (!err && !opts->dry_run) {
		err = execute_plan(out, &r);
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
