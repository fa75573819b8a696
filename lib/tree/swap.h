/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_SWAP_H
#define CKPT_TREE_SWAP_H

#include "base/base.h"

/**
 * Renames that replace nothing, on every file system. Not all support the flags
 * of renameat2(2): file systems in user space and some network file systems do
 * not.
 */

/** Whether this error of a rename means that the file system does not support the flags. */
bool swap_unknown(int err);

/** Exchange two names. -1 with errno; see swap_unknown(). */
int swap_exchange(int dirfd1, const char *name1, int dirfd2, const char *name2);

/**
 * Rename `from` to `to`, which must not exist: otherwise EEXIST.
 *
 * Where such a rename is not supported, a file gets its new name by link(2) and
 * then loses the old one; for a directory an ordinary rename will do, which
 * replaces nothing but an empty one. If the file system has no links either, the
 * name is first checked to be free; if another process creates it at that very
 * moment, its file is lost.
 *
 * A directory that cannot be renamed to another one (EXDEV: it is in a lower
 * layer of an overlay, as in containers) is recreated, and its entries are moved
 * one by one. If that fails halfway, each entry is still in one or the other;
 * EBUSY means that another process adds entries faster than they can be moved.
 */
int swap_put(int fromfd, const char *from, int tofd, const char *to);

/* --- whether it is what a scan saw: displaced.c --- */

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
