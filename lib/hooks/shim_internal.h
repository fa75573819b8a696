/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_SHIM_INTERNAL_H
#define CKPT_HOOKS_SHIM_INTERNAL_H

#include "base/base.h"

/** The shims in hooks/ of the source, share/git-checkpoint/hooks of an installation. */

/** What all of them contain, and nothing else does. */
#define SHIM_MARK "# Installed by 'git checkpoint hooks install"

/** The values to fill in. */
struct shim_values {
	const char *chosen; /**< for the next install, see install_choice_format() */
	const char *events; /**< comma-separated */
	const char *chain;  /**< the program that core.fsmonitor named before; "": none */
	const char *answer; /**< the file with what the program answered */
	int64_t seconds;    /**< after which a program that hangs is killed */
};

/** Append the shim `name`, filled in. */
int shim_file(struct strbuf *out, const char *name, const struct shim_values *values);

/**
 * Replace a line "# @name: ..." here, if there is one, with the part `name` of
 * the shim `home`, which is there between two lines "# @name begins..." and "#
 * @name ends". False if `home` has no such part.
 */
bool shim_paste(struct strbuf *shim, const char *home, const char *name);

/**
 * Set a variable: the first `name='...'` at the beginning of a line. False if there is no such
 * line.
 */
bool shim_fill(struct strbuf *shim, const char *name, const char *value);

#endif
