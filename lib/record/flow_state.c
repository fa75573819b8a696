/* SPDX-License-Identifier: MIT */
#include "record/flow_state.h"

#include "base/base.h"

static const char *const statuses[] = {
	[FLOW_PENDING] = "pending",
	[FLOW_IN_PROGRESS] = "in_progress",
	[FLOW_COMPLETE] = "complete",
	[FLOW_FAILED] = "failed",
};

static const char *const task_statuses[] = {
	[FLOW_TASK_PENDING] = "pending",
	[FLOW_TASK_RUNNING] = "running",
	[FLOW_TASK_COMPLETE] = "complete",
	[FLOW_TASK_FAILED] = "failed",
};

const char *flow_status_name(enum flow_status status)
{
	return statuses[status];
}

const char *flow_task_status_name(enum flow_task_status status)
{
	return task_statuses[status];
}

static bool find_name(int *out, const char *const *names, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr && name; i++) {
		if (strcmp(names[i], name))
			continue;
		*out = (int)i;
		return true;
	}
	return false;
}

bool flow_status_parse(enum flow_status *out, const char *name)
{
	int found;

	if (!find_name(&found, statuses, ARRAY_SIZE(statuses), name))
		return false;
	*out = (enum flow_status)found;
	return true;
}

bool flow_task_status_parse(enum flow_task_status *out, const char *name)
{
	int found;

	if (!find_name(&found, task_statuses, ARRAY_SIZE(task_statuses), name))
		return false;
	*out = (enum flow_task_status)found;
	return true;
}

/* --- names --- */

static const char *name_problem(const char *name, const char *reserved)
{
	size_t len = strlen(name);

	if (!len)
		return "is empty";
	if (len > FLOW_NAME_MAX)
		return "is too long";
	if (!utf8_valid(name, len))
		return "is not UTF-8";
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return "has a control character in it";
		if (strchr(reserved, name[i]))
			return "has a '/' or ',' in it";
	}
	return NULL;
}

const char *flow_name_problem(const char *name)
{
	return name_problem(name, "/,");
}

const char *flow_task_problem(const char *id)
{
	return name_problem(id, "");
}

/* --- structures --- */

void flow_state_clear_tasks(struct flow_state *state)
{
	for (size_t i = 0; i < state->tasks_nr; i++) {
		free(state->tasks[i].id);
		strlist_release(&state->tasks[i].output);
	}
	state->tasks_nr = 0;
}

void flow_state_release(struct flow_state *state)
{
	for (size_t i = 0; i < state->done_nr; i++) {
		free(state->done[i].phase);
		strlist_release(&state->done[i].output);
	}
	for (size_t i = 0; i < state->approvals_nr; i++)
		free(state->approvals[i].phase);
	flow_state_clear_tasks(state);
	free(state->done);
	free(state->approvals);
	free(state->tasks);
	free(state->workflow_id);
	free(state->current_phase);
	memset(state, 0, sizeof(*state));
}

void flow_plan_release(struct flow_plan *plan)
{
	strlist_release(&plan->phases);
	strlist_release(&plan->approve);
	free(plan->workflow_id);
	free(plan->state_dir);
	memset(plan, 0, sizeof(*plan));
}

struct flow_done *flow_state_add_done(struct flow_state *state, const char *phase)
{
	struct flow_done *done;

	ALLOC_GROW(state->done, state->done_nr + 1, state->done_alloc);
	done = &state->done[state->done_nr++];
	memset(done, 0, sizeof(*done));
	done->phase = xstrdup(phase);
	return done;
}

struct flow_approval *flow_state_add_approval(struct flow_state *state, const char *phase)
{
	struct flow_approval *approval;

	ALLOC_GROW(state->approvals, state->approvals_nr + 1, state->approvals_alloc);
	approval = &state->approvals[state->approvals_nr++];
	*approval = (struct flow_approval){ .phase = xstrdup(phase) };
	return approval;
}

