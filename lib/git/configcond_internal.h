/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_CONFIGCOND_INTERNAL_H
#define CKPT_GIT_CONFIGCOND_INTERNAL_H

#include "base/base.h"

/** The conditions of includeIf, evaluated as git does. For gitconfig.c. */

struct configcond {
	const char *gitdir; /**< real path; NULL: outside git */
	const char *branch; /**< short name; NULL: none */
	const struct strlist *urls; /**< of all remotes; NULL: not known yet */
	bool asked_for_urls; /**< out: a condition needs them; it was taken as false */
};

/**
 * Whether a condition ("gitdir:~/src/", without anything around it) holds.
 * `file` is the file that contains it; an unknown kind of condition does not
 * hold.
 */
bool configcond_holds(struct configcond *cond, const char *condition, const char *file);

/** Expand a path as git does: "~/" and "~user/". False if that home does not exist. */
bool configcond_expand(struct strbuf *out, const char *path);

#endif
