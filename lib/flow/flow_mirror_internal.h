/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_MIRROR_INTERNAL_H
#define CKPT_FLOW_FLOW_MIRROR_INTERNAL_H

#include "record/record.h"

struct session;

/** The copy of phase.json in a directory that the user chose. */

/**
 * Turn a directory that a user typed into what a plan holds. CKPT_EREFUSED if
 * it has a phase.json that is not ours.
 */
int flow_mirror_place(char **out, const struct session *session, const char *typed);

/** Copy phase.json to where the plan says, if anywhere. */
int flow_mirror_write(const struct session *session, const struct flow_plan *plan,
		      const struct strbuf *text);

/** The same for the workflow in the store; does nothing if there is none. */
int flow_mirror_current(const struct session *session);

/** Remove the copy, if it has exactly this text. */
void flow_mirror_remove(const struct session *session, const struct flow_plan *plan,
			const struct strbuf *text);

#endif
