/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RETENTION_DROP_H
#define CKPT_RETENTION_DROP_H

#include "retention/retain.h"

/** Operations on single checkpoints by name: drop, pin, unpin. All take the lock. */

/**
 * All names are looked up and all checks made before the first is deleted. A
 * damaged checkpoint is named by its full id. CKPT_EREFUSED: for one that is
 * pinned or that undo or redo leads to, unless `force`; for one that an
 * interrupted restore needs, in any case.
 */
int drop_checkpoints(struct retain_result *out, struct session *session,
		     const struct strlist *names, bool force);

/** `out` is the checkpoint with the change. */
int drop_set_pinned(struct ckpt_record *out, struct session *session, const char *name, bool pin);

#endif
