/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_INTERNAL_H
#define CKPT_FLOW_FLOW_INTERNAL_H

#include "base/base.h"
#include "flow/flow.h"

/** What moving on and resuming after an interruption share. */

void flow_result_init(struct flow_result *out);

/** Lock the store; CKPT_ENOTFOUND if there is none. */
int flow_lock(struct session *session);

/** After a change, or a failure: write the copy of the state, unlock the store; returns `err`. */
int flow_close(struct flow_result *out, struct session *session, int err);

/** True if the output exists now. */
bool flow_output_exists(const struct session *session, const char *path);

/** Put the live workflow into the archive; `flow` is it, NULL if it is unusable. */
int flow_put_away(struct flow_result *out, struct session *session, const struct flow *flow);

/* --- flow_mirror.c: the copy of phase.json in a directory that the user chose --- */

/**
 * Turn a directory that a user typed into what a plan holds. CKPT_EREFUSED if
 * it has a phase.json that is not ours.
 */
int flow_mirror_place(char **out, const struct session *session, const char *typed);

/** Write the copy of the live workflow, if it has one. */
int flow_mirror_write(const struct session *session);

/** Remove the copy, unless somebody changed it. */
void flow_mirror_remove(const struct session *session, const struct flow *flow);

#endif
