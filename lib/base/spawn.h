/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SPAWN_H
#define CKPT_BASE_SPAWN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

/**
 * Other programs. Children see an environment without GIT_* (see env.h).
 * Not for git, which has a function of its own: see gitrun.h.
 */

/**
 * Run `argv` (looked up in PATH) in directory `dir` (NULL: here) with stdin and
 * stderr at /dev/null, and append what it prints to `out`. Returns 0 only if
 * it exits with 0; CKPT_ENOTFOUND if there is no such program.
 */
int spawn_capture(struct strbuf *out, const char *dir, const char *const argv[]);

/** Asked several times a second while nothing comes; true: end the child. */
typedef bool (*spawn_stop_fn)(void *payload);

struct spawn_opts {
	const char *dir;	/**< where it runs; NULL: here */
	const char *const *env; /**< "NAME=value" each, up to a NULL: set for it; NULL: nothing */
	const void *input;	/**< what it reads from its stdin; NULL: /dev/null */
	size_t input_len;
	bool shown;		/**< its stderr is ours */
	spawn_stop_fn stop;	/**< NULL: it is never ended */
	void *payload;
};

/** The same as spawn_capture(), with more to choose; CKPT_ELOCKED if `stop` had it ended. */
int spawn_run(struct strbuf *out, const struct spawn_opts *opts, const char *const argv[]);

/** Start `/bin/sh -c command` that reads what is written to `*fd_out`. */
int spawn_sink(pid_t *pid_out, int *fd_out, const char *command);

/** Run `/bin/sh -c command` in `dir` and wait: its exit status. stdin is /dev/null, stdout is stderr. */
int spawn_shell(const char *command, const char *dir);

/** True if a plain word is a program in PATH. */
bool spawn_available(const char *program);

/** Wait for a child; its exit status, 128 + n if signal n ended it. */
int spawn_wait(pid_t pid);

#endif
