/* SPDX-License-Identifier: MIT */
/* What may happen to phases and tasks, and the result. */
#include "flow/flow.h"

#include "base/error.h"
#include "unit.h"

#include "flowgen.h"

static const struct strlist nothing = STRLIST_INIT;

static int move(struct flow_state *state, const struct flow_plan *plan, const char *phase, char how)
{
	bool changed;

	switch (how) {
	case 's':
		return flow_phase_start(state, plan, phase, NOW);
	case 'c':
		return flow_phase_complete(state, plan, phase, &nothing, NOW);
	case 'f':
		return flow_phase_fail(state, plan, phase, NOW);
	default:
		return flow_phase_approve(&changed, state, plan, phase, NOW);
	}
}

static void test_transitions(void **unused)
{
	static const struct {
		const char *current;
		enum flow_status status;
		const char *done, *approved;
		const char *phase;
		char how; /* start, complete, fail, approve */
		int err;
	} rows[] = {
		{ "A", FLOW_PENDING, "", "", "A", 's', 0 },
		{ "A", FLOW_PENDING, "", "", "B", 's', CKPT_ERROR },
		{ "A", FLOW_PENDING, "", "", "Z", 's', CKPT_ERROR },
		{ "A", FLOW_PENDING, "", "", "A", 'c', CKPT_ERROR },
		{ "A", FLOW_PENDING, "", "", "A", 'f', CKPT_ERROR },
		{ "A", FLOW_PENDING, "", "", "A", 'a', CKPT_ERROR },
		{ "A", FLOW_IN_PROGRESS, "", "", "A", 's', 0 },
		{ "A", FLOW_IN_PROGRESS, "", "", "A", 'c', 0 },
		{ "A", FLOW_IN_PROGRESS, "", "", "A", 'f', 0 },
		{ "A", FLOW_IN_PROGRESS, "", "", "A", 'a', CKPT_ERROR },
		{ "A", FLOW_IN_PROGRESS, "", "", "B", 's', CKPT_ERROR },
		{ "A", FLOW_IN_PROGRESS, "", "", "B", 'c', CKPT_ERROR },
		{ "A", FLOW_IN_PROGRESS, "", "", "Z", 'c', CKPT_ERROR },
		{ "A", FLOW_FAILED, "", "", "A", 's', 0 },
		{ "A", FLOW_FAILED, "", "", "A", 'c', CKPT_ERROR },
		{ "A", FLOW_FAILED, "", "", "B", 's', CKPT_ERROR },
		/* waiting: nothing begins, but it can be approved */
		{ "A", FLOW_COMPLETE, "A", "", "A", 's', CKPT_ERROR },
		{ "A", FLOW_COMPLETE, "A", "", "A", 'c', CKPT_ERROR },
		{ "A", FLOW_COMPLETE, "A", "", "B", 's', CKPT_EREFUSED },
		{ "A", FLOW_COMPLETE, "A", "", "C", 's', CKPT_ERROR },
		{ "A", FLOW_COMPLETE, "A", "", "A", 'a', 0 },
		{ "A", FLOW_COMPLETE, "A", "", "B", 'a', CKPT_ERROR },
		{ "A", FLOW_COMPLETE, "A", "", "Z", 'a', CKPT_ERROR },
		{ "A", FLOW_COMPLETE, "A", "A", "B", 's', 0 },
		{ "A", FLOW_COMPLETE, "A", "A", "A", 'a', 0 },
		{ "B", FLOW_IN_PROGRESS, "A", "A", "A", 'c', CKPT_ERROR },
		{ "B", FLOW_IN_PROGRESS, "A", "A", "B", 'c', 0 },
		/* B needs no approval */
		{ "B", FLOW_COMPLETE, "A B", "A", "C", 's', 0 },
		{ "B", FLOW_COMPLETE, "A B", "A", "B", 'a', 0 },
		{ "C", FLOW_COMPLETE, "A B C", "A", "C", 's', CKPT_ERROR },
		{ "C", FLOW_COMPLETE, "A B C", "A", "D", 's', CKPT_ERROR },
	};
	struct flow_plan plan;

	(void)unused;
	make_plan(&plan, "A B C", "A");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;
		struct flow_state state;
		int err;

		make_state(&state, rows[i].current, rows[i].status, rows[i].done, rows[i].approved);
		flow_state_print(&before, &state);
		err = move(&state, &plan, rows[i].phase, rows[i].how);
		if (err != rows[i].err)
			fail_msg("row %zu: %d instead of %d: %s", i, err, rows[i].err,
				 ckpt_error_last());
		/* A new one is as sound as the old one; what does not go changes nothing. */
		assert_int_equal(flow_check(&state, &plan, &facts), 0);
		flow_state_print(&after, &state);
		if (err)
			assert_string_equal(before.buf, after.buf);
		flow_state_release(&state);
		strbuf_release(&before);
		strbuf_release(&after);
	}
	flow_plan_release(&plan);
}

