/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_BENEATH_H
#define CKPT_WORKTREE_BENEATH_H

/**
 * Opening things below a root directory without ever leaving it: no component
 * of the path, the last one included, may be a symbolic link or "..". One
 * openat2(2) where the kernel has it, else component by component.
 */

/**
 * `path` is relative to `rootfd`, "" is the root itself. Close-on-exec is added
 * to `flags`. Returns a descriptor or -1 with errno; ELOOP means that a symbolic link was in
 * the way, EXDEV that it was moved out of the root while it was opened.
 */
int beneath_open(int rootfd, const char *path, int flags);

/** Make a file that must not be there yet, for writing. */
int beneath_create(int rootfd, const char *path);

/** Open the directory that `path` is in, and point `name_out` at the last component. */
int beneath_open_parent(int rootfd, const char *path, const char **name_out);

#endif
