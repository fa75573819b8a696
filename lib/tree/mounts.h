/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_MOUNTS_H
#define CKPT_TREE_MOUNTS_H

#include "base/base.h"

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
