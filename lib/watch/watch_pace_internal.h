/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_PACE_INTERNAL_H
#define CKPT_WATCH_WATCH_PACE_INTERNAL_H

#include "base/base.h"

/**
 * Decides when a worktree is saved, from its arguments alone. All times are those of
 * clock_monotonic().
 */
struct watch_pace {
	double quiet, max;	/**< seconds: watchQuiet and watchMax */
	double first, last;	/**< of the changes that are not saved yet; `first` 0: there are none */
	double not_before;	/**< after a failure, or while something is in the way */
	unsigned failures;	/**< in a row */
	unsigned holds;		/**< in a row */
};

/** Something changed. */
void watch_pace_changed(struct watch_pace *pace, double now);

/** Nobody can tell whether something changed: save after `max`, unless changes are known. */
void watch_pace_blind(struct watch_pace *pace, double now);

/** A save begins; what changes from now on is not in it. */
void watch_pace_began(struct watch_pace *pace);

/** It failed: the changes are still not saved. After each failure the next try comes later. */
void watch_pace_failed(struct watch_pace *pace, double now);

/** A git command or a restore is at work: look again, after a longer and longer while. */
void watch_pace_hold(struct watch_pace *pace, double now);

/** When to save; INFINITY: there is nothing to save. */
double watch_pace_due(const struct watch_pace *pace);

/** Whether it is due although changes go on. */
bool watch_pace_is_busy(const struct watch_pace *pace, double now);

#endif
