/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITFILE_H
#define CKPT_GIT_GITFILE_H

#include "base/base.h"

/**
 * The small text files of a git directory: HEAD, loose refs, "commondir" and so
 * on. Links are followed, as git does; only regular files are read.
 */

/**
 * The text of `dir`/`name` without its newline, links followed; NULL if it
 * cannot be read, or has more than a MiB: any number of nested ".git" may lead to the same file, which
 * may contain anything, even things that block. The caller frees it.
 */
char *gitfile_read(const char *dir, const char *name);

/** The same for a file of the project's own repository that may have many lines: 64 MiB. */
char *gitfile_read_long(const char *dir, const char *name);

/**
 * What HEAD says: "ref: refs/..." (also if it is a symbolic link, as in old
 * repositories) or an id; NULL if it cannot be read. The caller frees it.
 */
char *gitfile_head(const char *gitdir);

/** The ref that a symbolic ref names, NULL if `text` is not one. Points into `text`. */
const char *gitfile_symref(const char *text);

/** True if `text` begins with a whole id, SHA-1 or SHA-256. */
bool gitfile_is_id(const char *text);

#endif
