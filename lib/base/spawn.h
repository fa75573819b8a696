/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SPAWN_H
#define CKPT_BASE_SPAWN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

/** Other programs. Children see an environment without GIT_* (see env.h). */

/**
 * Run `argv` (looked up in PATH) in directory `dir` (NULL: here) with stdin and
 * stderr at /dev/null, and append what it prints to `out`. Returns 0 only if
 * it exits with 0; CKPT_ENOTFOUND if there is no such program.
 */
int spawn_capture(struct strbuf *out, const char *dir, const char *const argv[]);

/** The same, but it reads `len` bytes of `data` from its stdin; `shown`: its stderr is ours. */
int spawn_feed(struct strbuf *out, const char *dir, const char *const argv[], const void *data,
	       size_t len, bool shown);

/** Asked several times a second; true: end the child. */
typedef bool (*spawn_stop_fn)(void *payload);

/** The same as spawn_feed(); CKPT_ELOCKED if `stop` (may be NULL) had it ended. */
int spawn_feed_until(struct strbuf *out, const char *dir, const char *const argv[], const void *data,
		     size_t len, bool shown, spawn_stop_fn stop, void *payload);

/** Start `/bin/sh -c command` that reads what is written to `*fd_out`. */
int spawn_sink(pid_t *pid_out, int *fd_out, const char *command);

/** Run `/bin/sh -c command` in `dir` and wait: its exit status. stdin is /dev/null, stdout is stderr. */
int spawn_shell(const char *command, const char *dir);

/** True if a plain word is a program in PATH. */
bool spawn_available(const char *program);

/** Wait for a child; its exit status, 128 + n if signal n ended it. */
int spawn_wait(pid_t pid);

#endif
