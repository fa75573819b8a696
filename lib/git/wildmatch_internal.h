/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_WILDMATCH_INTERNAL_H
#define CKPT_GIT_WILDMATCH_INTERNAL_H

#include "base/base.h"

/**
 * Glob matching as git does it for ignore patterns: "*", "?" and brackets do
 * not match "/", and a "**" between slashes matches any number of directories.
 * fnmatch(3) has no "**" and differs in its brackets, and libgit2 does not
 * export its matcher, so this is ours, tested against git.
 */
enum wildmatch_flags {
	WILD_CASEFOLD = 1 << 0,
	WILD_PATHNAME = 1 << 1, /**< "/" is special, as described above */
};

bool wildmatch(const char *pattern, const char *text, unsigned flags);

#endif
