/* SPDX-License-Identifier: MIT */
#include "flow/flow.h"

/* --- where it is --- */

static const struct flow_done *find_done(const struct flow_state *state, const char *phase)
{
	for (size_t i = 0; i < state->done.nr; i++)
		if (!strcmp(state->done.items[i].phase, phase))
			return &state->done.items[i];
	return NULL;
}

static bool is_approved(const struct flow_state *state, const char *phase)
{
	for (size_t i = 0; i < state->approvals.nr; i++)
		if (!strcmp(state->approvals.items[i].phase, phase))
			return true;
	return false;
}

const char *flow_next(const struct flow_state *state, const struct flow_plan *plan)
{
	return state->done.nr < plan->phases.nr ? plan->phases.items[state->done.nr] : NULL;
}

const char *flow_waiting(const struct flow_state *state, const struct flow_plan *plan)
{
	for (size_t i = 0; i < plan->phases.nr; i++) {
		const char *phase = plan->phases.items[i];

		if (strlist_has(&plan->approve, phase) && find_done(state, phase) &&
		    !is_approved(state, phase))
			return phase;
	}
	return NULL;
}

bool flow_finished(const struct flow_state *state, const struct flow_plan *plan)
{
	return !flow_next(state, plan) && !flow_waiting(state, plan);
}

/* --- can it be trusted? --- */

static int set_bad_phase(const char *phase, const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "phase '%s' %s", phase, what);
}

static int check_known(const struct flow_plan *plan, const char *phase)
{
	return strlist_has(&plan->phases, phase) ?
		       0 :
		       set_bad_phase(phase, "is not one of the planned phases");
}

static int check_done(const struct flow_state *state, const struct flow_plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < state->done.nr && !err; i++)
		err = check_known(plan, state->done.items[i].phase);
	for (size_t i = 0; i < state->done.nr && !err; i++)
		if (i >= plan->phases.nr ||
		    strcmp(state->done.items[i].phase, plan->phases.items[i]))
			err = set_bad_phase(state->done.items[i].phase,
					    "was completed out of order");
	return err;
}

static int check_approvals(const struct flow_state *state, const struct flow_plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < state->approvals.nr && !err; i++) {
		const char *phase = state->approvals.items[i].phase;

		err = check_known(plan, phase);
		if (!err && !find_done(state, phase))
			err = set_bad_phase(phase, "was approved, but is not complete");
	}
	return err;
}

int flow_check_order(const struct flow_state *state, const struct flow_plan *plan)
{
	const char *expected = NULL;
	int err = check_done(state, plan);

	if (!err)
		err = check_approvals(state, plan);
	if (!err)
		err = check_known(plan, state->current_phase);
	if (err)
		return err;
	if (state->phase_status != FLOW_COMPLETE)
		expected = flow_next(state, plan);
	else if (state->done.nr)
		expected = state->done.items[state->done.nr - 1].phase;
	return expected && !strcmp(expected, state->current_phase) ?
		       0 :
		       set_bad_phase(state->current_phase,
				     "cannot follow the phases that are complete");
}

static int check_outputs(const struct strlist *output, const char *kind, const char *name,
			 const struct flow_facts *facts)
{
	for (size_t i = 0; i < output->nr; i++)
		if (!facts->exists(output->items[i], facts->payload))
			return ckpt_error_set(
				CKPT_ENOTFOUND,
				"%s '%s' is complete, but its output '%s' does not exist", kind,
				name, output->items[i]);
	return 0;
}

int flow_check(const struct flow_state *state, const struct flow_plan *plan,
	       const struct flow_facts *facts)
{
	bool redone = facts->restoring && state->phase_status != FLOW_COMPLETE;
	const char *early = flow_state_later(state, facts->now + FLOW_CLOCK_SLACK);
	int err = flow_check_order(state, plan);

	if (!err && early)
		err = ckpt_error_set(CKPT_ECORRUPT, "'%s' is in the future", early);
	if (!err && !state->interruption_safe)
		err = ckpt_error_set(
			CKPT_ECORRUPT,
			"it was interrupted where that was not safe ('interruption_safe' is "
			"false)");
	/* At last: a state that cannot be trusted says nothing about outputs. */
	for (size_t i = 0; i < state->done.nr && !err; i++) {
		const struct flow_done *done = &state->done.items[i];

		err = check_outputs(&done->output, "phase", done->phase, facts);
	}
	for (size_t i = 0; i < state->tasks.nr && !err && !redone; i++) {
		const struct flow_task *task = &state->tasks.items[i];

		if (task->status == FLOW_COMPLETE)
			err = check_outputs(&task->output, "task", task->id, facts);
	}
	return err;
}

