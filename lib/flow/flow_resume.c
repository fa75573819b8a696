/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

#include "flow/flow_internal.h"
#include "session/session.h"

void flow_resumed_release(struct flow_resumed *resumed)
{
	flow_decision_release(&resumed->decision);
	flow_result_release(&resumed->base);
	if (resumed->restored)
		restore_result_release(&resumed->restore);
	record_release(&resumed->target);
	free(resumed->why);
}

/* What exists, or will exist once the files are restored. */
struct outlook {
	struct session *session;
	struct snapshot *snapshot; /* NULL: nothing will be brought back */
};

static bool output_exists(const char *path, void *payload)
{
	struct outlook *outlook = payload;
	struct wt_entry *entry = NULL;

	if (flow_output_exists(outlook->session, path))
		return true;
	return outlook->snapshot && !snapshot_find(&entry, outlook->snapshot, path) && entry;
}

static int archive_corrupt(struct flow_resumed *out, struct session *session)
{
	out->outcome = FLOW_DISTRUST;
	out->why = xstrdup(ckpt_error_last());
	return flow_put_away(&out->base, session, NULL);
}

/* The state is as good as before: with the output back, or with older files, it goes on. */
static int set_lacks(struct flow_resumed *out, bool restoring)
{
	const char *way =
		restoring ? "the checkpoint of the last complete phase does not have it either"
		: out->base.flow.state.done.nr
			? "'git checkpoint flow resume --restore' brings back the files of the "
			  "last "
			  "complete phase"
			: "no phase is complete yet, so there are no files to go back to";

	out->outcome = FLOW_LACKS;
	out->why = xstrfmt("%s; %s", ckpt_error_last(), way);
	return 0;
}

/* The checkpoint of the last complete phase. */
static const char *last_checkpoint(const struct flow_state *state)
{
	return state->done.nr ? state->done.items[state->done.nr - 1].checkpoint : NULL;
}

static int open_target(struct flow_resumed *out, struct outlook *outlook, struct session *session)
{
	const char *id = last_checkpoint(&out->base.flow.state);
	int err = lookup_name(&out->target, session->store, id);

	return err ? err : snapshot_open(&outlook->snapshot, session->store, &out->target);
}

static void add_warnings(struct flow_resumed *out, struct session *session,
			 const struct flow_resume_opts *opts)
{
	const struct flow_state *state = &out->base.flow.state;
	struct strlist *warnings = &out->base.warnings;
	char age[CLOCK_ISO_SIZE];

	if (out->decision.stale)
		strlist_addf(
			warnings,
			"the last activity of workflow '%s' was %s; 'git checkpoint flow start --fresh' "
			"starts over",
			state->workflow_id, clock_format_age(age, out->last_activity, clock_now()));
	for (size_t i = 0; i < state->done.nr; i++)
		if (!refs_exist(session->store, state->done.items[i].checkpoint))
			strlist_addf(warnings, "checkpoint '%s' of phase '%s' no longer exists",
				     state->done.items[i].checkpoint, state->done.items[i].phase);
	if (opts->restore && !state->done.nr)
		strlist_add(warnings,
			    "no phase is complete yet, so the files are left as they are");
}

/*
 * Read, check and decide, with the lock held. The state in `out` may be changed, but is not
 * written.
 */
static int decide_locked(struct flow_resumed *out, struct session *session, bool *restoring,
			 const struct flow_resume_opts *opts)
{
	struct outlook outlook = { .session = session };
	struct flow_facts facts = {
		.now = clock_now(),
		.stale_after = session->settings.flow_stale_after,
		.exists = output_exists,
		.payload = &outlook,
	};
	struct flow *flow = &out->base.flow;
	int err = restore_check_settled(session);

	if (err)
		return err;
	err = flow_read(flow, session->store);
	if (err == CKPT_ENOTFOUND)
		return 0;
	if (err)
		return err == CKPT_ECORRUPT ? archive_corrupt(out, session) : err;
	facts.restoring =
		opts->restore && flow->state.done.nr && !flow_finished(&flow->state, &flow->plan);
	if (facts.restoring)
		err = open_target(out, &outlook, session);
	if (!err) {
		err = flow_check(&flow->state, &flow->plan, &facts);
		if (err == CKPT_ENOTFOUND) {
			err = set_lacks(out, facts.restoring);
		} else if (err) {
			err = archive_corrupt(out, session);
		} else {
			out->outcome =
				flow_finished(&flow->state, &flow->plan) ? FLOW_OVER : FLOW_GOES_ON;
			out->last_activity = flow->state.last_updated;
			flow_decide(&out->decision, &flow->state, &flow->plan, &facts);
		}
	}
	if (out->outcome == FLOW_GOES_ON) {
		add_warnings(out, session, opts);
		*restoring = facts.restoring;
	}
	snapshot_free(outlook.snapshot);
	return err;
}

