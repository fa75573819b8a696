/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_DISPLACED_H
#define CKPT_TREE_DISPLACED_H

#include "base/base.h"

struct wt_entry;

/**
 * Whether what a restore takes out of the worktree, or is about to change, is
 * what its scan saw: only that is in the safety checkpoint.
 */

/**
 * Whether what is now at `path` below `dirfd`, where it was renamed to, is as
 * scanned. A directory is, if everything in it is; if something is missing from
 * it, nothing was lost.
 *
 * What cannot be read is not; ckpt_error_lack() tells if that may be for lack of
 * descriptors or memory.
 *
 * `writer_out` is set to true if a process has it, or something in it, open for
 * writing (see fs_has_writer()): then it may change at any moment.
 */
bool displaced_as_scanned(int dirfd, const char *path, const struct wt_entry *seen,
			  bool *writer_out);

/** The same for a file that is in its place; `st` is what it looks like now. */
bool displaced_same_file(int dirfd, const char *name, const struct stat *st,
			 const struct wt_entry *seen);

/** The id of contents as the store has them; false if they cannot be read. */
bool displaced_name_file(struct oid *out, int dirfd, const char *name);
bool displaced_name_link(struct oid *out, int dirfd, const char *name);

#endif
