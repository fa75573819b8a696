/* SPDX-License-Identifier: MIT */
#ifndef CKPT_KEEP_HOLD_H
#define CKPT_KEEP_HOLD_H

#include "base/base.h"

struct store;

/**
 * Checkpoints that a running process will need, and that retention spares as
 * long as it runs, however many others are taken meanwhile.
 *
 * For each there is a file checkpoint/held/<id>.<n> that the process keeps
 * locked with flock(2); if it dies, the lock is gone. The lock of the store is
 * not held. This does not stop drop, which is asked for by name.
 */
struct hold {
	int dirfd, fd;
	char *name;
};

#define HOLD_INIT { -1, -1, NULL }

/** Hold a checkpoint; CKPT_ENOTFOUND if it is already gone. Call hold_release() in any case. */
int hold_take(struct hold *out, struct store *store, const char *id);
void hold_release(struct hold *hold);

/**
 * Add the ids that are held; files of dead processes are removed. The store must be locked.
 * CKPT_ERROR if it cannot be told what is held.
 */
int hold_list(struct strlist *out, struct store *store);

#endif
