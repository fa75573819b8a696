/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flow/flow_decide.h"

enum { NOW = 1000000 };

static const struct strlist nothing = STRLIST_INIT;

/* "a b c" */
static void add_words(struct strlist *out, const char *words)
{
	while (words && *words) {
		size_t len = strcspn(words, " ");

		strlist_take(out, xmemdupz(words, len));
		words += len + (words[len] == ' ');
	}
}

static void make_plan(struct flow_plan *plan, const char *phases, const char *approve)
{
	*plan = (struct flow_plan){ .workflow_id = xstrdup("w"), .started_at = 100 };
	add_words(&plan->phases, phases);
	add_words(&plan->approve, approve);
}

static void make_state(struct flow_state *state, const char *current, enum flow_status status,
		       const char *done, const char *approved)
{
	struct strlist words = STRLIST_INIT;

	*state = (struct flow_state){
		.workflow_id = xstrdup("w"),
		.started_at = 100,
		.last_updated = 200,
		.current_phase = xstrdup(current),
		.phase_status = status,
		.interruption_safe = true,
	};
	add_words(&words, done);
	for (size_t i = 0; i < words.nr; i++)
		flow_state_add_done(state, words.items[i])->completed_at = 150;
	strlist_release(&words);
	words = (struct strlist)STRLIST_INIT;
	add_words(&words, approved);
	for (size_t i = 0; i < words.nr; i++)
		flow_state_add_approval(state, words.items[i])->approved_at = 160;
	strlist_release(&words);
}

/* Outputs whose names begin with '+' are there. */
static bool exists(const char *path, void *payload)
{
	(void)payload;
	return *path == '+';
}

static const struct flow_facts facts = { .now = NOW, .exists = exists };

/* --- can it be trusted? --- */

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
	strlist_add(&state->done[0].output, "+a");
	task = flow_state_add_task(state, "t");
	task->status = FLOW_TASK_COMPLETE;
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
		times[2] = &state.done[0].completed_at;
		times[3] = &state.approvals[0].approved_at;
		times[4] = &state.tasks[0].started_at;
		times[5] = &state.tasks[0].completed_at;
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
	strlist_add(&state.tasks[0].output, "-t");
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
	assert_non_null(strstr(ckpt_error_last(), "-t"));
	/* which begins anew with the files of the phase before */
	assert_int_equal(flow_check(&state, &plan, &restoring), 0);
	state.tasks[0].status = FLOW_TASK_FAILED;
	assert_int_equal(flow_check(&state, &plan, &facts), 0);
	/* of a complete phase */
	strlist_add(&state.done[0].output, "-a");
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
	assert_int_equal(flow_check(&state, &plan, &restoring), CKPT_ECORRUPT);
	flow_state_release(&state);
	make_full(&state);
	state.interruption_safe = false;
	assert_int_equal(flow_check(&state, &plan, &facts), CKPT_ECORRUPT);
	flow_state_release(&state);
	flow_plan_release(&plan);
}

/* --- what may happen --- */

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
	assert_string_equal(state.done[0].output.items[0], "+x");
	assert_int_equal(state.done[0].completed_at, 400);
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
	assert_int_equal(state.approvals_nr, 1);
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
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_RUNNING, &output, NOW), CKPT_ERROR);
	assert_int_equal(flow_phase_start(&state, &plan, "A", 300), 0);
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_RUNNING, &output, 400), 0);
	assert_int_equal(task->started_at, 400);
	assert_int_equal(task->completed_at, 0);
	assert_int_equal(task->attempts, 0);
	assert_int_equal(state.last_updated, 400);
	/* its output is known already */
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_COMPLETE, &nothing, 500), 0);
	assert_int_equal(state.tasks_nr, 1);
	assert_int_equal(task->started_at, 400);
	assert_int_equal(task->completed_at, 500);
	assert_string_equal(task->output.items[0], "+x");
	/* nobody but a resume counts attempts */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_FAILED, &nothing, 600), 0);
		assert_int_equal(task->completed_at, 600);
		assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_RUNNING, &nothing, 700), 0);
		assert_int_equal(task->started_at, 700);
		assert_int_equal(task->completed_at, 0);
	}
	assert_int_equal(flow_task_set(&task, &state, "t", FLOW_TASK_PENDING, &nothing, 800), 0);
	assert_int_equal(task->started_at, 0);
	assert_int_equal(task->attempts, 0);
	/* the same phase again keeps them, the next one does not */
	assert_int_equal(flow_phase_fail(&state, &plan, "A", 900), 0);
	assert_int_equal(flow_phase_start(&state, &plan, "A", 901), 0);
	assert_int_equal(state.tasks_nr, 1);
	assert_int_equal(flow_phase_complete(&state, &plan, "A", &nothing, 902), 0);
	assert_int_equal(state.tasks_nr, 1);
	assert_int_equal(flow_phase_start(&state, &plan, "B", 903), 0);
	assert_int_equal(state.tasks_nr, 0);
	flow_state_release(&state);
	flow_plan_release(&plan);
	strlist_release(&output);
}