/* --- changes --- */

void flow_begin(struct flow_state *out, const struct flow_plan *plan)
{
	*out = (struct flow_state){
		.workflow_id = xstrdup(plan->workflow_id),
		.started_at = plan->started_at,
		.last_updated = plan->started_at,
		.current_phase = xstrdup(plan->phases.items[0]),
		.phase_status = FLOW_PENDING,
		.interruption_safe = true,
	};
}

static int need_known(const struct flow_plan *plan, const char *phase)
{
	struct strbuf list = STRBUF_INIT;
	int err;

	if (strlist_has(&plan->phases, phase))
		return 0;
	for (size_t i = 0; i < plan->phases.nr; i++)
		strbuf_addf(&list, "%s%s", i ? ", " : "", plan->phases.items[i]);
	err = ckpt_error_set(CKPT_ERROR, "workflow '%s' has no phase '%s'; it has %s",
			     plan->workflow_id, phase, list.buf);
	strbuf_release(&list);
	return err;
}

/* It is known, not complete, and next in order. */
static int need_turn(const struct flow_state *state, const struct flow_plan *plan,
		     const char *phase)
{
	const char *next = flow_next(state, plan), *waiting = flow_waiting(state, plan);
	int err = need_known(plan, phase);

	if (err)
		return err;
	if (find_done(state, phase))
		return ckpt_error_set(CKPT_ERROR, "phase '%s' is already complete", phase);
	if (strcmp(phase, next))
		return ckpt_error_set(CKPT_ERROR,
				      "phase '%s' must be completed before '%s'", next, phase);
	if (waiting)
		return ckpt_error_set(CKPT_EREFUSED,
				      "phase '%s' waits for approval; use 'git checkpoint flow approve'",
				      waiting);
	return 0;
}

static int need_running(const struct flow_state *state, const struct flow_plan *plan,
			const char *phase)
{
	int err = need_turn(state, plan, phase);

	if (err)
		return err;
	if (strcmp(state->current_phase, phase) || state->phase_status != FLOW_IN_PROGRESS)
		return ckpt_error_set(CKPT_ERROR,
				      "phase '%s' is not in progress; 'git checkpoint flow phase <phase> "
				      "start' starts it",
				      phase);
	return 0;
}

int flow_phase_start(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		     int64_t now)
{
	int err = need_turn(state, plan, phase);

	if (err)
		return err;
	if (strcmp(state->current_phase, phase)) {
		flow_state_clear_tasks(state);
		free(state->current_phase);
		state->current_phase = xstrdup(phase);
	}
	state->phase_status = FLOW_IN_PROGRESS;
	state->last_updated = now;
	return 0;
}

int flow_phase_complete(struct flow_state *state, const struct flow_plan *plan, const char *phase,
			const struct strlist *output, int64_t now)
{
	struct flow_done *done;
	int err = need_running(state, plan, phase);

	if (err)
		return err;
	done = flow_state_add(&state->done, sizeof(*done));
	done->phase = xstrdup(phase);
	done->completed_at = now;
	strlist_extend(&done->output, output);
	state->phase_status = FLOW_COMPLETE;
	state->last_updated = now;
	return 0;
}

int flow_phase_fail(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		    int64_t now)
{
	int err = need_running(state, plan, phase);

	if (err)
		return err;
	state->phase_status = FLOW_FAILED;
	state->last_updated = now;
	return 0;
}

