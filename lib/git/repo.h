/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_REPO_H
#define CKPT_GIT_REPO_H

#include "base/base.h"

/**
 * The project's repository: found, read, never written.
 *
 * Works for every kind of repository that git knows, even where libgit2 1.5
 * gives up (SHA-256, another owner).
 */
struct repo {
	char *worktree;  /**< real absolute path of the toplevel */
	char *gitdir;    /**< real absolute path; for a linked worktree its private one */
	char *commondir; /**< where refs, objects and config are; equals gitdir except in linked worktrees */
	bool sha256;     /**< extensions.objectFormat */
};

/**
 * Find the repository whose worktree contains the current directory, as `git
 * rev-parse --show-toplevel` would, except that GIT_DIR and GIT_WORK_TREE
 * count only together (see env.h).
 *
 * CKPT_ENOTFOUND: not in a git worktree. CKPT_ERROR: in a bare repository or
 * inside a .git, and for what was planted: a repository that git would not use
 * because it belongs to somebody else, one whose core.worktree leads out of the
 * directory that it was found in, and one whose "commondir" names a repository
 * that does not have it as a worktree. The message says so.
 */
int repo_discover(struct repo **out);

/**
 * The repository whose ".git" (directory or file) is right in `dir`
 * (absolute): a nested one or a submodule. CKPT_ENOTFOUND if there is none, or
 * if ".git" is not a repository.
 */
int repo_open_at(struct repo **out, const char *dir);

void repo_free(struct repo *repo);

/** What the project was doing: any field may be NULL. */
struct repo_state {
	char *head;      /**< commit id, NULL on an unborn branch */
	char *branch;    /**< short name, NULL when detached */
	char *ref;	 /**< its full name */
	char *operation; /**< "merge", "rebase", "cherry-pick", "revert", "am", "bisect", or NULL */
};

/**
 * All other worktrees of the same repository that are there: their real absolute paths, sorted.
 */
void repo_other_worktrees(struct strlist *out, const struct repo *repo);

/** Whether git still knows a linked worktree at `dir`, where there may be nothing any more. */
bool repo_lost_worktree(const struct repo *repo, const char *dir);

/** The commit of a ref, given by its full name; NULL if it does not exist or cannot be read. */
char *repo_ref(const struct repo *repo, const char *ref);

/** A ref's name without "refs/heads/". Points into `ref`. */
const char *repo_short_branch(const char *ref);

/** The operation in progress as its files tell: as in struct repo_state, or NULL. */
const char *repo_operation(const struct repo *repo);

/** True if its refs are in tables, and HEAD and the files beside it say nothing. */
bool repo_has_reftable(const struct repo *repo);

int repo_read_state(struct repo_state *out, const struct repo *repo);

/**
 * The same in a few system calls, for the repository whose ".git" is in a directory; `path` is
 * relative to `rootfd`. False if it is none, or there is anything unusual about it (an operation in
 * progress, no commit, refs in tables, another worktree): then look closer.
 */
bool repo_peek(struct repo_state *out, int rootfd, const char *path);

void repo_state_release(struct repo_state *state);

#endif
