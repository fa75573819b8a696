/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CANCEL_H
#define CKPT_BASE_CANCEL_H

#include "base/std.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * Handling of ^C and similar signals. The handler only sets a flag; long
 * operations check it between two items and return CKPT_ECANCELLED, so that
 * temporaries are removed on the way out.
 */

/**
 * Catch SIGINT, SIGTERM and SIGHUP from now on. Stop ignoring SIGCHLD if the
 * caller did: otherwise the exit status of every child would be lost.
 */
void cancel_install(void);

/** In a child that runs a program for the user: restore SIGCHLD as it was before cancel_install(). */
void cancel_give_back_child(void);

/** 0, or CKPT_ECANCELLED with the sentence set. */
int cancel_check(void);

/** The signal that was caught, 0 if none. */
int cancel_signal(void);

/**
 * From now on, a call of this thread that blocks fails with EINTR: after `seconds`, or as soon as
 * a signal is caught, however close to the call, and again and again until
 * cancel_interrupt_end(). One thread at a time. False if that is not possible: then nothing
 * interrupts it.
 */
bool cancel_interrupt_after(int64_t seconds);
void cancel_interrupt_end(void);

/* --- work that must end in time: deadline.c --- */

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
