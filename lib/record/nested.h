/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_NESTED_H
#define CKPT_RECORD_NESTED_H

#include "git/git.h"

/**
 * Where the repositories are that lie within a worktree: nested ones, submodules, and other
 * worktrees of the same repository if they are captured. A checkpoint has their files, and records
 * this so that a restore can tell whose HEAD has moved since. Only read.
 */
struct nested {
	char *path;   /**< from the top of the worktree */
	bool unknown; /**< its refs are in tables, and git was not asked */
	struct repo_state state;
};

struct nested_list {
	struct nested *items; /**< in the order of their paths */
	size_t nr, alloc;
};

/**
 * Read the state of those in `paths` (sorted, below `root`, which `rootfd` is, too); what is not a
 * repository is left out.
 * Git is asked, two processes each, about those that keep their refs in tables, if `ask` is set.
 */
void nested_look(struct nested_list *out, const char *root, int rootfd, const struct strlist *paths,
		 bool ask);

/** True if nothing has moved, as far as `now` is known. */
bool nested_same(const struct nested_list *then, const struct nested_list *now);

/** True if git would have to be asked. */
bool nested_unknown(const struct nested_list *list);

/** As stored: head, branch, operation and path, each ended by a NUL; empty if there is none. */
void nested_print(struct strbuf *out, const struct nested_list *list);
int nested_parse(struct nested_list *out, const char *text, size_t len);

void nested_release(struct nested_list *list);

#endif
