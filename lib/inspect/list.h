/* SPDX-License-Identifier: MIT */
#ifndef CKPT_INSPECT_LIST_H
#define CKPT_INSPECT_LIST_H

#include "record/record.h"

struct session;

/**
 * Checkpoints of a session, which may have no store: all, or no more than are
 * enough (NULL: all). Takes no lock; makes the manifest anew on the way if it
 * disagrees with the refs and nobody is changing the store. That refs were lost
 * is said among the damaged ones.
 */
int inspect_list(struct ckpt_records *out, struct session *session,
		 const struct ckpt_enough *enough);

/**
 * The newest `max` checkpoints, and all of them in brief. Of the older ones some
 * may have been damaged since they were last read. What inspect_list() says of
 * damaged ones is among those of `recent_out`.
 */
int inspect_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
		     struct session *session, size_t max);

#endif
