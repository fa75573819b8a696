/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_EXCLUDE_H
#define CKPT_GIT_EXCLUDE_H

#include "base/base.h"

/**
 * Ignore rules, with exactly the meaning that gitignore(5) gives them.
 *
 * A list holds the patterns of one source (a .gitignore, an info/exclude, the
 * default patterns). Lists form a chain, highest precedence first; the first
 * list with a pattern that matches a path decides. A list never changes once it
 * is parsed, so any number of threads may use it.
 *
 * The caller walks directories from the top and does not descend into an
 * ignored one: as in git, nothing below an ignored directory can be
 * re-included. This module decides about one path only and never looks at its
 * parents.
 */
struct exclude_list;

struct exclude_chain {
	const struct exclude_list *list;
	const struct exclude_chain *next; /**< lower precedence, or NULL */
};

enum exclude_verdict {
	EXCLUDE_UNDECIDED, /**< no pattern matches */
	EXCLUDE_IGNORED,
	EXCLUDE_INCLUDED, /**< a pattern with "!" matches */
};

/**
 * Parse patterns, one per line, as git reads an exclude file (BOM, trailing
 * blanks, "\#", "\!", CR before LF, no newline at the end).
 *
 * `base` is the directory that the patterns are relative to, itself relative
 * to the root of the walk: "" or "a/b" (without a trailing slash). `tag` tells
 * the caller which source decided. `ignore_case` is core.ignoreCase.
 */
struct exclude_list *exclude_list_new(const char *text, size_t len, const char *base, int tag,
				      bool ignore_case);
void exclude_list_free(struct exclude_list *list);

/** True if it has no patterns. */
bool exclude_list_empty(const struct exclude_list *list);

/**
 * What the chain says about `path` (relative to the root of the walk, without a
 * slash at either end). `basename` points at its last component. `decided_out`,
 * which may be NULL, is set to the list that decided, if any.
 */
enum exclude_verdict exclude_match(const struct exclude_chain *chain, const char *path,
				   const char *basename, bool is_dir,
				   const struct exclude_list **decided_out);

int exclude_list_tag(const struct exclude_list *list);

#endif
