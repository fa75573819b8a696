/* SPDX-License-Identifier: MIT */
/* Where a workflow goes on. */
#include "flow/flow.h"

#include "base/error.h"
#include "unit.h"

#include "flowgen.h"

static void test_where(void **unused)
{
	static const struct {
		const char *current;
		enum flow_status status;
		const char *done, *approved;
		const char *phase;
		enum flow_status is;
		bool waiting;
	} rows[] = {
		{ "A", FLOW_PENDING, "", "", "A", FLOW_PENDING, false },
		{ "A", FLOW_IN_PROGRESS, "", "", "A", FLOW_IN_PROGRESS, false },
		{ "A", FLOW_FAILED, "", "", "A", FLOW_FAILED, false },
		{ "A", FLOW_COMPLETE, "A", "", "B", FLOW_PENDING, false },
		{ "B", FLOW_COMPLETE, "A B", "", "B", FLOW_COMPLETE, true },
		{ "B", FLOW_COMPLETE, "A B", "B", "C", FLOW_PENDING, false },
		{ "C", FLOW_IN_PROGRESS, "A B", "B", "C", FLOW_IN_PROGRESS, false },
		/* it was edited: somebody has to agree all the same */
		{ "C", FLOW_IN_PROGRESS, "A B", "", "B", FLOW_COMPLETE, true },
		{ "C", FLOW_COMPLETE, "A B C", "B", NULL, FLOW_COMPLETE, false },
	};
	struct flow_plan plan;

	(void)unused;
	make_plan(&plan, "A B C", "B");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_decision decision;
		struct flow_state state;

		make_state(&state, rows[i].current, rows[i].status, rows[i].done, rows[i].approved);
		flow_decide(&decision, &state, &plan, &facts);
		if (!rows[i].phase != !decision.phase ||
		    (decision.phase && strcmp(decision.phase, rows[i].phase)) ||
		    decision.status != rows[i].is || decision.waiting != rows[i].waiting ||
		    decision.changed)
			fail_msg("row %zu: %s", i, decision.phase ? decision.phase : "nothing");
		flow_decision_release(&decision);
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

static void test_what_becomes_of_tasks(void **unused)
{
	static const struct {
		enum flow_status status;
		const char *output;
		bool restoring;
		enum flow_status then;
		uint64_t attempts; /* of 2 */
	} rows[] = {
		{ FLOW_IN_PROGRESS, "+a", false, FLOW_COMPLETE, 2 },
		{ FLOW_IN_PROGRESS, "+a +b", false, FLOW_COMPLETE, 2 },
		{ FLOW_IN_PROGRESS, "+a -b", false, FLOW_PENDING, 3 },
		{ FLOW_IN_PROGRESS, "-a", false, FLOW_PENDING, 3 },
		{ FLOW_IN_PROGRESS, "", false, FLOW_PENDING, 3 },
		{ FLOW_PENDING, "+a", false, FLOW_PENDING, 2 },
		{ FLOW_COMPLETE, "+a", false, FLOW_COMPLETE, 2 },
		{ FLOW_FAILED, "-a", false, FLOW_FAILED, 2 },
		/* the files go back, so all of it is to be done again */
		{ FLOW_IN_PROGRESS, "+a", true, FLOW_PENDING, 3 },
		{ FLOW_IN_PROGRESS, "-a", true, FLOW_PENDING, 3 },
		{ FLOW_COMPLETE, "+a", true, FLOW_PENDING, 2 },
		{ FLOW_FAILED, "+a", true, FLOW_PENDING, 2 },
		{ FLOW_PENDING, "+a", true, FLOW_PENDING, 2 },
	};
	struct flow_plan plan;

	(void)unused;
	make_plan(&plan, "A B", "A");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_facts here = facts;
		struct flow_decision decision;
		struct flow_state state;
		struct flow_task *task;

		here.restoring = rows[i].restoring;
		make_state(&state, "B", FLOW_IN_PROGRESS, "A", "A");
		task = add_task(&state, "t");
		*task = (struct flow_task){ task->id, rows[i].status, 2, 170, 0, STRLIST_INIT };
		add_words(&task->output, rows[i].output);
		flow_decide(&decision, &state, &plan, &here);
		if (task->status != rows[i].then || task->attempts != rows[i].attempts ||
		    decision.changed != (rows[i].then != rows[i].status))
			fail_msg("row %zu: %s, %d attempts", i, flow_task_status_name(task->status),
				 (int)task->attempts);
		assert_int_equal(state.last_updated, decision.changed ? NOW : 200);
		if (task->status == FLOW_PENDING && decision.changed)
			assert_int_equal(task->started_at, 0);
		flow_decision_release(&decision);
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

/* While it waits, nothing is run again: not even what was left of its tasks. */
static void test_waiting_leaves_tasks_alone(void **unused)
{
	struct flow_decision decision;
	struct flow_plan plan;
	struct flow_state state;

	(void)unused;
	make_plan(&plan, "A B", "A");
	make_state(&state, "A", FLOW_COMPLETE, "A", "");
	add_task(&state, "t")->status = FLOW_IN_PROGRESS;
	flow_decide(&decision, &state, &plan, &facts);
	assert_true(decision.waiting);
	assert_false(decision.changed);
	assert_int_equal(state.tasks.items[0].status, FLOW_IN_PROGRESS);
	flow_decision_release(&decision);
	flow_state_release(&state);
	flow_plan_release(&plan);
}

static void test_stale(void **unused)
{
	static const struct {
		int64_t updated, after;
		bool stale;
	} rows[] = {
		{ NOW, 60, false },	{ NOW - 60, 60, false }, { NOW - 61, 60, true },
		{ NOW - 61, 0, false }, { NOW + 1, 60, false },
	};
	struct flow_plan plan;

	(void)unused;
	make_plan(&plan, "A B", "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_facts here = facts;
		struct flow_decision decision;
		struct flow_state state;

		here.stale_after = rows[i].after;
		make_state(&state, "A", FLOW_IN_PROGRESS, "", "");
		state.last_updated = rows[i].updated;
		flow_decide(&decision, &state, &plan, &here);
		if (decision.stale != rows[i].stale)
			fail_msg("row %zu", i);
		flow_decision_release(&decision);
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_what_becomes_of_tasks),
		cmocka_unit_test(test_waiting_leaves_tasks_alone),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests_name("flow: decide", tests, NULL, NULL);
}
