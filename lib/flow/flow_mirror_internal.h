/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FLOW_FLOW_MIRROR_INTERNAL_H
#define CKPT_FLOW_FLOW_MIRROR_INTERNAL_H

#include "record/record.h"

struct session;

/** The copy of phase.json in a directory of the user's choice. */

/**
 * Turn a directory that a user typed into what a plan holds. CKPT_EREFUSED if
 * there is a phase.json in it that is none of ours.
 */
int flow_mirror_place(char **out, const struct session *session, const char *typed);

/** Copy phase.json to where the plan says, if it does. */
int flow_mirror_write(const struct session *session, const struct flow_plan *plan,
		      const struct strbuf *text);

/** The same for the workflow in the store; nothing if there is none. */
int flow_mirror_current(const struct session *session);

/** Remove the copy, if it is just this text. */
void flow_mirror_remove(const struct session *session, const struct flow_plan *plan,
			const struct strbuf *text);

#endif
