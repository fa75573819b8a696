/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_FLOW_ORDER_H
#define CKPT_RECORD_FLOW_ORDER_H

#include "base/base.h"
#include "record/flow_state.h"

/** Where a workflow is in its plan, from state and plan alone. */

/** Whether the state fits its plan: known phases in order. CKPT_ECORRUPT with the reason if not. */
int flow_check_order(const struct flow_state *state, const struct flow_plan *plan);

/** The entry of a complete phase, or NULL. */
const struct flow_done *flow_find_done(const struct flow_state *state, const char *phase);

bool flow_is_approved(const struct flow_state *state, const char *phase);

/** The first phase that is not complete, or NULL. */
const char *flow_next(const struct flow_state *state, const struct flow_plan *plan);

/** The complete phase that waits for approval, or NULL. */
const char *flow_waiting(const struct flow_state *state, const struct flow_plan *plan);

/** Every phase is complete, and none waits for approval. */
bool flow_finished(const struct flow_state *state, const struct flow_plan *plan);

#endif
