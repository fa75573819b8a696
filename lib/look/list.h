/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_LIST_H
#define CKPT_LOOK_LIST_H

#include "record/record.h"

struct session;

/**
 * Checkpoints of a session, which may have no store: all, or only as many as
 * are enough (NULL: all). Takes no lock and writes nothing. Lost refs are
 * reported among the damaged ones.
 */
int look_list(struct ckpt_records *out, struct session *session,
		 const struct ckpt_enough *enough);

/**
 * The newest `max` checkpoints, and all of them in brief. Some of the older ones
 * may have been damaged since they were last read. What look_list() says
 * about damaged ones is in `recent_out`.
 */
int look_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
		     struct session *session, size_t max);

#endif
