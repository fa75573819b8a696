/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_TARGETS_INTERNAL_H
#define CKPT_HOOKS_HOOK_TARGETS_INTERNAL_H

#include "base/base.h"

#include <stdbool.h>

struct hook_git;

/**
 * Where a git command leads: which trees it may write out, which commits it
 * may apply. Told from the command line alone, so that every form can be tried
 * without a repository; what the names mean, if anything, is asked of git
 * later (hook_exposed_internal.h). A name too many costs a question, one too few a file.
 */
struct hook_targets {
	struct strlist trees;   /**< names of commits or trees; some may be nothing of the kind */
	char *guess;            /**< a name that may be that of a remote's branch; or NULL */
	struct strlist walk;    /**< arguments of `git rev-list`: the commits whose changes are applied */
	struct strlist paths;   /**< names of files, from where the command was given */
	struct strlist patches; /**< files with patches; none where they come from a pipe */
	bool applies_patches;   /**< they matter only if they may be merged, too */
	bool merges_patches;
	bool ongoing; /**< what the operation in progress began with, and has to do, counts */
	bool modules; /**< submodules are changed, or go */
	bool unknown; /**< it cannot be told: anything */
};

/** Add those of one command, which changes files; several may belong to what the user gave. */
void hook_targets_add(struct hook_targets *out, const struct hook_git *git);
void hook_targets_release(struct hook_targets *targets);

#endif
