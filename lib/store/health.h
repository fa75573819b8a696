/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_HEALTH_H
#define CKPT_STORE_HEALTH_H

#include "base/base.h"

/**
 * The health of a store's own files, checked on every open: directories, HEAD,
 * config, info/, checkpoint/version, checkpoint/worktree. Cheap: a few small
 * files are read, but no object.
 *
 * Files are replaced as a whole by what they always hold, so any number of
 * processes may repair the same store at the same time.
 */

enum { HEALTH_ASIDES_MAX = 5 };

/**
 * Repair what can be repaired, with a sentence about each in `repaired`.
 * CKPT_ECORRUPT if this is not a usable store; CKPT_ERROR if it has another
 * format, belongs to another worktree, or cannot be read. It is not an error
 * if something cannot be written (a read-only file system), as long as the
 * store can be read.
 */
int health_repair(struct strlist *repaired, int dirfd, const char *path, const char *worktree);

/**
 * Rename an unusable store to <path>.broken-<time>. `aside_out` is set to the
 * new path, which the caller frees, or to NULL if the store is usable after
 * all, because another process was faster. Of the stores set aside, the newest
 * HEALTH_ASIDES_MAX are kept.
 */
int health_set_aside(char **aside_out, const char *home, const char *path, const char *worktree);

/**
 * A name for a store to be set aside: not taken, and after all others. The home must
 * be locked until the store has it.
 */
int health_aside_name(char **out, const char *home, const char *path);

/** The paths of stores that were set aside from `path` and not salvaged yet, oldest first. */
int health_asides(struct strlist *out, const char *home, const char *path);

/** Remember that everything readable in it was salvaged: rename it to <path>.salvaged-<time>. */
int health_salvaged(const char *home, const char *aside);

#endif
