/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "flow/flow.h"

static const char *or_none(const char *text)
{
	return text && *text ? text : NULL;
}

static const char *last_checkpoint(const struct flow_state *state)
{
	return state->done.nr ? state->done.items[state->done.nr - 1].checkpoint : NULL;
}

/* ---- parts ---- */

/* What comes next, for people. */
static void print_next(const struct flow *flow)
{
	const char *waiting = flow_waiting(&flow->state, &flow->plan);
	const char *next = flow_next(&flow->state, &flow->plan);

	if (waiting)
		report_text(
			"Phase %s waits for approval; use 'git checkpoint flow approve'\n",
			waiting);
	else if (!next)
		report_text("Workflow %s is complete\n", flow->state.workflow_id);
	else if (flow->state.phase_status == FLOW_COMPLETE)
		report_text("Next phase: %s\n", next);
}

static void print_complete(const struct flow_state *state)
{
	report_text("Complete:");
	for (size_t i = 0; i < state->done.nr; i++)
		report_text("%s %s", i ? "," : "", state->done.items[i].phase);
	report_text("%s\n", state->done.nr ? "" : " nothing yet");
}

static void print_tasks(const struct flow_state *state)
{
	for (size_t i = 0; i < state->tasks.nr; i++) {
		const struct flow_task *task = &state->tasks.items[i];

		report_text("  task %s: %s", task->id, flow_task_status_name(task->status));
		if (task->attempts)
			report_text(", %llu %s", (unsigned long long)task->attempts,
				    task->attempts == 1 ? "attempt was interrupted"
							: "attempts were interrupted");
		report_text("\n");
	}
}

static void set_position(struct row *answer, const struct flow *flow)
{
	row_bool(answer, "waiting_for_approval", flow_waiting(&flow->state, &flow->plan) != NULL);
	row_text(answer, "next_phase", flow_next(&flow->state, &flow->plan));
}

/* True if the answer was JSON, and is printed; otherwise what follows is for people. */
static bool print_json(struct row *answer, const struct flow_result *result, int *status)
{
	bool json = opt_common.json;

	if (json) {
		row_texts(answer, "warnings", &result->warnings);
		*status = report_json(row_object(answer), *status);
	} else {
		row_release(answer);
		report_warnings(&result->warnings);
	}
	return json;
}

/* ---- changes ---- */

int show_flow_started(const struct flow_result *result)
{
	const struct flow_plan *plan = &result->flow.plan;
	struct row answer = ROW_INIT;
	int status = EXIT_DONE;

	row_bool(&answer, "started", true);
	row_text(&answer, "workflow_id", plan->workflow_id);
	row_time(&answer, "started_at", plan->started_at);
	row_texts(&answer, "phases", &plan->phases);
	row_texts(&answer, "approve", &plan->approve);
	row_path(&answer, "state_dir", plan->state_dir);
	row_path(&answer, "archived", result->archived);
	if (print_json(&answer, result, &status))
		return status;
	if (result->archived)
		report_text("Archived the previous workflow in %s\n", result->archived);
	report_text("Started workflow %s:", plan->workflow_id);
	for (size_t i = 0; i < plan->phases.nr; i++)
		report_text("%s %s", i ? "," : "", plan->phases.items[i]);
	report_text("\n");
	return status;
}

int show_flow_moved(const struct flow_result *result)
{
	const struct flow_state *state = &result->flow.state;
	const char *phase = state->current_phase;
	struct row answer = ROW_INIT;
	int status = result->incomplete ? EXIT_INCOMPLETE : EXIT_DONE;

	row_text(&answer, "workflow_id", state->workflow_id);
	row_text(&answer, "phase", phase);
	row_text(&answer, "phase_status", flow_status_name(state->phase_status));
	row_text(&answer, "checkpoint", result->checkpoint);
	set_position(&answer, &result->flow);
	if (print_json(&answer, result, &status))
		return status;
	if (result->incomplete && !opt_common.quiet)
		report_messagef("warning", "checkpoint '%s' is incomplete", result->checkpoint);
	report_text("Phase %s of %s: %s (%s)\n", phase, state->workflow_id,
		    flow_status_name(state->phase_status), result->checkpoint);
	print_next(&result->flow);
	return status;
}

int show_flow_approved(const struct flow_result *result)
{
	const struct flow_state *state = &result->flow.state;
	const char *phase = result->about;
	struct row answer = ROW_INIT;
	int status = EXIT_DONE;

	row_text(&answer, "workflow_id", state->workflow_id);
	row_text(&answer, "phase", phase);
	for (size_t i = 0; i < state->approvals.nr; i++)
		if (!strcmp(state->approvals.items[i].phase, phase))
			row_time(&answer, "approved_at", state->approvals.items[i].approved_at);
	set_position(&answer, &result->flow);
	if (print_json(&answer, result, &status))
		return status;
	report_text("Phase %s %s\n", phase,
		    result->changed ? "is approved" : "was already approved");
	print_next(&result->flow);
	return status;
}

