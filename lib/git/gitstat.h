/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITSTAT_H
#define CKPT_GIT_GITSTAT_H

#include "base/base.h"

struct repo;

/**
 * By what one sees that the state of a repository (see gitstate.h) may have
 * changed: the stat data of all files and directories that it is read from.
 * git never changes one of these in place; it writes a lock beside it and
 * renames that, so that the directory changes, too.
 */

/**
 * Append the stat data, a text for gitstat_same(). `newest_out` is the latest
 * time in it, in nanoseconds: if the clock of files (clock_file_ns()) was not
 * past it before the call, the text cannot be relied on later. CKPT_ERROR if
 * one of them is something that git would wait for, such as a FIFO.
 */
int gitstat_take(struct strbuf *out, int64_t *newest_out, const struct repo *repo);

/** True if nothing changed since. Only looks at the names in `text`, and opens nothing. */
bool gitstat_same(const char *text, size_t len, const struct repo *repo);

#endif
