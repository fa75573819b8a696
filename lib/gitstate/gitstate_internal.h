/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITSTATE_INTERNAL_H
#define CKPT_GITSTATE_GITSTATE_INTERNAL_H

#include "gitstate/gitread.h"

/** The parts of gitstate_read(). Each adds to a state what it is named after. */

/** Seconds that git has for all answers before a checkpoint is taken without this. */
enum { GITSTATE_PATIENCE = 20 };

/** Whether two texts, either of which may be NULL, differ. */
static inline bool gitstate_differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/** Ask git about `repo`; `args` ends with a NULL. */
int gitstate_ask(struct strbuf *out, const struct repo *repo, const char *const args[]);

/** HEAD, branches, stashes and private refs. */
int gitstate_read_refs(struct gitstate *state, const struct repo *repo);

/** They need not be asked for again as long as gitstate_is_same() says so of `stat`. */
void gitstate_refs_known(const struct repo *repo, const struct strbuf *stat);

/** Entries; `head` must be there. Sets `head_tree`. */
int gitstate_read_index(struct gitstate *state, const struct repo *repo);

/**
 * Append what `git ls-tree -r -z --full-tree` says of a tree. It is not asked where the index knows
 * that it equals the tree, nor twice in a row.
 */
int gitstate_list_tree(struct strbuf *out, const struct repo *repo, const char *tree);

/**
 * Add what an index has that a tree has not. `list` is what `git ls-tree -r -z` says of the tree,
 * and is changed; NULL: the tree has the same files.
 */
int gitstate_take_index(struct gitstate *state, const struct gitindex *index, struct strbuf *list);

/** True if two states have the same entries, which means the same index only if their trees are equal. */
bool gitstate_same_entries(const struct gitstate *a, const struct gitstate *b);

/** Whether an index may have an entry there: below the worktree, and not in its .git. */
bool gitstate_usable_path(const char *path);

/** The operation with its files; refs must be there. */
int gitstate_read_operation(struct gitstate *state, const struct repo *repo);

/** The text of a file of the operation, with a NUL at its end; NULL: it does not exist. */
const char *gitstate_text(const struct gitstate *state, const char *path);

/** The id of a private ref, or NULL. */
const char *gitstate_private(const struct gitstate *state, const char *name);

/** Names of the files of an operation, and of its directories, up to a NULL. */
extern const char *const gitstate_op_files[];
extern const char *const gitstate_op_dirs[];

/** Names of refs beside HEAD that belong to an operation, up to a NULL. */
extern const char *const gitstate_root_refs[];

#endif
