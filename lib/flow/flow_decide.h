/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_DECIDE_H
#define CKPT_FLOW_FLOW_DECIDE_H

#include "base/base.h"
#include "flow/flow_state.h"

/**
 * What may happen to a workflow, and where it continues: functions of its
 * state, its plan and a few facts. Changes nothing on disk; flow.c carries it
 * out.
 *
 *  1. Phases come in the order of the plan; each starts when the one before it
 *     is complete, and none while an earlier one waits for approval.
 *  2. A complete phase stays complete. A phase that failed or was interrupted
 *     starts again, with its tasks.
 *  3. Tasks belong to the phase in progress. Any status may follow any other;
 *     only a resume counts attempts.
 *
 * Changes are made to the state in place, or not at all. CKPT_ERROR: not
 * possible; CKPT_EREFUSED: possible after approval.
 */

/* --- where it is, from state and plan alone --- */

/** Whether the state fits its plan: known phases in order. CKPT_ECORRUPT with the reason if not. */
int flow_check_order(const struct flow_state *state, const struct flow_plan *plan);

/** The first phase that is not complete, or NULL. */
const char *flow_next(const struct flow_state *state, const struct flow_plan *plan);

/** The complete phase that waits for approval, or NULL. */
const char *flow_waiting(const struct flow_state *state, const struct flow_plan *plan);

/** Every phase is complete, and none waits for approval. */
bool flow_finished(const struct flow_state *state, const struct flow_plan *plan);

/* --- whether it can be trusted --- */

/** What the state alone does not tell. */
struct flow_facts {
	int64_t now;
	int64_t stale_after; /**< seconds; 0: never */
	bool restoring;      /**< tasks start over, so their outputs need not exist */
	bool (*exists)(const char *path, void *payload); /**< an output */
	void *payload;
};

/** A clock adjusted by so little is not a reason to distrust a state. */
enum { FLOW_CLOCK_SLACK = 2 };

/**
 * Everything that must hold before a resume. CKPT_ECORRUPT with the reason if the state cannot be
 * trusted; CKPT_ENOTFOUND if it can, but an output is missing.
 */
int flow_check(const struct flow_state *state, const struct flow_plan *plan,
	       const struct flow_facts *facts);

/* --- changes --- */

/** A workflow that has just started; `out` must be released. */
void flow_begin(struct flow_state *out, const struct flow_plan *plan);

int flow_phase_start(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		     int64_t now);

/** The last of state->done is the new entry, still without its checkpoint. */
int flow_phase_complete(struct flow_state *state, const struct flow_plan *plan, const char *phase,
			const struct strlist *output, int64_t now);
int flow_phase_fail(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		    int64_t now);

/** `changed_out` is false if that is already recorded. */
int flow_phase_approve(bool *changed_out, struct flow_state *state, const struct flow_plan *plan,
		       const char *phase, int64_t now);

/** An unknown task is added. If `output` is empty, the known outputs stay. */
int flow_task_set(struct flow_task **out, struct flow_state *state, const char *id,
		  enum flow_status status, const struct strlist *output, int64_t now);

/* --- where to continue --- */

struct flow_decision {
	const char *phase; /**< the one that waits, or the first not complete; NULL: finished */
	enum flow_status status; /**< of that phase */
	bool waiting;
	bool stale;
	bool changed;         /**< the state was changed */
	struct strlist taken; /**< tasks whose outputs show that they are complete */
	struct strlist again; /**< tasks that were interrupted and start again */
};

/**
 * Decide, and correct the tasks of the state. The state must be sound. Strings
 * point into the plan.
 */
void flow_decide(struct flow_decision *out, struct flow_state *state,
		 const struct flow_plan *plan, const struct flow_facts *facts);
void flow_decision_release(struct flow_decision *decision);

#endif
