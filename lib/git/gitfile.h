/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITFILE_H
#define CKPT_GIT_GITFILE_H

#include <stdbool.h>

/**
 * The small text files of a git directory: HEAD, loose refs, "commondir" and
 * the like. Links are followed, as git does; nothing but a regular file is read.
 */

/**
 * The text of `dir`/`name` without its line end, links followed; NULL if it
 * cannot be read. The caller frees it.
 */
char *gitfile_read(const char *dir, const char *name);

/**
 * What HEAD says: "ref: refs/..." (also where it is of the old kind, a
 * symbolic link) or an id; NULL if it cannot be read. The caller frees it.
 */
char *gitfile_head(const char *gitdir);

/** The ref that the content of a symbolic one names, NULL if it is none. Points into `text`. */
const char *gitfile_symref(const char *text);

/** True if `text` begins with a whole id, SHA-1 or SHA-256. */
bool gitfile_is_id(const char *text);

#endif
