/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_WHERE_INTERNAL_H
#define CKPT_HOOKS_INSTALL_WHERE_INTERNAL_H

#include "base/base.h"

struct repo;

/**
 * What an installation is for: one repository, or all repositories of the user.
 */
struct install_where {
	char *root; /**< recorded paths are relative to it: the git directory that worktrees share */
	char *dir;  /**< of the record and the shims */
	char *config; /**< the configuration file, links followed; it need not exist */
	bool global;  /**< for all repositories */
};

/** The name of the directory in a git directory. */
#define INSTALL_DIR "git-checkpoint"

/** The end of the path of the one for all repositories. */
#define INSTALL_GLOBAL "/git-checkpoint/global"

void install_where_repo(struct install_where *out, const struct repo *repo);

/**
 * $XDG_DATA_HOME/git-checkpoint/global, and the file that `git config --global` writes.
 * Fails if the environment leaves no place for one of them.
 */
int install_where_global(struct install_where *out);

void install_where_release(struct install_where *where);

/** One at a time, also in linked worktrees: what they share is locked until `*fd_out` is closed. */
int install_where_lock(int *fd_out, const struct install_where *where);

#endif
