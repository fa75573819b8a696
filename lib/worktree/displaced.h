/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_DISPLACED_H
#define CKPT_WORKTREE_DISPLACED_H

#include "base/base.h"

#include <stdbool.h>
#include <sys/stat.h>

struct wt_entry;

/**
 * Whether what a restore takes out of the worktree, or is about to change, is
 * what its scan saw: only that is in the safety checkpoint.
 */

/**
 * Of what lies at `path` below `dirfd` now, where it was renamed to. A directory
 * is, if everything in it is; one that lacks something has lost nothing.
 *
 * What cannot be looked at is not; ckpt_error_lack() tells of the lack of
 * descriptors or memory that may be the reason.
 *
 * `writer_out` is set to true if somebody has it, or something in it, open for
 * writing (see fs_has_writer()): then it may be another the next moment.
 */
bool displaced_as_scanned(int dirfd, const char *path, const struct wt_entry *seen,
			  bool *writer_out);

/** Of a file that is where it was; `st` is what it looks like now. */
bool displaced_same_file(int dirfd, const char *name, const struct stat *st,
			 const struct wt_entry *seen);

/** The names of contents as the store has them; false if they cannot be read. */
bool displaced_name_file(struct oid *out, int dirfd, const char *name);
bool displaced_name_link(struct oid *out, int dirfd, const char *name);

#endif
