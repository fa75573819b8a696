/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

#include "flow/flow_internal.h"
#include "save/save.h"
#include "session/session.h"

static void init_result(struct flow_result *out)
{
	memset(out, 0, sizeof(*out));
	out->flow = (struct flow)FLOW_INIT;
}

void flow_result_release(struct flow_result *result)
{
	flow_release(&result->flow);
	strlist_release(&result->warnings);
	free(result->archived);
	free(result->about);
	result->archived = result->about = NULL;
}

/* --- parts --- */

int flow_lock(struct session *session)
{
	struct flow none;
	int err = session->store ? store_lock(session->store, session->settings.lock_timeout) :
				   flow_read(&none, NULL);

	if (err)
		return err;
	err = flow_files_settle(session->store);
	if (err)
		store_unlock(session->store);
	return err;
}

/*
 * Written even after a failure: a killed command may have left the copy as it was, and when the
 * same is done again, it is refused or found to be done.
 */
int flow_close(struct flow_result *out, struct session *session, int err)
{
	char *kept = err ? ckpt_error_keep() : NULL;

	if (flow_mirror_write(session) && !err)
		strlist_addf(&out->warnings, "the state was not mirrored: %s", ckpt_error_last());
	store_unlock(session->store);
	if (err) {
		flow_result_release(out);
		ckpt_error_put_back(err, kept);
	}
	return err;
}

bool flow_output_exists(const struct session *session, const char *path)
{
	char *full = xstrfmt("%s/%s", session->worktree, path);
	struct stat st;
	bool exists = !lstat(full, &st);

	free(full);
	return exists;
}

int flow_put_away(struct flow_result *out, struct session *session, const struct flow *flow)
{
	int err = flow_files_archive(&out->archived, session->store, flow);

	if (err)
		return err;
	if (flow)
		flow_mirror_remove(session, flow);
	flow_files_trim(session->store);
	out->corrupt = !flow;
	return 0;
}

static int read_live(struct flow_result *out, struct session *session)
{
	int err = flow_read(&out->flow, session->store);

	return err == CKPT_ECORRUPT ?
		       ckpt_error_prefix(
			       err, "the state of the workflow cannot be used ('git checkpoint flow "
				    "resume' or 'flow archive' archives it)") :
		       err;
}

/* Locks, unless there is nothing to change; 0 with the lock held. */
static int open_live(struct flow_result *out, struct session *session)
{
	int err;

	init_result(out);
	err = flow_lock(session);
	if (err)
		return err;
	err = read_live(out, session);
	if (err)
		store_unlock(session->store);
	return err;
}

static int need_outputs(const struct session *session, const struct strlist *output)
{
	for (size_t i = 0; i < output->nr; i++)
		if (!flow_output_exists(session, output->items[i]))
			return ckpt_error_set(CKPT_ERROR, "the output '%s' does not exist, so this is not "
							  "complete",
					      output->items[i]);
	return 0;
}

/* --- start --- */

static int check_free(const struct flow *live, int read, bool fresh)
{
	if (read == CKPT_ECORRUPT && !fresh)
		return ckpt_error_set(
			CKPT_EREFUSED,
			"the state of the current workflow cannot be used (%s); --fresh archives it as "
			"corrupt",
			ckpt_error_last());
	if (!read && !fresh && !flow_finished(&live->state, &live->plan))
		return ckpt_error_set(
			CKPT_EREFUSED,
			"workflow '%s' is in progress; 'git checkpoint flow resume' continues it, --fresh "
			"archives it",
			live->state.workflow_id);
	return 0;
}

static int begin_workflow(struct flow_result *out, struct session *session,
			  const struct flow_start_opts *opts)
{
	struct flow_plan *plan = &out->flow.plan;

	plan->started_at = clock_now();
	plan->workflow_id = xstrdup(opts->workflow);
	strlist_extend(&plan->phases, opts->phases);
	strlist_extend(&plan->approve, opts->approve);
	flow_begin(&out->flow.state, plan);
	out->changed = true;
	return flow_files_prepare(&out->flow, session->store);
}

