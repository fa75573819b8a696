/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_CONFIGTEXT_H
#define CKPT_GIT_CONFIGTEXT_H

#include "base/base.h"

/**
 * The text of a git configuration file, read as git reads it. Bytes only, no
 * files: following includes (see gitconfig.h) and choosing among several values
 * of a key is up to the caller.
 */

/**
 * Called for each value, in the order of the text. `key` is "core.pager", all
 * lower case but for a subsection; `value` is NULL for a key without one.
 * Non-zero stops the reading.
 */
typedef int (*configtext_fn)(const char *key, const char *value, void *payload);

/** CKPT_ERROR, "line <n> is malformed", or what `fn` returned. */
int configtext_parse(const char *text, size_t len, configtext_fn fn, void *payload);

#endif