static void test_a_whole_walk(void **unused)
{
	struct strlist output = STRLIST_INIT;
	struct flow_plan plan;
	struct flow_state state;
	bool changed;

	(void)unused;
	make_plan(&plan, "A B", "B");
	strlist_add(&output, "+x");
	flow_begin(&state, &plan);
	assert_string_equal(state.current_phase, "A");
	assert_int_equal(state.phase_status, FLOW_PENDING);
	assert_true(state.interruption_safe);
	assert_int_equal(flow_phase_start(&state, &plan, "A", 300), 0);
	assert_int_equal(state.last_updated, 300);
	assert_int_equal(flow_phase_complete(&state, &plan, "A", &output, 400), 0);
	assert_string_equal(state.done.items[0].output.items[0], "+x");
	assert_int_equal(state.done.items[0].completed_at, 400);
	assert_null(flow_waiting(&state, &plan));
	assert_string_equal(flow_next(&state, &plan), "B");
	assert_int_equal(flow_phase_start(&state, &plan, "B", 500), 0);
	assert_int_equal(flow_phase_complete(&state, &plan, "B", &nothing, 600), 0);
	assert_string_equal(flow_waiting(&state, &plan), "B");
	assert_false(flow_finished(&state, &plan));
	assert_int_equal(flow_phase_approve(&changed, &state, &plan, "B", 700), 0);
	assert_true(changed && flow_finished(&state, &plan));
	assert_int_equal(flow_phase_approve(&changed, &state, &plan, "B", 800), 0);
	assert_false(changed);
	assert_int_equal(state.approvals.nr, 1);
	assert_int_equal(state.last_updated, 700);
	flow_state_release(&state);
	flow_plan_release(&plan);
	strlist_release(&output);
}

static void test_tasks(void **unused)
{
	struct strlist output = STRLIST_INIT;
	struct flow_plan plan;
	struct flow_state state;
	struct flow_task *task;

	(void)unused;
	make_plan(&plan, "A B", "");
	strlist_add(&output, "+x");
	flow_begin(&state, &plan);
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_IN_PROGRESS, &output, NOW), CKPT_ERROR);
	assert_int_equal(flow_phase_start(&state, &plan, "A", 300), 0);
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_IN_PROGRESS, &output, 400), 0);
	assert_int_equal(task->started_at, 400);
	assert_int_equal(task->completed_at, 0);
	assert_int_equal(task->attempts, 0);
	assert_int_equal(state.last_updated, 400);
	/* its output is known already */
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_COMPLETE, &nothing, 500), 0);
	assert_int_equal(state.tasks.nr, 1);
	assert_int_equal(task->started_at, 400);
	assert_int_equal(task->completed_at, 500);
	assert_string_equal(task->output.items[0], "+x");
	/* nobody but a resume counts attempts */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(flow_task_set(&task, &state, "t", FLOW_FAILED, &nothing, 600), 0);
		assert_int_equal(task->completed_at, 600);
		assert_int_equal(flow_task_set(&task, &state, "t", FLOW_IN_PROGRESS, &nothing, 700), 0);
		assert_int_equal(task->started_at, 700);
		assert_int_equal(task->completed_at, 0);
	}
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_PENDING, &nothing, 800), 0);
	assert_int_equal(task->started_at, 0);
	assert_int_equal(task->attempts, 0);
	/* the same phase again keeps them, the next one does not */
	assert_int_equal(flow_phase_fail(&state, &plan, "A", 900), 0);
	assert_int_equal(flow_phase_start(&state, &plan, "A", 901), 0);
	assert_int_equal(state.tasks.nr, 1);
	assert_int_equal(flow_phase_complete(&state, &plan, "A", &nothing, 902), 0);
	assert_int_equal(state.tasks.nr, 1);
	assert_int_equal(flow_phase_start(&state, &plan, "B", 903), 0);
	assert_int_equal(state.tasks.nr, 0);
	flow_state_release(&state);
	flow_plan_release(&plan);
	strlist_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transitions),
		cmocka_unit_test(test_a_whole_walk),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests_name("flow: moves", tests, NULL, NULL);
}
