/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_CONFIGCOND_INTERNAL_H
#define CKPT_GIT_CONFIGCOND_INTERNAL_H

#include "base/base.h"

#include <stdbool.h>

/** The conditions of includeIf, judged as git judges them. For gitconfig.c. */

struct configcond {
	const char *gitdir; /**< real path; NULL: outside of git */
	const char *branch; /**< short name; NULL: none */
	const struct strlist *urls; /**< of all remotes; NULL: not known yet */
	bool asked_for_urls; /**< out: a condition needs them; false was the answer */
};

/**
 * Whether a condition ("gitdir:~/work/", without anything around it) holds.
 * `file` is the one that it stands in; a kind that is not known does not hold.
 */
bool configcond_holds(struct configcond *cond, const char *condition, const char *file);

/** A path as git expands it: "~/" and "~user/". False if there is no such home. */
bool configcond_expand(struct strbuf *out, const char *path);

#endif
