/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_SWAP_H
#define CKPT_WORKTREE_SWAP_H

#include <stdbool.h>

/**
 * Renames that replace nothing, on every file system. Not all know the flags of
 * renameat2(2): those in user space often do not, nor do some of the network.
 */

/** Whether this error of a rename means that the file system does not know the flags. */
bool swap_unknown(int err);

/** Exchange two names. -1 with errno; see swap_unknown(). */
int swap_exchange(int dirfd1, const char *name1, int dirfd2, const char *name2);

/**
 * Rename what is called `from` to `to`, which must not be there: EEXIST else.
 *
 * Where there is no such rename, a file gets its new name by link(2) and then
 * loses the old one; for a directory an ordinary rename will do, which replaces
 * nothing but an empty one. On a file system that has no links either, it is
 * looked at first whether the name is free: who makes it in that very instant
 * loses.
 *
 * A directory that no rename takes to another one (EXDEV: it is in a lower layer
 * of an overlay, as in containers) is made anew, and what is in it comes after
 * it, a name each. When that fails half-way, each is still in the one or the
 * other; EBUSY means that somebody adds to it faster than it can be emptied.
 */
int swap_put(int fromfd, const char *from, int tofd, const char *to);

#endif
