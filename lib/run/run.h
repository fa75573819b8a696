/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RUN_RUN_H
#define CKPT_RUN_RUN_H

#include "base/base.h"

struct session;

/**
 * A user's command, run as if we were not there.
 *
 * It has the environment that we were given (see env_given()), our current
 * directory, standard streams and process group, and the signals as they were
 * when we were started. We wait only for it, not for processes that it leaves
 * running.
 *
 * While it runs, a signal sent to us is passed on to it and does not end us:
 * what follows the command must still be done. A signal from the terminal has
 * already reached it. If the command is stopped, we stop as well, so that the
 * shell that waits for us notices.
 */
struct run_child {
	bool started;
	int error;       /**< errno: why it was not started */
	int exit_status; /**< as a shell reports it: 128 + n for signal n, 127 and 126 if not started */
	int signal;      /**< the signal that killed it, or 0 */
	double seconds;
};

enum run_flags {
	RUN_ASIDE = 1 << 0, /**< reads nothing, and its stdout goes to stderr: it is not part of the
			     * answer */
};

/**
 * Call this first: from here on we survive if nobody reads our output, because
 * the files must be restored in any case.
 */
void run_unheard(void);

/**
 * Run `argv` (looked up in PATH) in `dir` (NULL: here). That it could not be
 * started is a result, too; a failure is what kept us from trying:
 * CKPT_ECANCELLED if we were interrupted before.
 */
int run_child(struct run_child *out, char *const argv[], const char *dir, unsigned flags);

/**
 * A session for the same worktree after a command that may have done anything:
 * removed the current directory, even the worktree (which is created again,
 * with `mode`), or made a repository around or below it.
 */
int run_find_again(struct session *out, const char *worktree, mode_t mode);

#endif
