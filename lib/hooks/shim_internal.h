/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_SHIM_INTERNAL_H
#define CKPT_HOOKS_SHIM_INTERNAL_H

#include "base/base.h"

#include <stdint.h>

/** The shims in hooks/ of the source, share/git-checkpoint/hooks of an installation. */

/** What is filled in. */
struct shim_values {
	const char *events; /**< comma-separated; NULL: not asked for */
	const char *chain;  /**< the program that core.fsmonitor named before; NULL: none */
	const char *mark;   /**< the file that says that a program had to be ended */
	int64_t seconds;    /**< after which a program that hangs is ended */
};

/** Append the shim `name`, filled in, as a whole file. */
int shim_file(struct strbuf *out, const char *name, const struct shim_values *values);

/** Append only the marked lines of it. */
int shim_lines(struct strbuf *out, const char *name, const struct shim_values *values);

#endif
