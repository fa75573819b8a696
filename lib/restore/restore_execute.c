/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "restore/apply_internal.h"
#include "session/session.h"
#include "store/store.h"

#include <sys/random.h>

static int stage_plan(struct restore *r)
{
	struct stage_opts opts = {
		.store = r->session->store,
		.plan = &r->plan,
		.paths = &r->scope,
		.threads = r->session->threads,
		.any_room = r->opts->force || r->opts->interrupted,
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

bool restore_captures_failed(const struct restore_result *result)
{
	for (size_t i = 0; i < result->captures.nr; i++)
		if (result->captures.items[i].status != CAPTURE_DONE && result->done)
			return true;
	return false;
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
	if (!err && r->opts->interrupted && !restore_is_state_only(r))
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
	if (!err && r->opts->interrupted)
		err = restore_settle_stages(out, r);
	if (!err && !r->opts->abort)
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
				target, opts->reason ? opts->reason : target->reason,
				restore_source(opts), out->verified ? out->post_hash : NULL, opts->git.what);
	record_release(&named);
}

/* What is not important enough to hide the earlier failure. */
static int clean_up(struct restore_result *out, struct restore *r, int err, bool begun)
{
	struct store *store = r->session->store;
	char *kept = err ? ckpt_error_keep() : NULL;

	if (err && !begun) {
		(void)stage_remove(&r->stage);
		if (!r->opts->interrupted)
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

/* Nothing is touched, so nothing has to be saved first: the newest checkpoint is as good. */
static int execute_nothing(struct restore_result *out, struct restore *r)
{
	const struct ref_list *refs = &r->job.refs;

	snprintf(out->safety, sizeof(out->safety), "%s", refs->items[refs->nr - 1].id);
	out->safety_commit = refs->items[refs->nr - 1].commit;
	return r->opts->no_verify ? 0 : restore_verify(out, r);
}

int restore_execute(struct restore_result *out, struct restore *r)
{
	int err;

	if (plan_is_empty(&r->plan) && gitback_is_empty(&r->git) &&
	    journal_kind_is_new(r->opts->kind) && !r->opts->interrupted)
		return execute_nothing(out, r);
	err = r->opts->interrupted ? restore_free_stages(r) : 0;
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
