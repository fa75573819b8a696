/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CANCEL_H
#define CKPT_BASE_CANCEL_H

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

#endif
