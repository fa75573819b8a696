/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PATHSET_H
#define CKPT_BASE_PATHSET_H

#include "base/std.h"
#include "base/strlist.h"

/**
 * Questions about a list of relative paths sorted by bytes, as
 * strlist_sort_unique() leaves it, answered by binary search. The path "" is
 * the root.
 */

/** True if `path` is one of them. */
bool pathset_has(const struct strlist *paths, const char *path);

/** True if `path` is one of them or below one. */
bool pathset_covers(const struct strlist *paths, const char *path);

/** True if one of them is below `path`. */
bool pathset_reaches(const struct strlist *paths, const char *path);

#endif
