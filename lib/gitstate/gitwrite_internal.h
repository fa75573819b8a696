/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITWRITE_INTERNAL_H
#define CKPT_GITSTATE_GITWRITE_INTERNAL_H

#include "git/git.h"
#include "gitstate/gitwrite.h"

/** For gitwrite_*.c alone. */

/** Run git to change something; what it says about a failure is part of the message. */
int gitwrite_run(const struct gitwrite *how, const char *input, size_t len,
		 const char *const args[]);

/** The same, with what it prints appended to `out`. */
int gitwrite_ask(struct strbuf *out, const struct gitwrite *how, const char *input, size_t len,
		 const char *const args[]);

/** The new index beside the old one; index.lock is ours if it is the same file. */
#define GITWRITE_NEW_INDEX "index.checkpoint"

#define GITWRITE_INDEX_COPY GITWRITE_NEW_INDEX ".copy"

/** True if index.lock is a second name of that file, or a copy of it. */
bool gitwrite_owns_index_lock(const struct repo *repo);

/** The directory that a ref is below: those of one worktree are in its own. */
const char *gitwrite_holder(const struct repo *repo, const char *ref);

#endif
