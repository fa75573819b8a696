/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_LIST_H
#define CKPT_LOOK_LIST_H

#include "record/record.h"

struct session;

/**
 * Checkpoints of a session, which may have no store: all, or only as many as
 * are enough (NULL: all). Takes no lock; rebuilds the manifest on the way if it
 * disagrees with the refs and no process is changing the store. Lost refs are
 * reported among the damaged ones.
 */
int look_list(struct ckpt_records *out, struct session *session,
	      const struct ckpt_enough *enough);

/**
 * The same, and all checkpoints in brief; no commit is read twice. The checkpoint `also` (NULL:
 * none) is among the records if it exists, before the others if they do not reach back to it. Some
 * of the older ones may have been damaged since they were last read. What look_list() says about
 * damaged ones is in `recent_out`.
 */
int look_overview(struct ckpt_records *recent_out, struct ckpt_briefs *all_out,
		  struct session *session, const struct ckpt_enough *enough, const char *also);

#endif