static int start_locked(struct flow_result *out, struct session *session,
			const struct flow_start_opts *opts)
{
	struct flow live;
	int read = flow_read(&live, session->store), err;

	if (read && read != CKPT_ENOTFOUND && read != CKPT_ECORRUPT)
		return read;
	err = check_free(&live, read, opts->fresh);
	if (!err)
		err = begin_workflow(out, session, opts);
	if (!err && read != CKPT_ENOTFOUND)
		err = flow_put_away(out, session, read ? NULL : &live);
	if (!err)
		err = flow_files_settle(session->store);
	flow_release(&live);
	return err;
}

int flow_start(struct flow_result *out, struct session *session, const struct flow_start_opts *opts)
{
	int err = save_check_place(session);

	init_result(out);
	if (!err && opts->state_dir)
		err = flow_mirror_dir(&out->flow.plan.state_dir, session, opts->state_dir);
	if (!err && !session->store)
		err = store_open_or_create(&session->store, session->worktree);
	if (!err)
		err = flow_lock(session);
	if (err) {
		flow_result_release(out);
		return err;
	}
	return flow_close(out, session, start_locked(out, session, opts));
}

/* --- phases --- */

struct transition {
	struct flow_result *out;
	struct store *store;
	bool completes;
	int err;
	char *message;
};

/* The checkpoint exists; from here on so does the new state. */
static void move_on(const struct ckpt_record *record, void *payload)
{
	struct transition *transition = payload;
	struct flow *flow = &transition->out->flow;

	if (transition->completes)
		flow->state.done.items[flow->state.done.nr - 1].checkpoint = xstrdup(record->id);
	transition->err = flow_files_write(flow, transition->store);
	if (transition->err)
		transition->message = xstrdup(ckpt_error_last());
}

static int change_phase(struct flow *flow, const struct session *session,
			const struct flow_phase_opts *opts)
{
	int64_t now = clock_now();
	int err;

	switch (opts->status) {
	case FLOW_IN_PROGRESS:
		return flow_phase_start(&flow->state, &flow->plan, opts->phase, now);
	case FLOW_COMPLETE:
		err = flow_phase_complete(&flow->state, &flow->plan, opts->phase, opts->output,
					  now);
		/* Otherwise the next resume would distrust it. */
		return err ? err : need_outputs(session, opts->output);
	case FLOW_FAILED:
		return flow_phase_fail(&flow->state, &flow->plan, opts->phase, now);
	case FLOW_PENDING:
		break;
	}
	return ckpt_error_set(CKPT_ERROR, "a phase cannot become pending");
}

/* The outputs of a phase that is not complete, for a state key: one per line. */
static void add_states(struct ckpt_meta *meta, const struct flow_phase_opts *opts)
{
	struct strbuf text = STRBUF_INIT;

	if (opts->note)
		meta_add_state(meta, "note", opts->note, strlen(opts->note));
	for (size_t i = 0; i < opts->output->nr; i++)
		strbuf_addf(&text, "%s%s", i ? "\n" : "", opts->output->items[i]);
	if (text.len && opts->status != FLOW_COMPLETE)
		meta_add_state(meta, "output", text.buf, text.len);
	strbuf_release(&text);
}

static int take_checkpoint(struct flow_result *out, struct session *session,
			   const struct flow_phase_opts *opts)
{
	struct transition transition = { out, session->store, opts->status == FLOW_COMPLETE, 0,
					 NULL };
	char *reason = xstrfmt("%s:%s:%s", out->flow.state.workflow_id, opts->phase,
			       flow_status_name(opts->status));
	struct save_opts save = {
		.reason = reason,
		.source = "flow",
		.automatic = true,
		.step = -1,
		.allow_empty = true,
		.scan = { .scope = &strlist_empty, .progress = opts->progress },
		.taken = move_on,
		.taken_payload = &transition,
	};
	struct save_result saved;
	struct ckpt_meta meta;
	int err;

	meta_init(&meta);
	add_states(&meta, opts);
	save.extras.states = meta.states;
	save.extras.states_nr = meta.states_nr;
	err = save_checkpoint(&saved, session, &save);
	if (!err && transition.err)
		err = ckpt_error_set(transition.err, "%s", transition.message);
	if (!err) {
		snprintf(out->checkpoint, sizeof(out->checkpoint), "%s", saved.record.id);
		out->incomplete = saved.record.missing > 0;
		strlist_extend(&out->warnings, &saved.record.warnings);
		out->changed = true;
	}
	save_result_release(&saved);
	meta_release(&meta);
	free(transition.message);
	free(reason);
	return err;
}

