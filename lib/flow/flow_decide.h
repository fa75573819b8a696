/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_DECIDE_H
#define CKPT_FLOW_FLOW_DECIDE_H

#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * What may happen to a workflow, and where it goes on: functions of its state,
 * of what was planned and of a few facts. Touches nothing; flow.c carries
 * it out.
 *
 *  1. Phases come in the order of the plan, each begins when the one before it
 *     is complete, and none while one of those before waits for approval.
 *  2. A phase that is complete stays so. One that failed, or that was
 *     interrupted, begins again, with the tasks that it has.
 *  3. Tasks belong to the phase in progress. Any status may follow any other;
 *     only a resume counts attempts.
 *
 * Changes are made to the state in place, or not at all. CKPT_ERROR: that does
 * not go; CKPT_EREFUSED: it would, once somebody has approved.
 */

/** What the state alone does not tell. */
struct flow_facts {
	int64_t now;
	int64_t stale_after; /**< seconds; 0: never */
	bool restoring;      /**< tasks begin anew, so their outputs need not be there */
	bool (*exists)(const char *path, void *payload); /**< an output */
	void *payload;
};

/** A clock that is put right by so little is no reason to distrust a state. */
enum { FLOW_CLOCK_SLACK = 2 };

/** All of what has to hold before a resume trusts it. CKPT_ECORRUPT and why not. */
int flow_check(const struct flow_state *state, const struct flow_plan *plan,
	       const struct flow_facts *facts);

/* --- changes --- */

/** A workflow that has just begun; `out` is to be released. */
void flow_begin(struct flow_state *out, const struct flow_plan *plan);

int flow_phase_start(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		     int64_t now);

/** The last of state->done is the new entry, still without its checkpoint. */
int flow_phase_complete(struct flow_state *state, const struct flow_plan *plan, const char *phase,
			const struct strlist *output, int64_t now);
int flow_phase_fail(struct flow_state *state, const struct flow_plan *plan, const char *phase,
		    int64_t now);

/** `changed_out` is false if that is recorded already. */
int flow_phase_approve(bool *changed_out, struct flow_state *state, const struct flow_plan *plan,
		       const char *phase, int64_t now);

/** A task that is not known yet is added. `output` empty: what is known of it stays. */
int flow_task_set(struct flow_task **out, struct flow_state *state, const char *id,
		  enum flow_task_status status, const struct strlist *output, int64_t now);

/* --- where to go on --- */

struct flow_decision {
	const char *phase; /**< the one that waits, or the first not complete; NULL: finished */
	enum flow_status status; /**< of that phase */
	bool waiting;
	bool stale;
	bool changed;         /**< the state is another one now */
	struct strlist taken; /**< tasks whose outputs say that they are complete */
	struct strlist again; /**< tasks that were interrupted and begin again */
};

/**
 * Decide, and put the tasks of the state right. The state must be sound.
 * Strings point into the plan.
 */
void flow_decide(struct flow_decision *out, struct flow_state *state,
		 const struct flow_plan *plan, const struct flow_facts *facts);
void flow_decision_release(struct flow_decision *decision);

#endif