int flow_phase_approve(bool *changed_out, struct flow_state *state, const struct flow_plan *plan,
		       const char *phase, int64_t now)
{
	struct flow_approval *approval;
	int err = need_known(plan, phase);

	*changed_out = false;
	if (err)
		return err;
	if (!find_done(state, phase))
		return ckpt_error_set(CKPT_ERROR,
				      "phase '%s' is not complete yet; nothing to approve",
				      phase);
	if (is_approved(state, phase))
		return 0;
	approval = flow_state_add(&state->approvals, sizeof(*approval));
	approval->phase = xstrdup(phase);
	approval->approved_at = now;
	state->last_updated = now;
	*changed_out = true;
	return 0;
}

static struct flow_task *find_task(struct flow_state *state, const char *id)
{
	for (size_t i = 0; i < state->tasks.nr; i++)
		if (!strcmp(state->tasks.items[i].id, id))
			return &state->tasks.items[i];
	return NULL;
}

static void set_status(struct flow_task *task, enum flow_status status, int64_t now)
{
	bool over = status == FLOW_COMPLETE || status == FLOW_FAILED;

	if (status == FLOW_PENDING)
		task->started_at = 0;
	else if (status == FLOW_IN_PROGRESS || !task->started_at)
		task->started_at = now;
	task->completed_at = over ? now : 0;
	task->status = status;
}

int flow_task_set(struct flow_task **out, struct flow_state *state, const char *id,
		  enum flow_status status, const struct strlist *output, int64_t now)
{
	struct flow_task *task;

	if (state->phase_status != FLOW_IN_PROGRESS)
		return ckpt_error_set(CKPT_ERROR,
				      "no phase is in progress; 'git checkpoint flow phase <phase> start' "
				      "starts one");
	task = find_task(state, id);
	if (!task) {
		task = flow_state_add(&state->tasks, sizeof(*task));
		task->id = xstrdup(id);
	}
	set_status(task, status, now);
	if (output->nr) {
		strlist_release(&task->output);
		task->output = (struct strlist)STRLIST_INIT;
		strlist_extend(&task->output, output);
	}
	state->last_updated = now;
	*out = task;
	return 0;
}

/* --- where to continue --- */

void flow_decision_release(struct flow_decision *decision)
{
	strlist_release(&decision->taken);
	strlist_release(&decision->again);
}

static bool has_output(const struct flow_task *task, const struct flow_facts *facts)
{
	for (size_t i = 0; i < task->output.nr; i++)
		if (!facts->exists(task->output.items[i], facts->payload))
			return false;
	return task->output.nr > 0;
}

static void decide_task(struct flow_decision *out, struct flow_task *task,
			const struct flow_facts *facts)
{
	bool running = task->status == FLOW_IN_PROGRESS;

	if (running && !facts->restoring && has_output(task, facts)) {
		/* Killed between writing the output and reporting it. */
		set_status(task, FLOW_COMPLETE, facts->now);
		strlist_add(&out->taken, task->id);
	} else if (running || (facts->restoring && task->status != FLOW_PENDING)) {
		task->attempts += running;
		set_status(task, FLOW_PENDING, facts->now);
		strlist_add(&out->again, task->id);
	} else {
		return;
	}
	out->changed = true;
}

void flow_decide(struct flow_decision *out, struct flow_state *state, const struct flow_plan *plan,
		 const struct flow_facts *facts)
{
	const char *waiting = flow_waiting(state, plan), *next = flow_next(state, plan);

	*out = (struct flow_decision){
		.phase = waiting ? waiting : next,
		.waiting = waiting != NULL,
		.stale =
			facts->stale_after && facts->now - state->last_updated > facts->stale_after,
	};
	if (waiting || !next)
		out->status = FLOW_COMPLETE;
	else if (!strcmp(state->current_phase, next))
		out->status = state->phase_status;
	else
		out->status = FLOW_PENDING;
	if (state->phase_status != FLOW_IN_PROGRESS && state->phase_status != FLOW_FAILED)
		return;
	/* While approval is pending, nothing is run again. */
	for (size_t i = 0; i < state->tasks.nr && !waiting; i++)
		decide_task(out, &state->tasks.items[i], facts);
	if (out->changed)
		state->last_updated = facts->now;
}
