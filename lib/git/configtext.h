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

/** A header or a key, and where it is in the text. */
struct configtext_item {
	bool header;
	const char *key;   /**< as above; of a header "core." */
	const char *value; /**< NULL: none */
	size_t start;	   /**< its first byte, without indentation */
	size_t name_end;   /**< after the name, or the header's "]" */
	size_t end;	   /**< of a key: after its value and a comment, before the line's end */
};
typedef int (*configtext_item_fn)(const struct configtext_item *item, void *payload);

/** The same with headers, and with where things are. */
int configtext_each(const char *text, size_t len, configtext_item_fn fn, void *payload);

/** CKPT_ERROR, "line <n> is malformed", or what `fn` returned. */
int configtext_parse(const char *text, size_t len, configtext_fn fn, void *payload);

#endif
