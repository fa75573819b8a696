/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ENV_H
#define CKPT_BASE_ENV_H

#include "base/std.h"

/**
 * What the caller gave us, and the parts that we use: the GIT_* variables, PATH
 * and the umask.
 *
 * GIT_* variables direct git and libgit2 to repositories, indexes and objects
 * that are none of our business (in a hook they point right at the project). So
 * main() removes them all from the environment before anything is opened or
 * spawned; those that we need are asked for here by name.
 *
 * A umask may take bits away from the owner. We must be able to read what we
 * create, so we apply the umask only to the other bits; a user's command gets
 * the original umask.
 *
 * A PATH entry that is not absolute leads into the worktree, where anybody may
 * have put a `git` or a `less`: we ignore such entries.
 */

/**
 * Remember and remove every GIT_* variable, the umask, and the entries of PATH
 * that are not absolute. Call once, before any thread exists.
 */
void env_scrub(void);

/** The umask for files that we create; it never masks the owner's bits. */
mode_t env_umask(void);

/** In a child that runs a user's command: the umask as the caller gave it to us. */
void env_restore_umask(void);

/** In a child that runs a user's command: PATH as the caller gave it to us. */
void env_restore_path(void);

/** The value that a GIT_* variable had, or NULL. */
const char *env_git(const char *name);

/** Make env_git() return `value` for a variable that the caller did not set. */
void env_assume(const char *name, const char *value);

/**
 * The user's directory for one kind of files: what the variable names ("XDG_DATA_HOME"), or else
 * `below_home` (".local/share"). A relative path is ignored, as the specification says. NULL if
 * there is none; the caller frees it.
 */
char *env_user_dir(const char *variable, const char *below_home);

/** Make env_git() return NULL for a variable, as if the caller had not set it. */
void env_forget(const char *name);

/** Restore all GIT_* variables and the umask, before another program replaces us. */
void env_restore(void);

/** The whole environment as the caller gave it to us, in the same order, for a user's command. */
char **env_given(void);

/**
 * The same for a program that runs in another directory: without what would lead it to the
 * repository of ours. `extra`, if not NULL, is set instead of what was given. The caller frees the
 * array, but not the strings.
 */
char **env_given_for_directory(const char *extra);

#endif
