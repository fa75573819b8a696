/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_BENEATH_H
#define CKPT_TREE_BENEATH_H

#include "base/base.h"

/**
 * Opening files below a root directory without ever leaving it: no component
 * of the path, including the last, may be a symbolic link or "..". One
 * openat2(2) if the kernel has it, otherwise component by component.
 */

/**
 * `path` is relative to `rootfd`, "" is the root itself. Close-on-exec is added to `flags`.
 * Returns a descriptor or -1 with errno; ELOOP means that a symbolic link is in the path,
 * EXDEV that the target was moved out of the root while it was opened.
 */
int beneath_open(int rootfd, const char *path, int flags);

/**
 * The current position of a walk through very long paths. Opening each
 * directory of a deep tree from the root takes time quadratic in its depth;
 * with this the way from the root is walked only now and then. For readers: if
 * a directory is moved meanwhile, this may still be in it. All zero means none
 * yet; one for each thread.
 */
struct beneath_near {
	int fd;
	char *path; /**< of the directory that `fd` has open; NULL: none */
	size_t len;
};

/** Like beneath_open() and beneath_open_parent(), and equal to them if `near` is NULL. */
int beneath_open_near(struct beneath_near *near, int rootfd, const char *path, int flags);
int beneath_open_parent_near(struct beneath_near *near, int rootfd, const char *path,
			     const char **name_out);
void beneath_near_release(struct beneath_near *near);

/** Create a file that must not exist yet, for writing. */
int beneath_create(int rootfd, const char *path);

/**
 * mkdirat(2), symlinkat(2) and fchmod(2) in the same way, for a path of any length; the last for a
 * readable directory, followed by fsync(2) if `sync`. `near` may be NULL.
 */
int beneath_mkdir(struct beneath_near *near, int rootfd, const char *path, mode_t mode);
int beneath_symlink(const char *target, int rootfd, const char *path);
int beneath_chmod_dir(struct beneath_near *near, int rootfd, const char *path, mode_t mode,
		      bool sync);

/**
 * Append the contents of a file that is not larger than `max`, or the target of a link. CKPT_ENOTFOUND
 * if nothing is there, or something else.
 */
int beneath_read(struct strbuf *out, struct stat *st_out, int rootfd, const char *path, uint64_t max);

/**
 * chmod(2) of a name in a directory, without following a link and without needing permission to
 * read it.
 */
int beneath_set_mode(int dirfd, const char *name, mode_t mode);

/** Open the directory that contains `path`, and point `name_out` at the last component. */
int beneath_open_parent(int rootfd, const char *path, const char **name_out);

/* --- other file systems within a worktree: mounts.c --- */

/**
 * Places that a rename cannot reach: other file systems within a worktree,
 * whether one is mounted there, a part of the same one is bind-mounted there,
 * or a subvolume begins.
 */
struct mount {
	dev_t dev;
	uint64_t id; /**< 0: the kernel does not tell */
	bool is_dir;
};

/** The mount that `name` in `dirfd` is on; links are not followed; "" is `dirfd`. -1 with errno. */
int mounts_of(struct mount *out, int dirfd, const char *name);

/** True if nothing can be renamed from the directory `root` to `other`. */
bool mounts_differ(const struct mount *root, const struct mount *other);

/** Whether what is mounted at `path` is a directory without names or a file without contents. */
bool mounts_is_empty(int rootfd, const char *path);

/** Add the paths below `root` on which something is mounted, in no particular order. Needs /proc. */
void mounts_below(struct strlist *out, const char *root, int rootfd);

#endif
