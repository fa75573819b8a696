/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_RUN_H
#define CKPT_SHOW_RUN_H

#include "base/base.h"
#include "restore/restore.h"
#include "run/run.h"
#include "save/save.h"

/**
 * Output about a command that was run between a checkpoint and its
 * verification. stdout belongs to the command: everything we print goes to
 * stderr.
 */
struct show_run {
	const struct strlist *command;
	struct save_result saved; /**< before the command */
	struct strlist warnings;  /**< about that */
	struct run_child child;
	const char *verify; /**< NULL: none */
	bool checked;       /**< it was run, with this result: */
	struct run_child check;
	bool restored; /**< rolled back, with this result: */
	struct restore_result result;
	int error; /**< exit status of a failure after the command; 0: none */
	char *message;
};

/** Unless -q. */
void show_run_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** "SIGTERM"; the caller frees it. */
char *show_run_signal_name(int sig);

/** Say why it failed; `what` precedes the name. */
void show_run_say_failed(const char *what, const char *name, const struct run_child *child);

/** What a rollback did. */
void show_run_say_restored(const struct show_run *ran);

/** True if the rollback has restored everything, files and captures. */
bool show_run_is_back(const struct show_run *ran);

/** The answer. */
json_t *show_run_json(const struct show_run *ran);

#endif
