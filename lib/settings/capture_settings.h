/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_CAPTURE_SETTINGS_H
#define CKPT_SETTINGS_CAPTURE_SETTINGS_H

#include "base/base.h"

/**
 * Captures: state outside the files that a checkpoint can hold, databases
 * above all, and the commands that save and restore it.
 *
 *     [capture "<name>"]
 *     type    = database_savepoint | file_backup | state_snapshot
 *     save    = <command>     its output is stored
 *     restore = <command>     gets that on stdin
 *     auto    = <bool>        part of every save
 *     timeout = <dur>         of either command; "none" by default
 *
 * They run commands, so they are read only from the user's file and the
 * store's (see settings.h). If both set a key, the store's file wins; an empty
 * command means none. Names consist of letters, digits, "." "_" "-", and begin
 * with a letter or a digit.
 */
struct capture_def {
	char *name;
	char *type;
	char *save;    /**< NULL: none */
	char *restore; /**< NULL: none */
	bool automatic;
	int64_t timeout; /**< seconds; 0: none */
};

struct capture_defs {
	struct capture_def *items; /**< in the order in which their names first appear in the files */
	size_t nr, alloc;
	struct strlist warnings; /**< unknown keys, with file and line */
};

/**
 * `store_file` and `worktree`: as for settings_load(). A bad name or value is an error; the message
 * names file and line.
 */
int capture_defs_load(struct capture_defs *out, const char *store_file, const char *worktree);
void capture_defs_release(struct capture_defs *defs);

/** NULL if there is no such capture. */
const struct capture_def *capture_defs_find(const struct capture_defs *defs, const char *name);

bool capture_name_valid(const char *name);

#define CAPTURE_DATABASE "database_savepoint"

#endif
