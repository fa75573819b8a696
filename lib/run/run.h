/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RUN_RUN_H
#define CKPT_RUN_RUN_H

#include "restore/restore.h"

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
	RUN_TO_STDERR = 1 << 1, /**< only its stdout goes to stderr */
	/**
	 * `dir` is a directory of its own: no variable of ours names the repository around the
	 * present one, and PWD is there.
	 */
	RUN_APART = 1 << 2,
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

/* --- try.c --- */

/** A command in a copy of a checkpoint that exists as long as it runs. */
struct try {
	struct run_child child;
	struct into_result copy; /**< if it is not as in the checkpoint, nothing was run */
	char *left;		 /**< the directory, if it could not be removed, and */
	char *why;		 /**< why not; or NULL */
};

/**
 * Copy the checkpoint below TMPDIR, run the command with the copy's root as its current directory,
 * remove the copy. Flags are added to RUN_APART. A failure is what kept us from trying.
 */
int try_run(struct try *out, struct session *session, const struct ckpt_record *target,
	    char *const argv[], unsigned flags, progress_fn progress);
void try_release(struct try *try);

/* --- bisect.c --- */

enum bisect_verdict { BISECT_UNKNOWN, BISECT_GOOD, BISECT_BAD, BISECT_SKIPPED };

/**
 * Which of `nr` states to look at next, if the first is good and the last is bad; `nr` if nothing
 * more can be found out.
 */
size_t bisect_next(const enum bisect_verdict *verdicts, size_t nr);

/**
 * The first bad one is among those from `first_out` to the one returned, which is the last that it
 * can be: one of them, unless some were skipped.
 */
size_t bisect_range(size_t *first_out, const enum bisect_verdict *verdicts, size_t nr);

/** At most how many more have to be looked at. */
unsigned bisect_steps(const enum bisect_verdict *verdicts, size_t nr);

/**
 * A session for the same worktree after a command that may have done anything:
 * removed the current directory, even the worktree (which is created again,
 * with `mode`), or made a repository around or below it.
 */
int run_find_again(struct session *out, const char *worktree, mode_t mode);

/*
 * In this folder:
 *
 *   run                     starting the command, passing signals on, waiting for it
 *   try bisect              a command in a copy of a checkpoint; which checkpoint to ask next
 */

#endif
