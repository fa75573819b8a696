/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

#include "base/base.h"
#include "flow/flow_internal.h"
#include "flow/flow_mirror_internal.h"
#include "save/save.h"
#include "session/session.h"
#include "store/store.h"

void flow_result_init(struct flow_result *out)
{
	memset(out, 0, sizeof(*out));
	out->flow = (struct flow)FLOW_INIT;
}

void flow_result_release(struct flow_result *result)
{
	flow_release(&result->flow);
	strlist_release(&result->warnings);
	free(result->archived);
	free(result->task);
	result->archived = result->task = NULL;
}

/* --- parts --- */

static int need_store(const struct session *session)
{
	return session->store ? 0
			      : ckpt_error_set(CKPT_ENOTFOUND, "no workflow is in progress; 'git "
							       "checkpoint flow start' starts one");
}

int flow_lock(struct session *session)
{
	int err = need_store(session);

	return err ? err : store_lock(session->store, session->settings.lock_timeout);
}

bool flow_output_exists(const struct session *session, const char *path)
{
	char *full = xstrfmt("%s/%s", session->worktree, path);
	struct stat st;
	bool exists = !lstat(full, &st);

	free(full);
	return exists;
}

void flow_result_mirror(struct flow_result *out, struct session *session)
{
	if (flow_mirror_write(session, &out->flow.plan, &out->flow.text))
		strlist_addf(&out->warnings, "the state was not mirrored: %s", ckpt_error_last());
}

int flow_put_away(struct flow_result *out, struct session *session, struct flow *flow, bool corrupt)
{
	int err = flow_archive_copy(&out->archived, session->store, flow, corrupt);

	if (!err)
		err = flow_remove(session->store);
	if (!err && !corrupt)
		flow_mirror_remove(session, &flow->plan, &flow->text);
	if (!err)
		flow_archive_trim(session->store);
	out->corrupt = corrupt;
	return err;
}

static int read_live(struct flow_result *out, struct session *session)
{
	int err = flow_read(&out->flow, session->store);

	if (err == CKPT_ECORRUPT) {
		flow_release(&out->flow);
		err = ckpt_error_prefix(
			err, "the state of the workflow cannot be used ('git checkpoint flow "
			     "resume' or 'flow archive' archives it)");
	}
	return err;
}

/* Locks, unless there is nothing to change; 0 with the lock held. */
static int open_live(struct flow_result *out, struct session *session)
{
	int err;

	flow_result_init(out);
	err = flow_lock(session);
	if (err)
		return err;
	err = read_live(out, session);
	if (err)
		store_unlock(session->store);
	return err;
}

/*
 * A killed command may have left the copy as it was, and something beside it: when the same is
 * done again, and refused or found to be done, the copy must still be updated.
 */
static int mirror_refused(struct session *session, int err)
{
	char *kept = ckpt_error_keep();

	(void)flow_mirror_current(session);
	return ckpt_error_put_back(err, kept);
}