int show_flow_task(const struct flow_result *result)
{
	const struct flow_state *state = &result->flow.state;
	const struct flow_task *task = state->tasks.items;
	struct row answer = ROW_INIT;
	int status = EXIT_DONE;

	while (strcmp(task->id, result->about))
		task++;
	row_text(&answer, "workflow_id", state->workflow_id);
	row_text(&answer, "phase", state->current_phase);
	row_json(&answer, "task", flow_task_object(task));
	if (print_json(&answer, result, &status))
		return status;
	report_text("Task %s of phase %s: %s\n", task->id, state->current_phase,
		    flow_task_status_name(task->status));
	return status;
}

int show_flow_archived(const struct flow_result *result)
{
	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_bool(&answer, "archived", true);
		row_text(&answer, "workflow_id", result->flow.state.workflow_id);
		row_bool(&answer, "corrupt", result->corrupt);
		row_path(&answer, "path", result->archived);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	report_text("Workflow %s was archived in %s\n"
		    "'git checkpoint flow unarchive' takes it back\n",
		    result->corrupt ? "with an unusable state" : result->flow.state.workflow_id,
		    result->archived);
	return EXIT_DONE;
}

int show_flow_unarchived(const struct flow_result *result)
{
	const struct flow_state *state = &result->flow.state;
	struct row answer = ROW_INIT;
	int status = EXIT_DONE;

	row_bool(&answer, "unarchived", true);
	row_text(&answer, "workflow_id", state->workflow_id);
	row_text(&answer, "phase", state->current_phase);
	row_text(&answer, "phase_status", flow_status_name(state->phase_status));
	if (print_json(&answer, result, &status))
		return status;
	report_text("Workflow %s is back, in phase %s (%s)\n"
		    "'git checkpoint flow resume' tells what to do next\n",
		    state->workflow_id, state->current_phase,
		    flow_status_name(state->phase_status));
	return status;
}

/* ---- looking ---- */

int show_flow_status(const struct flow_result *result)
{
	const struct flow *flow = result ? &result->flow : NULL;
	char iso[CLOCK_ISO_SIZE], age[CLOCK_ISO_SIZE];

	if (opt_common.json) {
		struct row answer = { flow ? flow_state_object(&flow->state) : NULL, STRLIST_INIT };
		bool over = !flow || flow_finished(&flow->state, &flow->plan);

		row_bool(&answer, "in_progress", !over);
		if (!flow) {
			row_json(&answer, "workflow_id", json_null());
			return report_json(row_object(&answer), EXIT_DONE);
		}
		set_position(&answer, flow);
		row_texts(&answer, "phases", &flow->plan.phases);
		row_texts(&answer, "approve", &flow->plan.approve);
		row_path(&answer, "state_dir", flow->plan.state_dir);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	if (!flow) {
		report_text("No workflow is in progress\n");
		return EXIT_DONE;
	}
	report_text("Workflow %s, phase %s: %s\n", flow->state.workflow_id,
		    flow->state.current_phase, flow_status_name(flow->state.phase_status));
	report_text("Last activity: %s (%s)\n", clock_format_local(iso, flow->state.last_updated),
		    clock_format_age(age, flow->state.last_updated, clock_now()));
	print_complete(&flow->state);
	print_tasks(&flow->state);
	print_next(flow);
	return EXIT_DONE;
}

static void archive_row(struct row *row, const struct flow_archive *item)
{
	const struct flow_state *state = item->readable ? &item->state : NULL;
	const char *status = state ? flow_status_name(state->phase_status) : NULL;

	row_text(row, "workflow_id", state ? state->workflow_id : NULL);
	row_time(row, "started_at", state ? state->started_at : 0);
	row_time(row, "last_updated", state ? state->last_updated : 0);
	row_text(row, "current_phase", state ? state->current_phase : NULL);
	row_text(row, "phase_status", status);
	row_time(row, "archived_at", item->archived_at);
	row_bool(row, "corrupt", item->corrupt);
	row_json(row, "path", json_path(item->path));
	row_show(row, "path", "%s", item->path);
	if (!state)
		row_show(row, "workflow_id", "?");
	row_show(row, "phase_status", "%s: %s", state ? state->current_phase : "?",
		 state ? status : "?");
	if (item->corrupt)
		row_show(row, "phase_status", "corrupt");
}

int show_flow_list(const struct flow_archives *archives)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_RESET, TABLE_KEEP, "archived_at" },
		{ NULL, TABLE_LEFT, 30, TERM_RESET, TABLE_KEEP, "workflow_id" },
		{ NULL, TABLE_LEFT, 30, TERM_RESET, TABLE_KEEP, "phase_status" },
		{ NULL, TABLE_LEFT, 0, TERM_DIM, TABLE_KEEP, "path" },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	json_t *array = json_array();

	for (size_t i = archives->nr; i--;) {
		struct row row = ROW_INIT;

		archive_row(&row, &archives->items[i]);
		table_add_row(table, &row);
		json_array_append_new(array, row_object(&row));
	}
	if (!opt_common.json && !opt_common.quiet)
		table_print(table);
	table_free(table);
	if (opt_common.json)
		return report_json(json_pack("{s:o}", "archives", array), EXIT_DONE);
	json_decref(array);
	return EXIT_DONE;
}

