/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LAYOUT_H
#define CKPT_STORE_LAYOUT_H

#include "base/base.h"

#include <stdbool.h>

/** The files of a new store, for shadow.c; their contents, for health.c. */

#define LAYOUT_VERSION "1"

extern const char layout_head[], layout_attributes[];

/** The directories, each after the one that contains it; ends with NULL. */
extern const char *const layout_dirs[];

/** The configuration that stock git reads. */
void layout_config(struct strbuf *out, const char *worktree);

/** Create the store `path` of `worktree`. It is not an error if another process was first. */
int layout_create(const char *home, const char *path, const char *worktree);

/**
 * Lock the home of all stores, shared or exclusively; returns a descriptor to
 * be closed, or -1 with errno. Half-made stores of dead processes are removed.
 */
int layout_lock_home(const char *home, bool alone);

#endif
