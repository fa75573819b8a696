/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CANCEL_H
#define CKPT_BASE_CANCEL_H

/**
 * ^C and its like. The handler only sets a flag; long work asks for it between
 * two items and returns CKPT_ECANCELLED, so that temporaries are removed on
 * the way out.
 */

/**
 * Catch SIGINT, SIGTERM and SIGHUP from now on. SIGCHLD is no longer ignored
 * if a caller had it so: the exit status of every child would be lost.
 */
void cancel_install(void);

/** In a child, for a program of the user's: SIGCHLD as it was before cancel_install(). */
void cancel_give_back_child(void);

/** 0, or CKPT_ECANCELLED with the sentence set. */
int cancel_check(void);

/** The signal that was caught, 0 if none. */
int cancel_signal(void);

#endif
