/* SPDX-License-Identifier: MIT */
/* Can the state of a workflow be trusted? */
#include "flow/flow.h"

#include "base/error.h"
#include "unit.h"

#include "flowgen.h"

static void test_order(void **unused)
{
	static const struct {
		const char *current;
		enum flow_status status;
		const char *done, *approved;
		bool sound;
	} rows[] = {
		{ "A", FLOW_PENDING, "", "", true },
		{ "A", FLOW_IN_PROGRESS, "", "", true },
		{ "A", FLOW_FAILED, "", "", true },
		{ "A", FLOW_COMPLETE, "A", "", true },
		{ "A", FLOW_COMPLETE, "A", "A", true },
		{ "B", FLOW_IN_PROGRESS, "A", "A", true },
		{ "B", FLOW_PENDING, "A", "", true },
		{ "C", FLOW_COMPLETE, "A B C", "B", true },
		/* unknown ones */
		{ "Z", FLOW_PENDING, "", "", false },
		{ "B", FLOW_PENDING, "Z", "", false },
		{ "B", FLOW_PENDING, "A", "Z", false },
		/* out of order */
		{ "B", FLOW_IN_PROGRESS, "", "", false },
		{ "C", FLOW_IN_PROGRESS, "A", "", false },
		{ "A", FLOW_IN_PROGRESS, "A", "", false },
		{ "A", FLOW_COMPLETE, "", "", false },
		{ "A", FLOW_COMPLETE, "A B", "", false },
		{ "B", FLOW_COMPLETE, "A", "", false },
		{ "C", FLOW_IN_PROGRESS, "B A", "", false },
		{ "C", FLOW_IN_PROGRESS, "B", "", false },
		{ "C", FLOW_IN_PROGRESS, "A A", "", false },
		{ "C", FLOW_PENDING, "A B C", "", false },
		{ "C", FLOW_COMPLETE, "A B C C", "", false },
		/* approved before it was complete */
		{ "A", FLOW_IN_PROGRESS, "", "A", false },
	};
	struct flow_plan plan;

	(void)unused;
	make_plan(&plan, "A B C", "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_state state;

		make_state(&state, rows[i].current, rows[i].status, rows[i].done, rows[i].approved);
		if (flow_check_order(&state, &plan) != (rows[i].sound ? 0 : CKPT_ECORRUPT) ||
		    flow_check(&state, &plan, &facts) != (rows[i].sound ? 0 : CKPT_ECORRUPT))
			fail_msg("row %zu is%s sound", i, rows[i].sound ? " not" : "");
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

/* A sound state with a complete phase, a running and a complete task, and approval. */
static void make_full(struct flow_state *state)
{
	struct flow_task *task;

	make_state(state, "B", FLOW_IN_PROGRESS, "A", "A");
	strlist_add(&state->done.items[0].output, "+a");
	task = add_task(state, "t");
	task->status = FLOW_COMPLETE;
	task->started_at = task->completed_at = 170;
	strlist_add(&task->output, "+t");
}

static void test_times_in_the_future(void **unused)
{
	struct flow_plan plan;
	struct flow_state state;

	(void)unused;
	make_plan(&plan, "A B", "A");
	for (int i = -1; i < 6; i++) {
		int64_t *times[6];

		make_full(&state);
		times[0] = &state.started_at;
		times[1] = &state.last_updated;
		times[2] = &state.done.items[0].completed_at;
		times[3] = &state.approvals.items[0].approved_at;
		times[4] = &state.tasks.items[0].started_at;
		times[5] = &state.tasks.items[0].completed_at;
		if (i >= 0)
			*times[i] = NOW + FLOW_CLOCK_SLACK;
		assert_int_equal(flow_check(&state, &plan, &facts), 0);
		if (i >= 0) {
			*times[i] = NOW + FLOW_CLOCK_SLACK + 1;
			assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
			assert_non_null(strstr(ckpt_error_last(), "future"));
		}
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

static void test_outputs_and_interruption(void **unused)
{
	struct flow_facts restoring = facts;
	struct flow_plan plan;
	struct flow_state state;

	(void)unused;
	restoring.restoring = true;
	make_plan(&plan, "A B", "A");
	make_full(&state);
	assert_int_equal(flow_check(&state, &plan, &facts), 0);
	/* of a complete task; one that is not complete may have none */
	strlist_add(&state.tasks.items[0].output, "-t");
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ENOTFOUND);
	assert_non_null(strstr(ckpt_error_last(), "-t"));
	/* which starts over with the files of the phase before */
	assert_int_equal(flow_check(&state, &plan, &restoring), 0);
	state.tasks.items[0].status = FLOW_FAILED;
	assert_int_equal(flow_check(&state, &plan, &facts), 0);
	/* of a complete phase */
	strlist_add(&state.done.items[0].output, "-a");
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ENOTFOUND);
	assert_int_equal(flow_check(&state, &plan, &restoring), CKPT_ENOTFOUND);
	/* a state that cannot be trusted is that first */
	state.interruption_safe = false;
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
	flow_state_release(&state);
	make_full(&state);
	state.interruption_safe = false;
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
	flow_state_release(&state);
	flow_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_times_in_the_future),
		cmocka_unit_test(test_outputs_and_interruption),
	};

	return cmocka_run_group_tests_name("flow: check", tests, NULL, NULL);
}
