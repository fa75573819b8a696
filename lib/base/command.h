/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_COMMAND_H
#define CKPT_BASE_COMMAND_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/**
 * A command of the user's own, run with `/bin/sh -c`, that is fed or read in
 * pieces, however much it is. It has a session of its own: no terminal to ask
 * on, and all that it started can be ended with it. Of what it says on stderr
 * only the end is kept. For one thread.
 */
struct command;

struct command_opts {
	const char *command;
	const char *name; /**< what sentences call it: "the save command" */
	const char *dir;
	int64_t timeout; /**< seconds; 0: none */
	/**
	 * Gets its stdout piece by piece; a failure ends the command. stdin is
	 * /dev/null then. NULL: it is fed with command_write(), and its stdout
	 * counts as stderr.
	 */
	int (*take)(const void *data, size_t len, void *payload);
	void *payload;
};

int command_start(struct command **out, const struct command_opts *opts);

/** Feed it. A command that has closed its stdin has read enough: no failure. */
int command_write(struct command *command, const void *data, size_t len);

/**
 * Nothing more comes; wait for its end. 0 only if it exits with 0, else the
 * sentence says how it ended. If time is up, or ^C was pressed, it is ended
 * with all that it started.
 */
int command_finish(struct command *command);

/** The last lines of what it said, fit to be shown, each behind a newline; "" if nothing. */
void command_said(struct strbuf *out, const struct command *command);

/** Ends it if it has not ended. */
void command_free(struct command *command);

#endif
