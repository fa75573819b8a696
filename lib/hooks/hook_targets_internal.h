/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_TARGETS_INTERNAL_H
#define CKPT_HOOKS_HOOK_TARGETS_INTERNAL_H

#include "base/base.h"

struct hook_git;

/**
 * The targets of a git command: which trees it may write, which commits it may apply.
 * Determined from the command line alone, so that every form can be tested without a
 * repository; what the names mean, if anything, git is asked later
 * (hook_exposed_internal.h). A superfluous name costs a question, a missing one a file.
 */
struct hook_targets {
	struct strlist trees;   /**< names of commits or trees; some may be neither */
	char *guess;            /**< a name that may be that of a remote branch; or NULL */
	struct strlist walk;    /**< arguments of `git rev-list`: the commits whose changes are applied */
	struct strlist paths;   /**< names of files, relative to where the command was run */
	struct strlist patches; /**< files with patches; none if they come from a pipe */
	bool applies_patches;   /**< they matter only if they may be merged, too */
	bool merges_patches;
	bool ongoing; /**< include what the operation in progress started with and has yet to do */
	bool modules; /**< submodules are changed or removed */
	bool unknown; /**< unknown: it may be anything */
};

/** Add the targets of one command, which changes files; several may belong to what the user typed. */
void hook_targets_add(struct hook_targets *out, const struct hook_git *git);
void hook_targets_release(struct hook_targets *targets);

#endif
