/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_HEALTH_H
#define CKPT_STORE_HEALTH_H

#include "base/base.h"

#include <stdbool.h>

/**
 * The health of a store's own files, looked at on every open: directories,
 * HEAD, config, info/, checkpoint/version, checkpoint/worktree. Cheap: a few
 * small files are read, no object is.
 *
 * Files are replaced whole and by what they always hold, so any number of
 * processes may mend the same store at the same time.
 */

enum { HEALTH_ASIDES_MAX = 5 };

/**
 * Mend what can be mended, a sentence about each in `mended`. CKPT_ECORRUPT if
 * this is no store that can be used; CKPT_ERROR if it is of another format or
 * of another worktree, or cannot be looked at. What cannot be written (a
 * read-only file system) is no failure as long as the store can be read.
 */
int health_mend(struct strlist *mended, int dirfd, const char *path, const char *worktree);

/**
 * Rename a store that cannot be used to <path>.broken-<time>. `aside_out` gets
 * the new path, freed by the caller; NULL if it can be used after all, because
 * another process was faster. Of those set aside, the newest HEALTH_ASIDES_MAX
 * are kept.
 */
int health_set_aside(char **aside_out, const char *home, const char *path, const char *worktree);

/**
 * The name that a store gets that is set aside: not taken, and after all others. The
 * home must be locked until it has it.
 */
int health_aside_name(char **out, const char *home, const char *path);

/** The paths of what was set aside of the store `path` and not salvaged yet, oldest first. */
int health_asides(struct strlist *out, const char *home, const char *path);

/** Remember that all that can be read of it was salvaged: <path>.salvaged-<time> from now on. */
int health_salvaged(const char *home, const char *aside);

#endif
