/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_EXCLUDE_H
#define CKPT_GIT_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Ignore rules, with exactly the meaning that gitignore(5) gives them.
 *
 * A list holds the patterns of one source (a .gitignore, an info/exclude, the
 * default patterns). Lists are put into a chain, the one with the highest
 * precedence first; the first list that has an opinion about a path decides.
 * A list never changes after it was parsed, so any number of threads may ask.
 *
 * The caller walks directories from the top and does not descend into one that
 * is ignored: as in git, nothing below an ignored directory can be re-included.
 * This module answers for one path only and never looks at its parents.
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
 * Parse patterns, one a line, as git reads an exclude file (BOM, trailing
 * blanks, "\#", "\!", CR before LF, no newline at the end).
 *
 * `base` is the directory that the patterns are relative to, itself relative
 * to the root of the walk: "" or "a/b" (no slash at the end). `tag` is kept
 * for the caller, who learns from it which source decided. `ignore_case` is
 * core.ignoreCase.
 */
struct exclude_list *exclude_list_new(const char *text, size_t len, const char *base, int tag,
				      bool ignore_case);
void exclude_list_free(struct exclude_list *list);

/** True if there is no pattern in it. */
bool exclude_list_empty(const struct exclude_list *list);

/**
 * What the chain says about `path` (relative to the root of the walk, no slash
 * at either end). `basename` points at its last component within it. `decided_out`,
 * which may be NULL, gets the list that decided and is otherwise untouched.
 */
enum exclude_verdict exclude_match(const struct exclude_chain *chain, const char *path,
				   const char *basename, bool is_dir,
				   const struct exclude_list **decided_out);

int exclude_list_tag(const struct exclude_list *list);

#endif
