/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PATH_H
#define CKPT_BASE_PATH_H

#include "base/std.h"
#include "base/strbuf.h"

/** Path strings. Nothing here looks at a file system except path_real() and path_resolve(). */

/** Append "/" (unless `sb` is empty or ends with one) and `name`. */
void path_append(struct strbuf *sb, const char *name);

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

#endif
