/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_EXPOSED_INTERNAL_H
#define CKPT_HOOKS_HOOK_EXPOSED_INTERNAL_H

#include "base/base.h"

struct hook_targets;
struct repo;
struct scan;

/**
 * What the rules leave out of a checkpoint, but a git command may destroy. To
 * git, ignored files are expendable: a checkout, merge or reset to a tree that
 * has something at their path replaces them, and with force it does the same
 * to anything untracked.
 *
 * git is asked which paths it may write that its index does not have; of
 * these, the ones where something was left out are chosen. If nothing was left
 * out, git is not even asked.
 */

/**
 * Add to `out` the paths to save, each with everything below it, from
 * scan->left_out; secrets in the way are added as well. `prefix` is where in
 * the worktree the command was run: "" or "dir/".
 */
int hook_exposed_find(struct strlist *out, const struct scan *scan, const struct repo *repo,
		      const struct hook_targets *targets, const char *prefix);

#endif