/* --- with the files --- */

struct rewind {
	struct flow_resumed *out;
	struct session *session;
	const struct flow_resume_opts *opts;
	struct strbuf before; /* phase.json */
	bool written;
};

/* Replace phase.json, if it is still what was read. */
static int replace_state(struct session *session, const struct strbuf *from,
			 const struct strbuf *to)
{
	struct flow now;
	int err = flow_lock(session), read;

	if (err)
		return err;
	read = flow_read(&now, session->store);
	if (read || !strbuf_equal(&now.text, from))
		err = ckpt_error_set(CKPT_ELOCKED,
				     "another process changed the workflow; try again");
	else
		err = flow_files_write_text(session->store, to);
	flow_release(&now);
	store_unlock(session->store);
	return err;
}

/*
 * The tasks start over before their outputs go: if this is killed in between,
 * some work is done twice. The other way round a task would be complete without
 * its output.
 */
static int rewind_tasks(struct rewind *rewind)
{
	struct flow *flow = &rewind->out->base.flow;
	int err;

	if (!rewind->out->decision.changed)
		return 0;
	strbuf_add(&rewind->before, flow->text.buf, flow->text.len);
	strbuf_reset(&flow->text);
	flow_state_print(&flow->text, &flow->state);
	err = replace_state(rewind->session, &rewind->before, &flow->text);
	rewind->written = !err;
	return err;
}

static int confirm_restore(const struct restore_result *preview, struct session *session,
			   void *payload)
{
	struct rewind *rewind = payload;
	int err = rewind->opts->confirm(preview, session, &rewind->out->target);

	/* Asked again, as the plan grew: that is done already. */
	return err || rewind->written ? err : rewind_tasks(rewind);
}

static int restore_files(struct flow_resumed *out, struct session *session,
			 const struct flow_resume_opts *opts)
{
	struct rewind rewind = { out, session, opts, STRBUF_INIT, false };
	struct restore_opts restore = {
		.target = &out->target,
		.kind = JOURNAL_RESTORE,
		.reason = "flow resume",
		.paths = &strlist_empty,
		.kept = opts->kept,
		.confirm = opts->confirm ? confirm_restore : NULL,
		.payload = &rewind,
		.progress = opts->progress,
	};
	int err = opts->confirm ? 0 : rewind_tasks(&rewind);

	if (!err)
		err = restore_checkpoint(&out->restore, session, &restore);
	out->restored = !err;
	if (!err)
		flow_restored(session, &out->restore);
	/* Nothing was touched: so undo this change. */
	if (err && rewind.written && !journal_exists(session->store)) {
		char *kept = ckpt_error_keep();

		(void)replace_state(session, &out->base.flow.text, &rewind.before);
		ckpt_error_put_back(err, kept);
	}
	strbuf_release(&rewind.before);
	return err;
}

int flow_resume(struct flow_resumed *out, struct session *session,
		const struct flow_resume_opts *opts)
{
	bool restoring = false;
	int err;

	memset(out, 0, sizeof(*out));
	out->base.flow = (struct flow)FLOW_INIT;
	out->target = (struct ckpt_record)CKPT_RECORD_INIT;
	out->outcome = FLOW_NONE;
	if (!session->store)
		return 0;
	err = flow_lock(session);
	if (err)
		return err;
	err = decide_locked(out, session, &restoring, opts);
	if (!err && out->outcome == FLOW_GOES_ON && !restoring && out->decision.changed)
		err = flow_files_write(&out->base.flow, session->store);
	err = flow_close(&out->base, session, err);
	if (!err && restoring)
		err = restore_files(out, session, opts);
	if (err)
		flow_resumed_release(out);
	return err;
}
