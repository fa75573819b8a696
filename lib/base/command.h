/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_COMMAND_H
#define CKPT_BASE_COMMAND_H

#include "base/std.h"
#include "base/strbuf.h"

/**
 * A user's command, run with `/bin/sh -c`, that is fed or read piece by piece,
 * whatever the amount. It runs in its own session: it has no terminal to ask
 * on, and everything it started can be killed with it. Only the end of its
 * stderr is kept. For one thread.
 */
struct command;

struct command_opts {
	const char *command;
	const char *name; /**< what messages call it: "the save command" */
	const char *dir;
	int64_t timeout; /**< in seconds; 0: none */
	/**
	 * Gets its stdout piece by piece; a failure kills the command. Its
	 * stdin is then /dev/null. NULL: it is fed with command_write(), and
	 * its stdout counts as stderr.
	 */
	int (*take)(const void *data, size_t len, void *payload);
	void *payload;
};

int command_start(struct command **out, const struct command_opts *opts);

/** Feed it. A command that closes its stdin early has read enough; that is not a failure. */
int command_write(struct command *command, const void *data, size_t len);

/**
 * Close its stdin and wait for it to exit. Returns 0 only if its exit status
 * is 0; otherwise the error message says how it ended. On a timeout, or after
 * ^C, it is killed with everything it started.
 */
int command_finish(struct command *command);

/** The last lines of its stderr, safe to print, each preceded by a newline; "" if there are none. */
void command_said(struct strbuf *out, const struct command *command);

/** Kills the command if it still runs. */
void command_free(struct command *command);

#endif
