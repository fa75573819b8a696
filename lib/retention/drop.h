/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_DROP_H
#define CKPT_RETENTION_DROP_H

#include "retention/retain.h"

/** What is done to single checkpoints by name: drop, pin, unpin. All take the lock. */

/**
 * All names are looked up and all checks made before the first one goes. A
 * damaged one goes by its whole id. CKPT_EREFUSED: one that is pinned or that
 * undo or redo leads to, unless `force`; one that an interrupted restore needs,
 * in any case.
 */
int drop_checkpoints(struct retain_result *out, struct session *session,
		     const struct strlist *names, bool force);

/** `out` is the checkpoint as it is then. */
int drop_set_pinned(struct ckpt_record *out, struct session *session, const char *name, bool pin);

#endif
