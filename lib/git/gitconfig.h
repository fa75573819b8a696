/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GITCONFIG_H
#define CKPT_GIT_GITCONFIG_H

#include "base/base.h"

struct repo;

/**
 * git's configuration as git would read it: system, the user's two places (or
 * GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_CONFIG_NOSYSTEM), the repository's,
 * the worktree's, and `git -c` (GIT_CONFIG_PARAMETERS, GIT_CONFIG_COUNT).
 * Includes are followed, with their conditions. Only regular files are read,
 * and nothing is written.
 */
struct gitconfig;

enum gitconfig_level {
	GITCONFIG_SYSTEM,
	GITCONFIG_GLOBAL,
	GITCONFIG_LOCAL, /**< the repository's, and the worktree's: not written by the user */
	GITCONFIG_COMMAND,
};

/** "system", "global", "local", "command", as `git config --show-scope` says. */
const char *gitconfig_level_name(enum gitconfig_level level);

/** `repo` may be NULL: outside git. */
int gitconfig_open(struct gitconfig **out, const struct repo *repo);
void gitconfig_close(struct gitconfig *config);

/**
 * The value of a key ("core.pager", lower case) from the highest level that
 * has it, but not above `highest`; NULL if it is not set. Valid as long as
 * `config`.
 */
const char *gitconfig_get(const struct gitconfig *config, const char *key,
			  enum gitconfig_level highest);

/**
 * git's words and numbers for true and false; returns false, and leaves `*out` alone, for anything
 * else.
 */
bool gitconfig_parse_bool(bool *out, const char *value);

bool gitconfig_bool(const struct gitconfig *config, const char *key, bool fallback);

/** The same as a path: "~/" expanded. False if the key is not set or empty. */
bool gitconfig_path(struct strbuf *out, const struct gitconfig *config, const char *key);

typedef int (*gitconfig_fn)(const char *key, const char *value, enum gitconfig_level level,
			    void *payload);

/** Every value of every key that begins with `prefix`, lowest level first. Stops at non-zero. */
int gitconfig_each(const struct gitconfig *config, const char *prefix, gitconfig_fn fn,
		   void *payload);

#endif
