/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_CHILD_INTERNAL_H
#define CKPT_WATCH_WATCH_CHILD_INTERNAL_H

#include "base/base.h"

/**
 * A save in a child process: whatever goes wrong in it, watching goes on; and this process is free
 * to answer when the save asks what changed.
 */
struct watch_child {
	pid_t pid; /**< 0: none runs */
	int pidfd; /**< readable when it has ended */
	int out;   /**< what it printed */
};

/** Save the directory `dirfd`. False if it could not be started. */
bool watch_child_start(struct watch_child *out, int dirfd, const char *reason);

/**
 * After it has ended: its exit status, and what it answered, which the caller frees; NULL if that is
 * not an object.
 */
int watch_child_end(json_t **answer, struct watch_child *child);

/** Tell it to stop, and wait for that. */
void watch_child_stop(struct watch_child *child);

#endif
