/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SPAWN_H
#define CKPT_BASE_SPAWN_H

#include "base/strbuf.h"

/**
 * Running other programs. Children see an environment without GIT_* (see
 * env.h). Not for git, which gitrun.h runs.
 */

/**
 * Run `argv` (looked up in PATH) in directory `dir` (NULL: here) with stdin and
 * stderr at /dev/null, and append its output to `out`. Returns 0 only if its
 * exit status is 0; CKPT_ENOTFOUND if the program does not exist.
 */
int spawn_capture(struct strbuf *out, const char *dir, const char *const argv[]);

/** Called several times a second while there is no output; true: kill the child. */
typedef bool (*spawn_stop_fn)(void *payload);

/** What it printed just now; see spawn_opts. */
typedef void (*spawn_heard_fn)(const char *data, size_t len, void *payload);

struct spawn_opts {
	const char *dir;	/**< where it runs; NULL: here */
	const char *const *env; /**< "NAME=value" strings to set for it, up to a NULL; NULL: nothing */
	const void *input;	/**< its stdin; NULL: /dev/null */
	size_t input_len;
	int output;		/**< its stdout goes to this descriptor; 0: to `out` */
	bool shown;		/**< its stderr goes to ours */
	bool told;		/**< its stderr is appended to `out` like its stdout */
	bool tidies;		/**< if this process dies it gets SIGTERM, and removes its locks */
	spawn_stop_fn stop;	/**< NULL: never kill it */
	spawn_heard_fn heard;	/**< called with all that is appended to `out`; NULL: nothing */
	void *payload;		/**< of both */
	uint64_t file_limit;	/**< no file that it writes gets larger; 0: no limit */
	pid_t *pid_out;		/**< set when it has started; NULL: not wanted */
	int *status_out;	/**< its exit status, if it was run; NULL: not wanted */
};

/** Like spawn_capture(), with more options; CKPT_ELOCKED if `stop` had it killed. */
int spawn_run(struct strbuf *out, const struct spawn_opts *opts, const char *const argv[]);

/** Start `/bin/sh -c command`, which reads what is written to `*fd_out`. */
int spawn_sink(pid_t *pid_out, int *fd_out, const char *command);

/**
 * Run `/bin/sh -c command` in `dir` and wait: its exit status. stdin is /dev/null, stdout goes to
 * stderr.
 */
int spawn_shell(const char *command, const char *dir);

/**
 * Let a person edit a file with `command`, as a shell understands it, and wait: its exit status.
 * It has the terminal, if stdin is one; ^C is for it alone.
 */
int spawn_editor(const char *command, const char *path);

/**
 * Start a program that goes on when this one has ended: in a session of its own, connected to
 * nothing that anybody waits for, with the environment that the caller gave us. The first word is
 * its path; false if it could not be started.
 */
bool spawn_detached(const char *const argv[]);

/** True if a plain word is a program in PATH. */
bool spawn_available(const char *program);

/** Wait for a child; its exit status, or 128 + n if signal n killed it. */
int spawn_wait(pid_t pid);

/* --- commands of the configuration: command.c --- */

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
