/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_REPO_H
#define CKPT_GIT_REPO_H

#include "base/base.h"

#include <stdbool.h>

/**
 * The project's own repository: found, looked at, never written.
 *
 * Works for every kind of repository that git knows, also where libgit2 1.5
 * gives up (SHA-256, another owner).
 */
struct repo {
	char *worktree;  /**< real absolute path of the toplevel */
	char *gitdir;    /**< real absolute path; of a linked worktree its private one */
	char *commondir; /**< where refs, objects and config are; equals gitdir except in linked worktrees */
	bool sha256;     /**< extensions.objectFormat */
};

/**
 * Find the repository whose worktree the current directory is in, as
 * `git rev-parse --show-toplevel` would, but with only GIT_DIR and
 * GIT_WORK_TREE together having a say (see env.h).
 *
 * CKPT_ENOTFOUND: not in a git worktree. CKPT_ERROR: in a bare repository or
 * inside of a .git, with a sentence that says so.
 */
int repo_discover(struct repo **out);

/**
 * The repository that has its ".git" (directory or file) right in `dir`
 * (absolute): a nested one or a submodule. CKPT_ENOTFOUND if there is none, or
 * if what is called ".git" is no repository.
 */
int repo_open_at(struct repo **out, const char *dir);

void repo_free(struct repo *repo);

/** What the project was at: any field may be NULL. */
struct repo_state {
	char *head;      /**< commit id, NULL on an unborn branch */
	char *branch;    /**< short name, NULL when detached */
	char *operation; /**< "merge", "rebase", "cherry-pick", "revert", "am", "bisect", or NULL */
};

/** The commit of a ref, given by its whole name; NULL if it is not there or cannot be told. */
char *repo_ref(const struct repo *repo, const char *ref);

int repo_read_state(struct repo_state *out, const struct repo *repo);
void repo_state_release(struct repo_state *state);

#endif
