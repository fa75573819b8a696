/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_INTERNAL_H
#define CKPT_FLOW_FLOW_INTERNAL_H

#include "base/base.h"
#include "flow/flow.h"

/** What moving on and resuming after an interruption share. */

void flow_result_init(struct flow_result *out);

/** After a change, or a failure: write the copy of the state, unlock the store; returns `err`. */
int flow_close(struct flow_result *out, struct session *session, int err);

/** Lock the store; CKPT_ENOTFOUND if there is none. */
int flow_lock(struct session *session);

/** True if the output exists now. */
bool flow_output_exists(const struct session *session, const char *path);

/** Write the copy of what was just written; a failure is a warning. */
void flow_result_mirror(struct flow_result *out, struct session *session);

/** Copy into the archive and remove; `flow` may be corrupt. */
int flow_put_away(struct flow_result *out, struct session *session, struct flow *flow,
		  bool corrupt);

#endif
