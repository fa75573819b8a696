/* SPDX-License-Identifier: MIT */
#include "flow/flow_decide.h"

#include "base/base.h"

/* --- can it be trusted? --- */

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

static int check_time(int64_t when, const char *what, const struct flow_facts *facts)
{
	if (when <= facts->now + FLOW_CLOCK_SLACK)
		return 0;
	return ckpt_error_set(CKPT_ECORRUPT, "'%s' is in the future", what);
}

static int check_times(const struct flow_state *state, const struct flow_facts *facts)
{
	int err = check_time(state->started_at, "started_at", facts);

	if (!err)
		err = check_time(state->last_updated, "last_updated", facts);
	for (size_t i = 0; i < state->done_nr && !err; i++)
		err = check_time(state->done[i].completed_at, "completed_at", facts);
	for (size_t i = 0; i < state->approvals_nr && !err; i++)
		err = check_time(state->approvals[i].approved_at, "approved_at", facts);
	for (size_t i = 0; i < state->tasks_nr && !err; i++) {
		err = check_time(state->tasks[i].started_at, "started_at", facts);
		if (!err)
			err = check_time(state->tasks[i].completed_at, "completed_at", facts);
	}
	return err;
}

int flow_check(const struct flow_state *state, const struct flow_plan *plan,
	       const struct flow_facts *facts)
{
	bool redone = facts->restoring && state->phase_status != FLOW_COMPLETE;
	int err = flow_check_order(state, plan);

	if (!err)
		err = check_times(state, facts);
	if (!err && !state->interruption_safe)
		err = ckpt_error_set(
			CKPT_ECORRUPT,
			"it was interrupted where that was not safe ('interruption_safe' is "
			"false)");
	/* At last: a state that cannot be trusted says nothing about outputs. */
	for (size_t i = 0; i < state->done_nr && !err; i++)
		err = check_outputs(&state->done[i].output, "phase", state->done[i].phase, facts);
	for (size_t i = 0; i < state->tasks_nr && !err && !redone; i++)
		if (state->tasks[i].status == FLOW_TASK_COMPLETE)
			err = check_outputs(&state->tasks[i].output, "task", state->tasks[i].id,
					    facts);
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
	if (flow_find_done(state, phase))
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
	done = flow_state_add_done(state, phase);
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
	int err = need_known(plan, phase);

	*changed_out = false;
	if (err)
		return err;
	if (!flow_find_done(state, phase))
		return ckpt_error_set(CKPT_ERROR,
				      "phase '%s' is not complete yet; nothing to approve",
				      phase);
	if (flow_is_approved(state, phase))
		return 0;
	flow_state_add_approval(state, phase)->approved_at = now;
	state->last_updated = now;
	*changed_out = true;
	return 0;
}

static struct flow_task *find_task(struct flow_state *state, const char *id)
{
	for (size_t i = 0; i < state->tasks_nr; i++)
		if (!strcmp(state->tasks[i].id, id))
			return &state->tasks[i];
	return NULL;
}

static void set_status(struct flow_task *task, enum flow_task_status status, int64_t now)
{
	bool over = status == FLOW_TASK_COMPLETE || status == FLOW_TASK_FAILED;

	if (status == FLOW_TASK_PENDING)
		task->started_at = 0;
	else if (status == FLOW_TASK_RUNNING || !task->started_at)
		task->started_at = now;
	task->completed_at = over ? now : 0;
	task->status = status;
}

int flow_task_set(struct flow_task **out, struct flow_state *state, const char *id,
		  enum flow_task_status status, const struct strlist *output, int64_t now)
{
	struct flow_task *task;

	if (state->phase_status != FLOW_IN_PROGRESS)
		return ckpt_error_set(CKPT_ERROR,
				      "no phase is in progress; 'git checkpoint flow phase <phase> start' "
				      "starts one");
	task = find_task(state, id);
	if (!task)
		task = flow_state_add_task(state, id);
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
	bool running = task->status == FLOW_TASK_RUNNING;

	if (running && !facts->restoring && has_output(task, facts)) {
		/* Killed between writing the output and reporting it. */
		set_status(task, FLOW_TASK_COMPLETE, facts->now);
		strlist_add(&out->taken, task->id);
	} else if (running || (facts->restoring && task->status != FLOW_TASK_PENDING)) {
		task->attempts += running;
		set_status(task, FLOW_TASK_PENDING, facts->now);
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
	for (size_t i = 0; i < state->tasks_nr && !waiting; i++)
		decide_task(out, &state->tasks[i], facts);
	if (out->changed)
		state->last_updated = facts->now;
}
