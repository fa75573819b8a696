/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PATH_H
#define CKPT_BASE_PATH_H

#include "base/strbuf.h"
#include "base/strlist.h"

/** Path strings. Nothing here looks at a file system except the last three. */

/** Append "/" (unless `sb` is empty or ends with one) and `name`. */
void path_append(struct strbuf *sb, const char *name);

/** What follows the last slash, or all of it. */
const char *path_base(const char *path);

/**
 * Make `path` absolute against `base` and remove ".", ".." and repeated
 * slashes, textually. `base` must be absolute.
 */
void path_absolute(struct strbuf *out, const char *base, const char *path);

/**
 * The part of `path` below `root`, "" if they are equal, NULL if `path` is
 * elsewhere. Both must be absolute and clean.
 */
const char *path_below(const char *path, const char *root);

/** True if no component of the relative path is empty, "." or "..". */
bool path_is_plain(const char *path);

/** True if some component of the relative path is ".git". */
bool path_has_dotgit(const char *path);

/** The real absolute path, or NULL with errno; the caller frees it. */
char *path_real(const char *path);

/** An absolute path in which the links of the existing part are resolved; the caller frees it. */
char *path_resolve(const char *path);

/**
 * Whether the way to an absolute path is at any moment in `dir` (a real path), in the end or through
 * a link: who may write there can say where it leads.
 */
bool path_visits(const char *path, const char *dir);

/* --- lists of paths: pathset.c --- */

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
