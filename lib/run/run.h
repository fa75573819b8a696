/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RUN_RUN_H
#define CKPT_RUN_RUN_H

#include <stdbool.h>
#include <sys/types.h>

struct session;

/**
 * A command of the user's, run as if we were not there.
 *
 * It has the environment that we were given (see env_given()), the current
 * directory, standard streams and process group that we have, and the signals
 * as they were when we were started. We wait for it alone, not for what it
 * leaves behind.
 *
 * While it runs, a signal that somebody sends to us is sent on to it, and does
 * not end us: what comes behind the command has to be done. One that the
 * terminal sends has reached it already. If the command is stopped, we stop as
 * well, so that the shell that waits for us notices.
 */
struct run_child {
	bool started;
	int error;       /**< errno: why it was not started */
	int exit_status; /**< as a shell gives it: 128 + n for signal n, 127 and 126 if not started */
	int signal;      /**< that ended it, or 0 */
	double seconds;
};

enum run_flags {
	RUN_ASIDE = 1 << 0, /**< reads nothing, and stdout is stderr: it has no part in the answer */
};

/**
 * To be called first: from here on somebody who does not read what we say does
 * not end us, for the files have to come back all the same.
 */
void run_unheard(void);

/**
 * Run `argv` (looked up in PATH) in `dir` (NULL: here). That it could not be
 * started is a result as well; a failure is what kept us from trying:
 * CKPT_ECANCELLED if we were interrupted before.
 */
int run_child(struct run_child *out, char *const argv[], const char *dir, unsigned flags);

/**
 * A session for the same worktree after a command that may have done anything:
 * removed the current directory, even the worktree (which is made again, with
 * `mode`), or made a repository around or below it.
 */
int run_find_again(struct session *out, const char *worktree, mode_t mode);

#endif