int flow_phase(struct flow_result *out, struct session *session, const struct flow_phase_opts *opts)
{
	int err = open_live(out, session);

	if (err)
		return err;
	err = change_phase(&out->flow, session, opts);
	if (!err)
		err = take_checkpoint(out, session, opts);
	return flow_close(out, session, err);
}

/* --- the rest --- */

int flow_approve(struct flow_result *out, struct session *session, const char *phase)
{
	int err = open_live(out, session);

	if (err)
		return err;
	out->about = xstrdup(phase);
	err = flow_phase_approve(&out->changed, &out->flow.state, &out->flow.plan, phase,
				 clock_now());
	if (!err && out->changed)
		err = flow_files_write(&out->flow, session->store);
	return flow_close(out, session, err);
}

int flow_task(struct flow_result *out, struct session *session, const char *id,
	      enum flow_status status, const struct strlist *output)
{
	struct flow_task *task = NULL;
	int err = open_live(out, session);

	if (err)
		return err;
	err = flow_task_set(&task, &out->flow.state, id, status, output, clock_now());
	if (!err && status == FLOW_COMPLETE)
		err = need_outputs(session, &task->output);
	if (!err)
		err = flow_files_write(&out->flow, session->store);
	if (!err) {
		out->about = xstrdup(id);
		out->changed = true;
	}
	return flow_close(out, session, err);
}

int flow_archive(struct flow_result *out, struct session *session)
{
	int read, err;

	init_result(out);
	err = flow_lock(session);
	if (err)
		return err;
	read = flow_read(&out->flow, session->store);
	err = read && read != CKPT_ECORRUPT ? read
					    : flow_put_away(out, session, read ? NULL : &out->flow);
	return flow_close(out, session, err);
}

static const struct flow_archive *find_archived(const struct flow_archives *archives,
						const char *id)
{
	for (size_t i = archives->nr; i--;) {
		const struct flow_archive *item = &archives->items[i];

		if (!id || !strcmp(strrchr(item->path, '/') + 1, id) ||
		    (item->readable && !strcmp(item->state.workflow_id, id)))
			return item;
	}
	return NULL;
}

static int take_back(struct flow_result *out, struct session *session, const char *id)
{
	struct flow_archives archives;
	const struct flow_archive *item;
	int err = flow_archives_read(&archives, session->store);

	item = err ? NULL : find_archived(&archives, id);
	if (item)
		err = flow_files_take_back(&out->flow, session->store, item);
	else if (!err)
		err = id ? ckpt_error_set(CKPT_ENOTFOUND,
					  "no workflow '%s' is archived; see 'git "
					  "checkpoint flow list'",
					  id)
			 : ckpt_error_set(CKPT_ENOTFOUND, "no workflow is archived");
	flow_archives_release(&archives);
	return err;
}

int flow_unarchive(struct flow_result *out, struct session *session, const char *id)
{
	int err;

	init_result(out);
	err = flow_lock(session);
	if (err)
		return err;
	err = flow_read(&out->flow, session->store);
	if (!err)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "there is a workflow, '%s'; 'git checkpoint flow archive' archives "
				     "it first",
				     out->flow.state.workflow_id);
	else if (err == CKPT_ENOTFOUND)
		err = take_back(out, session, id);
	return flow_close(out, session, err);
}

int flow_look(struct flow_result *out, struct session *session)
{
	init_result(out);
	return read_live(out, session);
}