struct flow_task *flow_state_add_task(struct flow_state *state, const char *id)
{
	struct flow_task *task;

	ALLOC_GROW(state->tasks, state->tasks_nr + 1, state->tasks_alloc);
	task = &state->tasks[state->tasks_nr++];
	memset(task, 0, sizeof(*task));
	task->id = xstrdup(id);
	return task;
}

/* --- printing --- */

json_t *flow_task_object(const struct flow_task *task)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_text(task->id));
	json_object_set_new(object, "status", json_string(task_statuses[task->status]));
	json_object_set_new(object, "attempts", json_integer((json_int_t)task->attempts));
	json_object_set_new(object, "started_at", json_time(task->started_at));
	json_object_set_new(object, "completed_at", json_time(task->completed_at));
	json_object_set_new(object, "output", json_paths(&task->output));
	return object;
}

json_t *flow_tasks_object(const struct flow_state *state)
{
	json_t *array = json_array();

	for (size_t i = 0; i < state->tasks_nr; i++)
		json_array_append_new(array, flow_task_object(&state->tasks[i]));
	return array;
}

static json_t *done_object(const struct flow_state *state)
{
	json_t *array = json_array();

	for (size_t i = 0; i < state->done_nr; i++) {
		const struct flow_done *done = &state->done[i];
		json_t *object = json_object();

		json_object_set_new(object, "phase", json_text(done->phase));
		json_object_set_new(object, "completed_at", json_time(done->completed_at));
		json_object_set_new(object, "output", json_paths(&done->output));
		json_object_set_new(object, "checkpoint", json_text(done->checkpoint));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *flow_state_object(const struct flow_state *state)
{
	json_t *object = json_object(), *approvals = json_array();

	for (size_t i = 0; i < state->approvals_nr; i++) {
		json_t *approval = json_object();

		json_object_set_new(approval, "phase", json_text(state->approvals[i].phase));
		json_object_set_new(approval, "approved_at",
				    json_time(state->approvals[i].approved_at));
		json_array_append_new(approvals, approval);
	}
	json_object_set_new(object, "workflow_id", json_text(state->workflow_id));
	json_object_set_new(object, "started_at", json_time(state->started_at));
	json_object_set_new(object, "last_updated", json_time(state->last_updated));
	json_object_set_new(object, "current_phase", json_text(state->current_phase));
	json_object_set_new(object, "phase_status", json_string(statuses[state->phase_status]));
	json_object_set_new(object, "completed_phases", done_object(state));
	json_object_set_new(object, "user_checkpoints", approvals);
	json_object_set_new(object, "tasks", flow_tasks_object(state));
	json_object_set_new(object, "interruption_safe", json_boolean(state->interruption_safe));
	return object;
}

static void print_object(struct strbuf *out, json_t *object)
{
	/* People look into these files. */
	char *text = json_dumps(object, JSON_INDENT(2));

	strbuf_addstr(out, text ? text : "null");
	strbuf_addch(out, '\n');
	free(text);
	json_decref(object);
}

void flow_state_print(struct strbuf *out, const struct flow_state *state)
{
	print_object(out, flow_state_object(state));
}

static json_t *plan_object(const struct flow_plan *plan)
{
	json_t *object = json_object();

	json_object_set_new(object, "workflow_id", json_text(plan->workflow_id));
	json_object_set_new(object, "started_at", json_time(plan->started_at));
	json_object_set_new(object, "phases", json_texts(&plan->phases));
	json_object_set_new(object, "approve", json_texts(&plan->approve));
	json_object_set_new(object, "state_dir",
			    plan->state_dir ? json_path(plan->state_dir) : json_null());
	return object;
}

void flow_plan_print(struct strbuf *out, const struct flow_plan *plan,
		     const struct flow_plan *previous)
{
	json_t *object = plan_object(plan);

	json_object_set_new(object, "previous", previous ? plan_object(previous) : json_null());
	print_object(out, object);
}
