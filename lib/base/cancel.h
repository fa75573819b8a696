/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CANCEL_H
#define CKPT_BASE_CANCEL_H

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

#endif
