/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_DEADLINE_H
#define CKPT_BASE_DEADLINE_H

#include "base/std.h"
#include <pthread.h>
#include <stdatomic.h>

/**
 * Work that somebody waits for, and that must end in time. When the time is over the process gets
 * SIGTERM, as if the user had interrupted it; see cancel.h. What does not stop then within a moment
 * is given up.
 */

/** What is told to stop gets this long to stop cleanly. */
enum { DEADLINE_GRACE_SECONDS = 1 };

/** Called from another thread: must end the process. */
typedef void (*deadline_give_up_fn)(const char *why);

struct deadline {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	double when; /**< clock_monotonic() */
	bool running, over;
	atomic_bool passed;
	deadline_give_up_fn give_up;
	const char *why;
};

/** Without threads it has no effect. */
void deadline_start(struct deadline *deadline, double when, deadline_give_up_fn give_up,
		    const char *why);

/** Another time. */
void deadline_set(struct deadline *deadline, double when);

/** The work is done. */
void deadline_end(struct deadline *deadline);

/** Whether the signal came from here. */
bool deadline_passed(const struct deadline *deadline);

#endif
