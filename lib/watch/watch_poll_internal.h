/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_POLL_INTERNAL_H
#define CKPT_WATCH_WATCH_POLL_INTERNAL_H

#include "base/base.h"

/**
 * Looking at a worktree that cannot be watched: the times of its directories tell that a name was
 * made, renamed or removed, and that is what most editors and tools do to write a file. Whoever
 * writes into a file that stays in place changes no directory; only a save finds that.
 */
struct watch_poll {
	uint64_t seen; /**< what the directories were like at the last look; 0: none yet */
	double next;   /**< when to look again, by clock_monotonic(); INFINITY: not at all */
};

/**
 * Whether the directories that the last save captured have changed since the last look; not at the
 * first one. The next one is `pause` seconds later, or more in a large tree, so that looking takes
 * little of a processor.
 */
bool watch_poll_look(struct watch_poll *poll, const char *root, int storefd, double pause);

#endif
