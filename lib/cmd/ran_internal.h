/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_RAN_INTERNAL_H
#define CKPT_CMD_RAN_INTERNAL_H

#include "base/base.h"
#include "restore/restore.h"
#include "run/run.h"
#include "save/save.h"

#include <stdbool.h>

/**
 * What people and programs see of a command that was run between a checkpoint
 * and its verification. stdout is the command's: all that is said goes to
 * stderr.
 */
struct ran {
	const struct strlist *command;
	struct save_result saved; /**< before it */
	struct strlist warnings;  /**< of that */
	struct run_child child;
	const char *verify; /**< NULL: none */
	bool checked;       /**< it was run, with this result: */
	struct run_child check;
	bool restored; /**< rolled back, with this result: */
	struct restore_result result;
	int error; /**< exit status of what went wrong behind the command; 0: nothing did */
	char *message;
};

/** Unless -q. */
void ran_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Why it is no success; `what` stands before the name. */
void ran_say_failed(const char *what, const char *name, const struct run_child *child);

/** What a rollback did. */
void ran_say_restored(const struct ran *ran);

/** True if the rollback has brought all back, files and captures. */
bool ran_is_back(const struct ran *ran);

/** {"code","message"} */
json_t *ran_error_json(int status, const char *message);

/** The answer. */
json_t *ran_json(const struct ran *ran);

#endif
