/* SPDX-License-Identifier: MIT */
#include "record/flow_order.h"

#include "base/base.h"

const struct flow_done *flow_find_done(const struct flow_state *state, const char *phase)
{
	for (size_t i = 0; i < state->done_nr; i++)
		if (!strcmp(state->done[i].phase, phase))
			return &state->done[i];
	return NULL;
}

bool flow_is_approved(const struct flow_state *state, const char *phase)
{
	for (size_t i = 0; i < state->approvals_nr; i++)
		if (!strcmp(state->approvals[i].phase, phase))
			return true;
	return false;
}

const char *flow_next(const struct flow_state *state, const struct flow_plan *plan)
{
	return state->done_nr < plan->phases.nr ? plan->phases.items[state->done_nr] : NULL;
}

const char *flow_waiting(const struct flow_state *state, const struct flow_plan *plan)
{
	for (size_t i = 0; i < plan->phases.nr; i++) {
		const char *phase = plan->phases.items[i];

		if (strlist_has(&plan->approve, phase) && flow_find_done(state, phase) &&
		    !flow_is_approved(state, phase))
			return phase;
	}
	return NULL;
}

bool flow_finished(const struct flow_state *state, const struct flow_plan *plan)
{
	return !flow_next(state, plan) && !flow_waiting(state, plan);
}

static int bad_phase(const char *phase, const char *what)
{
	return ckpt_error_set(CKPT_ECORRUPT, "phase '%s' %s", phase, what);
}

static int check_known(const struct flow_state *state, const struct flow_plan *plan)
{
	static const char unknown[] = "is not one of the planned phases";

	for (size_t i = 0; i < state->done_nr; i++)
		if (!strlist_has(&plan->phases, state->done[i].phase))
			return bad_phase(state->done[i].phase, unknown);
	for (size_t i = 0; i < state->approvals_nr; i++)
		if (!strlist_has(&plan->phases, state->approvals[i].phase))
			return bad_phase(state->approvals[i].phase, unknown);
	if (!strlist_has(&plan->phases, state->current_phase))
		return bad_phase(state->current_phase, unknown);
	return 0;
}

int flow_check_order(const struct flow_state *state, const struct flow_plan *plan)
{
	const char *expected;
	int err = check_known(state, plan);

	if (err)
		return err;
	for (size_t i = 0; i < state->done_nr; i++)
		if (i >= plan->phases.nr || strcmp(state->done[i].phase, plan->phases.items[i]))
			return bad_phase(state->done[i].phase, "was completed out of order");
	for (size_t i = 0; i < state->approvals_nr; i++)
		if (!flow_find_done(state, state->approvals[i].phase))
			return bad_phase(state->approvals[i].phase,
					 "was approved, but is not complete");
	if (state->phase_status == FLOW_COMPLETE)
		expected = state->done_nr ? state->done[state->done_nr - 1].phase : NULL;
	else
		expected = flow_next(state, plan);
	if (!expected || strcmp(expected, state->current_phase))
		return bad_phase(state->current_phase,
				 "cannot follow the phases that are complete");
	return 0;
}