/* ---- continuing ---- */

static json_t *tasks_object(const struct flow_state *state)
{
	json_t *array = json_array();

	for (size_t i = 0; i < state->tasks.nr; i++)
		json_array_append_new(array, flow_task_object(&state->tasks.items[i]));
	return array;
}

static json_t *resume_object(const struct flow_resumed *resumed)
{
	const struct flow_decision *decision = &resumed->decision;
	const struct flow_state *state = &resumed->base.flow.state;
	bool goes_on = resumed->outcome == FLOW_GOES_ON,
	     known = goes_on || resumed->outcome == FLOW_OVER;
	bool here = goes_on && decision->phase && !strcmp(decision->phase, state->current_phase);
	json_t *warnings = json_texts(&resumed->base.warnings);
	struct row answer = ROW_INIT;

	if (resumed->why)
		json_array_append_new(warnings, json_text(resumed->why));
	row_bool(&answer, "resume", goes_on);
	row_text(&answer, "workflow_id", state->workflow_id);
	row_text(&answer, "phase", known ? decision->phase : NULL);
	row_text(&answer, "phase_status", known ? flow_status_name(decision->status) : NULL);
	row_bool(&answer, "waiting_for_approval", decision->waiting);
	row_json(&answer, "tasks", here ? tasks_object(state) : json_array());
	row_json(&answer, "warnings", warnings);
	row_text(&answer, "checkpoint", known ? or_none(last_checkpoint(state)) : NULL);
	if (resumed->outcome == FLOW_DISTRUST)
		row_path(&answer, "archived", resumed->base.archived);
	if (resumed->restored)
		row_json(&answer, "restore",
			 show_restore_json(&resumed->restore, &resumed->target,
					   show_restore_way_back(&resumed->restore)));
	return row_object(&answer);
}

static void print_resume(const struct flow_resumed *resumed)
{
	const struct flow_decision *decision = &resumed->decision;
	const struct flow_state *state = &resumed->base.flow.state;
	char iso[CLOCK_ISO_SIZE], age[CLOCK_ISO_SIZE];

	report_text("Resuming workflow %s from %s\n", state->workflow_id, decision->phase);
	report_text("Last activity: %s (%s)\n", clock_format_local(iso, resumed->last_activity),
		    clock_format_age(age, resumed->last_activity, clock_now()));
	print_complete(state);
	for (size_t i = 0; i < decision->taken.nr; i++)
		report_text("  task %s is complete: its output exists\n",
			    decision->taken.items[i]);
	for (size_t i = 0; i < decision->again.nr; i++)
		report_text("  task %s starts again\n", decision->again.items[i]);
	if (!strcmp(decision->phase, state->current_phase))
		print_tasks(state);
	print_next(&resumed->base.flow);
}

/* Why there is nothing to resume, even with -q. */
static void print_refusal(const struct flow_resumed *resumed)
{
	if (resumed->outcome == FLOW_DISTRUST)
		report_messagef("error",
				"the state of the workflow cannot be trusted: %s; it was archived "
				"as corrupt in '%s'; 'git checkpoint flow unarchive' takes it back",
				resumed->why, resumed->base.archived);
	else if (resumed->outcome == FLOW_LACKS)
		report_message("error", resumed->why);
	else if (resumed->outcome == FLOW_OVER)
		report_messagef("error", "workflow '%s' is complete; nothing to resume",
				resumed->base.flow.state.workflow_id);
	else
		report_message("error", "no workflow to resume");
}

int show_flow_resumed(const struct flow_resumed *resumed, int status)
{
	if (resumed->outcome != FLOW_GOES_ON) {
		print_refusal(resumed);
		status = EXIT_NO;
	}
	if (opt_common.json)
		return report_json(resume_object(resumed), status);
	report_warnings(&resumed->base.warnings);
	if (resumed->outcome == FLOW_GOES_ON)
		print_resume(resumed);
	return status;
}
