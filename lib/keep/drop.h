/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_DROP_H
#define CKPT_KEEP_DROP_H

#include "keep/retain.h"

/** Operations on single checkpoints by name: drop, pin, unpin. All take the lock. */

/**
 * All names are looked up and all checks made before the first is deleted. A
 * damaged checkpoint is named by its full id. CKPT_EREFUSED: for one that is
 * pinned or that undo or redo leads to, unless `force`; for one that an
 * interrupted restore needs, in any case. With `dry_run` none is deleted, and
 * `freed` is 0.
 */
int drop_checkpoints(struct retain_result *out, struct session *session,
		     const struct strlist *names, bool force, bool dry_run);

struct drop_pin {
	const char *checkpoint;
	bool pin;	  /**< false: unpin it, which takes its name away */
	const char *name; /**< to give to it, a valid one; NULL: none */
	bool move_name;	  /**< even if another one has it */
	char **was; /**< gets the name that another one replaces, or NULL; the caller frees it */
};

/** `out` is the checkpoint with the change. CKPT_EREFUSED: the name is taken. */
int drop_set_pinned(struct ckpt_record *out, struct session *session,
		    const struct drop_pin *request);

#endif
