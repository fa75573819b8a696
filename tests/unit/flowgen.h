/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_FLOWGEN_H
#define CKPT_TESTS_FLOWGEN_H

/* Workflows as words: "A B" are phases. After unit.h. */

#include "base/error.h"
#include "flow/flow.h"

enum { NOW = 1000000 };

UNUSED static struct flow_done *add_done(struct flow_state *state, const char *phase)
{
	struct flow_done *done = flow_state_add(&state->done, sizeof(*done));

	done->phase = xstrdup(phase);
	return done;
}

UNUSED static struct flow_approval *add_approval(struct flow_state *state, const char *phase)
{
	struct flow_approval *approval = flow_state_add(&state->approvals, sizeof(*approval));

	approval->phase = xstrdup(phase);
	return approval;
}

UNUSED static struct flow_task *add_task(struct flow_state *state, const char *id)
{
	struct flow_task *task = flow_state_add(&state->tasks, sizeof(*task));

	task->id = xstrdup(id);
	return task;
}

UNUSED static void make_plan(struct flow_plan *plan, const char *phases, const char *approve)
{
	*plan = (struct flow_plan){ .workflow_id = xstrdup("w"), .started_at = 100 };
	add_words(&plan->phases, phases);
	add_words(&plan->approve, approve);
}

UNUSED static void make_state(struct flow_state *state, const char *current, enum flow_status status,
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
		add_done(state, words.items[i])->completed_at = 150;
	strlist_release(&words);
	words = (struct strlist)STRLIST_INIT;
	add_words(&words, approved);
	for (size_t i = 0; i < words.nr; i++)
		add_approval(state, words.items[i])->approved_at = 160;
	strlist_release(&words);
}

/* Outputs whose names begin with '+' are there. */
UNUSED static bool exists(const char *path, void *payload)
{
	(void)payload;
	return *path == '+';
}

UNUSED static const struct flow_facts facts = { .now = NOW, .exists = exists };

#endif
