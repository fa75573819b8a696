/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LAYOUT_H
#define CKPT_STORE_LAYOUT_H

#include "base/base.h"

#include <stdbool.h>

/** The files of a new store, for store.c; what they should hold, for health.c. */

#define LAYOUT_VERSION "1"

extern const char layout_head[], layout_attributes[];

/** The directories, each behind the one that it is in; ends with NULL. */
extern const char *const layout_dirs[];

/** The configuration that stock git reads. */
void layout_config(struct strbuf *out, const char *worktree);

/** Make the store `path` of `worktree`. Another process that made it first is no failure. */
int layout_create(const char *home, const char *path, const char *worktree);

/**
 * Lock the place of all stores, shared with others or alone; the descriptor,
 * to be closed, or -1 with errno. Half-made stores of the dead are removed.
 */
int layout_lock_home(const char *home, bool alone);

#endif