int flow_close(struct flow_result *out, struct session *session, int err)
{
	if (!err && (out->changed || !out->archived))
		flow_result_mirror(out, session);
	else if (err)
		err = mirror_refused(session, err);
	store_unlock(session->store);
	if (err)
		flow_result_release(out);
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

static bool is_taken(const struct flow_archives *archives, const struct flow *live,
		     const char *workflow, int64_t now)
{
	if (live && live->state.started_at == now && !strcmp(live->state.workflow_id, workflow))
		return true;
	for (size_t i = 0; i < archives->nr; i++)
		if (archives->items[i].readable && archives->items[i].state.started_at == now &&
		    !strcmp(archives->items[i].state.workflow_id, workflow))
			return true;
	return false;
}

/*
 * Name and time tell workflows apart: of two with the same name, the second must wait for the next
 * second.
 */
static int choose_time(int64_t *out, struct store *store, const struct flow *live,
		       const char *workflow)
{
	struct timespec pause = { .tv_nsec = 20000000 };
	struct flow_archives archives;
	int err = flow_archives_read(&archives, store);

	if (err)
		return err;
	while (!err && is_taken(&archives, live, workflow, *out = clock_now())) {
		nanosleep(&pause, NULL);
		err = cancel_check();
	}
	flow_archives_release(&archives);
	return err;
}

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

/* phase.json changes from the old one to the new one at once, whatever else exists. */
static int replace(struct flow_result *out, struct session *session, struct flow *live, int read)
{
	struct store *store = session->store;
	int err = 0;

	if (read != CKPT_ENOTFOUND) {
		out->corrupt = read != 0;
		err = flow_archive_copy(&out->archived, store, live, out->corrupt);
	}
	if (!err)
		err = flow_write_plan(store, &out->flow.plan, read ? NULL : &live->plan);
	if (!err)
		err = flow_write(&out->flow, store);
	if (err)
		return err;
	if (!read)
		flow_mirror_remove(session, &live->plan, &live->text);
	flow_archive_trim(store);
	out->changed = true;
	return 0;
}

static int start_locked(struct flow_result *out, struct session *session,
			const struct flow_start_opts *opts)
{
	struct flow_plan *plan = &out->flow.plan;
	struct flow live;
	int read = flow_read(&live, session->store), err = 0;

	if (read && read != CKPT_ENOTFOUND && read != CKPT_ECORRUPT)
		return read;
	err = check_free(&live, read, opts->fresh);
	if (err)
		err = mirror_refused(session, err);
	if (!err)
		err = choose_time(&plan->started_at, session->store, read ? NULL : &live,
				  opts->workflow);
	if (!err) {
		plan->workflow_id = xstrdup(opts->workflow);
		strlist_extend(&plan->phases, opts->phases);
		strlist_extend(&plan->approve, opts->approve);
		flow_begin(&out->flow.state, plan);
		err = replace(out, session, &live, read);
	}
	if (read != CKPT_ENOTFOUND)
		flow_release(&live);
	return err;
}

int flow_start(struct flow_result *out, struct session *session, const struct flow_start_opts *opts)
{
	int err = save_check_place(session);

	flow_result_init(out);
	if (!err && opts->state_dir)
		err = flow_mirror_place(&out->flow.plan.state_dir, session, opts->state_dir);
	if (!err && !session->store)
		err = store_open_or_create(&session->store, session->worktree);
	if (!err)
		err = store_lock(session->store, session->settings.lock_timeout);
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
		memcpy(flow->state.done[flow->state.done_nr - 1].checkpoint, record->id,
		       sizeof(record->id));
	transition->err = flow_write(flow, transition->store);
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
	static const struct strlist whole = STRLIST_INIT;
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
		.scope = &whole,
		.progress = opts->progress,
		.taken = move_on,
		.taken_payload = &transition,
	};
	struct save_result saved;
	struct ckpt_meta meta;
	int err;

	meta_init(&meta);
	add_states(&meta, opts);
	save.states = meta.states;
	save.states_nr = meta.states_nr;
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
	err = flow_phase_approve(&out->changed, &out->flow.state, &out->flow.plan, phase,
				 clock_now());
	if (!err && out->changed)
		err = flow_write(&out->flow, session->store);
	return flow_close(out, session, err);
}

int flow_task(struct flow_result *out, struct session *session, const char *id,
	      enum flow_task_status status, const struct strlist *output)
{
	struct flow_task *task = NULL;
	int err = open_live(out, session);

	if (err)
		return err;
	err = flow_task_set(&task, &out->flow.state, id, status, output, clock_now());
	if (!err && status == FLOW_TASK_COMPLETE)
		err = need_outputs(session, &task->output);
	if (!err)
		err = flow_write(&out->flow, session->store);
	if (!err) {
		out->task = xstrdup(id);
		out->changed = true;
	}
	return flow_close(out, session, err);
}

int flow_archive(struct flow_result *out, struct session *session)
{
	int read, err;

	flow_result_init(out);
	err = flow_lock(session);
	if (err)
		return err;
	read = flow_read(&out->flow, session->store);
	err = read && read != CKPT_ECORRUPT ? read
					    : flow_put_away(out, session, &out->flow, read != 0);
	return flow_close(out, session, err);
}

int flow_look(struct flow_result *out, struct session *session)
{
	int err = need_store(session);

	flow_result_init(out);
	return err ? err : read_live(out, session);
}
