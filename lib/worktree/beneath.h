/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_BENEATH_H
#define CKPT_WORKTREE_BENEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/**
 * Where a walk through very long paths is. The way from the root to each of the
 * directories of a deep tree takes the square of its depth in all; with this it
 * is taken now and then only. For who reads: should a directory be moved
 * meanwhile, this may still be in it. All zero is none yet; one thread each.
 */
struct beneath_near {
	int fd;
	char *path; /**< of the directory that `fd` is open for; NULL: none */
	size_t len;
};

/** As beneath_open() and beneath_open_parent(), which they are if `near` is NULL. */
int beneath_open_near(struct beneath_near *near, int rootfd, const char *path, int flags);
int beneath_open_parent_near(struct beneath_near *near, int rootfd, const char *path,
			     const char **name_out);
void beneath_near_release(struct beneath_near *near);

/** Make a file that must not be there yet, for writing. */
int beneath_create(int rootfd, const char *path);

/** mkdirat(2), symlinkat(2) and fchmod(2) likewise, for a path of any length; the last for a
 * directory that may be read, with `sync` followed by fsync(2). `near` may be NULL. */
int beneath_mkdir(struct beneath_near *near, int rootfd, const char *path, mode_t mode);
int beneath_symlink(const char *target, int rootfd, const char *path);
int beneath_chmod_dir(struct beneath_near *near, int rootfd, const char *path, mode_t mode,
		      bool sync);

/** chmod(2) of a name in a directory, without following a link and without the right to read it. */
int beneath_set_mode(int dirfd, const char *name, mode_t mode);

/** Open the directory that `path` is in, and point `name_out` at the last component. */
int beneath_open_parent(int rootfd, const char *path, const char **name_out);

#endif
