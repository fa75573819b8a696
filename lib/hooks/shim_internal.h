/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_SHIM_INTERNAL_H
#define CKPT_HOOKS_SHIM_INTERNAL_H

#include "base/base.h"

/** The shims in hooks/ of the source, share/git-checkpoint/hooks of an installation. */

/** The values to fill in. */
struct shim_values {
	const char *events; /**< comma-separated; NULL: not used */
	const char *chain;  /**< the program that core.fsmonitor named before; NULL: none */
	const char *answer; /**< the file with what the program answered */
	int64_t seconds;    /**< after which a program that hangs is killed */
};

/** Append the shim `name`, filled in, as a whole file. */
int shim_file(struct strbuf *out, const char *name, const struct shim_values *values);

/** Append only its marked lines. */
int shim_lines(struct strbuf *out, const char *name, const struct shim_values *values);

#endif
