/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ENV_H
#define CKPT_BASE_ENV_H

#include <sys/types.h>

/**
 * What the caller gave us, and what of it we work with: the GIT_* variables,
 * PATH and the umask.
 *
 * They steer git, and libgit2, towards repositories, indexes and objects that
 * are none of our business (in a hook they point right at the project). So
 * main() takes them all out of the environment before anything is opened or
 * spawned; what we do want to know of them is asked for here by name.
 *
 * A umask may take away the bits of the owner. What we make must be readable by
 * its owner or we could not go on with it, so for us it counts for the others
 * alone; a command of the user's gets it back as it was.
 *
 * A PATH with directories that are not absolute leads into the worktree, where
 * anybody may have put a `git` or a `less`: for us these do not count.
 */

/**
 * Remember every GIT_* variable and remove it, the umask, and what of PATH is
 * not absolute. Call once, before any thread exists.
 */
void env_scrub(void);

/** The umask for what we make: never of the owner's bits. */
mode_t env_umask(void);

/** The umask as the caller gave it to us: in a child, for a command of the user's. */
void env_restore_umask(void);

/** PATH as the caller gave it to us: in a child, for a command of the user's. */
void env_restore_path(void);

/** PATH as we work with it: in a child that has env_given(), but is to be found by us. */
void env_limit_path(void);

/** The value that a GIT_* variable had, or NULL. */
const char *env_git(const char *name);

/** Give one that the caller did not set a value, as far as env_git() is concerned. */
void env_assume(const char *name, const char *value);

/** All GIT_* variables and the umask as they were: for another program in our place. */
void env_restore(void);

/** The whole environment as the caller gave it to us, in its order: for a command of the user's. */
char **env_given(void);

#endif
