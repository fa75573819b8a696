/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETTINGS_CAPTURE_SETTINGS_H
#define CKPT_SETTINGS_CAPTURE_SETTINGS_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Captures: things beside the files that a checkpoint can hold, a database
 * above all, and the commands that save and restore them.
 *
 *     [capture "<name>"]
 *     type    = database_savepoint | file_backup | state_snapshot
 *     save    = <command>     what it prints is kept
 *     restore = <command>     gets that on stdin
 *     auto    = <bool>        part of every save
 *     timeout = <dur>         of either command; "none" by default
 *
 * They run commands, so they are read from the user's own file and the store's
 * (see settings.h) and from nowhere else. Of a key that both have, the store's
 * counts; an empty command is none. Names are letters, digits, "." "_" "-",
 * beginning with one of the first two kinds.
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
	struct capture_def *items; /**< in the order in which their names first stand in the files */
	size_t nr, alloc;
	struct strlist warnings; /**< unknown keys, with file and line */
};

/** `store_file` and `worktree`: as for settings_load(). A bad name or value fails, the sentence names file and line. */
int capture_defs_load(struct capture_defs *out, const char *store_file, const char *worktree);
void capture_defs_release(struct capture_defs *defs);

/** NULL if none is called so. */
const struct capture_def *capture_defs_find(const struct capture_defs *defs, const char *name);

bool capture_name_valid(const char *name);

#define CAPTURE_DATABASE "database_savepoint"

#endif