/* --- where to go on --- */

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
		enum flow_task_status status;
		const char *output;
		bool restoring;
		enum flow_task_status then;
		uint64_t attempts; /* of 2 */
	} rows[] = {
		{ FLOW_TASK_RUNNING, "+a", false, FLOW_TASK_COMPLETE, 2 },
		{ FLOW_TASK_RUNNING, "+a +b", false, FLOW_TASK_COMPLETE, 2 },
		{ FLOW_TASK_RUNNING, "+a -b", false, FLOW_TASK_PENDING, 3 },
		{ FLOW_TASK_RUNNING, "-a", false, FLOW_TASK_PENDING, 3 },
		{ FLOW_TASK_RUNNING, "", false, FLOW_TASK_PENDING, 3 },
		{ FLOW_TASK_PENDING, "+a", false, FLOW_TASK_PENDING, 2 },
		{ FLOW_TASK_COMPLETE, "+a", false, FLOW_TASK_COMPLETE, 2 },
		{ FLOW_TASK_FAILED, "-a", false, FLOW_TASK_FAILED, 2 },
		/* the files go back, so all of it is to be done again */
		{ FLOW_TASK_RUNNING, "+a", true, FLOW_TASK_PENDING, 3 },
		{ FLOW_TASK_RUNNING, "-a", true, FLOW_TASK_PENDING, 3 },
		{ FLOW_TASK_COMPLETE, "+a", true, FLOW_TASK_PENDING, 2 },
		{ FLOW_TASK_FAILED, "+a", true, FLOW_TASK_PENDING, 2 },
		{ FLOW_TASK_PENDING, "+a", true, FLOW_TASK_PENDING, 2 },
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
		task = flow_state_add_task(&state, "t");
		*task = (struct flow_task){ task->id, rows[i].status, 2, 170, 0, STRLIST_INIT };
		add_words(&task->output, rows[i].output);
		flow_decide(&decision, &state, &plan, &here);
		if (task->status != rows[i].then || task->attempts != rows[i].attempts ||
		    decision.changed != (rows[i].then != rows[i].status))
			fail_msg("row %zu: %s, %d attempts", i, flow_task_status_name(task->status),
				 (int)task->attempts);
		assert_int_equal(state.last_updated, decision.changed ? NOW : 200);
		if (task->status == FLOW_TASK_PENDING && decision.changed)
			assert_int_equal(task->started_at, 0);
		flow_decision_release(&decision);
		flow_state_release(&state);
	}
	flow_plan_release(&plan);
}

/* While it waits, nothing is run anew: not even what was left of its tasks. */
static void test_waiting_leaves_tasks_alone(void **unused)
{
	struct flow_decision decision;
	struct flow_plan plan;
	struct flow_state state;

	(void)unused;
	make_plan(&plan, "A B", "A");
	make_state(&state, "A", FLOW_COMPLETE, "A", "");
	flow_state_add_task(&state, "t")->status = FLOW_TASK_RUNNING;
	flow_decide(&decision, &state, &plan, &facts);
	assert_true(decision.waiting);
	assert_false(decision.changed);
	assert_int_equal(state.tasks[0].status, FLOW_TASK_RUNNING);
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
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_times_in_the_future),
		cmocka_unit_test(test_outputs_and_interruption),
		cmocka_unit_test(test_transitions),
		cmocka_unit_test(test_a_whole_walk),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_what_becomes_of_tasks),
		cmocka_unit_test(test_waiting_leaves_tasks_alone),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
