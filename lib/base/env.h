/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ENV_H
#define CKPT_BASE_ENV_H

/**
 * The GIT_* variables of the caller.
 *
 * They steer git, and libgit2, towards repositories, indexes and objects that
 * are none of our business (in a hook they point right at the project). So
 * main() takes them all out of the environment before anything is opened or
 * spawned; what we do want to know of them is asked for here by name.
 */

/** Remember every GIT_* variable and remove it. Call once, before any thread exists. */
void env_scrub(void);

/** The value that a GIT_* variable had, or NULL. */
const char *env_git(const char *name);

/** Give one that the caller did not set a value, as far as env_git() is concerned. */
void env_assume(const char *name, const char *value);

/** Put all of them back into the environment, as they were: for another program in our place. */
void env_restore(void);

/** The whole environment as the caller gave it to us, in its order: for a command of the user's. */
char **env_given(void);

#endif
