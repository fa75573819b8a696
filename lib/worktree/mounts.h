/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_MOUNTS_H
#define CKPT_WORKTREE_MOUNTS_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Where a rename does not lead: other file systems within a worktree, be it
 * that one is mounted there, a part of the same one is bound there a second
 * time, or a subvolume begins.
 */
struct mount {
	dev_t dev;
	uint64_t id; /**< 0: the kernel does not tell */
	bool is_dir;
};

/** Of what `name` in `dirfd` is, a link itself; "" is `dirfd`. -1 with errno. */
int mounts_of(struct mount *out, int dirfd, const char *name);

/** True if nothing can be renamed from the directory `root` to where `other` is. */
bool mounts_differ(const struct mount *root, const struct mount *other);

/** Add the paths below `root` on which something is mounted, in no order. Needs /proc. */
void mounts_below(struct strlist *out, const char *root, int rootfd);

#endif
