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

/** Put one back into the environment, if it was there: for children that must see it. */
void env_unscrub(const char *name);

#endif
