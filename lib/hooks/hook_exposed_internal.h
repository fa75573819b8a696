/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_EXPOSED_INTERNAL_H
#define CKPT_HOOKS_HOOK_EXPOSED_INTERNAL_H

#include "base/base.h"

struct hook_targets;
struct repo;
struct scan;

/**
 * What the rules leave out of a checkpoint, and a git command may nevertheless
 * destroy. Ignored files are expendable to git: a checkout, a merge, a reset
 * to a tree that has something at their path replaces them; so it does with
 * anything untracked when it is forced to.
 *
 * git is asked which paths it may write that its index does not have, and of
 * these the ones are chosen where something lies that was left out. Where that
 * is nothing, or nothing was left out at all, git is not even asked.
 */

/**
 * Add to `out` the paths to take, each with all below it, out of
 * scan->left_out; secrets that are in the way are added as well. `prefix` is
 * where in the worktree the command was given: "" or "dir/".
 */
int hook_exposed_find(struct strlist *out, const struct scan *scan, const struct repo *repo,
		      const struct hook_targets *targets, const char *prefix);

#endif
