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

#endif
