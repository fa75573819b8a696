/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_INTERNAL_H
#define CKPT_HOOKS_HOOK_INTERNAL_H

#include "hooks/hook_checkpoint.h"
#include "hooks/hook_rules.h"

struct hook_autostash;
struct repo;
struct save_job;
struct scan;

/* ---- what a command may write: hook_targets.c ---- */

/**
 * The targets of a git command: which trees it may write, which commits it may apply.
 * Determined from the command line alone, so that every form can be tested without a
 * repository; what the names mean, if anything, git is asked later
 * (hook_exposed.c). A superfluous name costs a question, a missing one a file.
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

/* ---- what that destroys: hook_exposed.c ---- */

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

/* ---- what was stashed: hook_autostash.c ---- */

/**
 * The state before `git rebase --autostash` stashed the user's changes.
 *
 * git has already done that when it calls pre-rebase: the files are those of
 * HEAD, the changes are in a commit named by a file in the git directory. What
 * differs between HEAD and that commit is laid over the current worktree, in
 * memory; the worktree itself is only read. git writes the contents, so that
 * conversions and filters are those of a checkout, into a directory of the
 * store, from where they are read like any other files.
 *
 * Lost for good: permission bits other than "executable" of what was stashed,
 * and an untracked file in place of a tracked one of another kind, which git
 * itself has destroyed by then. A directory in which everything had been
 * deleted is left out if it was created again, which its time of birth tells.
 */

/**
 * `*out` is NULL if nothing was stashed. `under_way`: a git command of the user
 * is running, which has run the repository's filters itself; otherwise stashed
 * changes are a CKPT_ERROR, as writing them out would run the filters.
 */
int hook_autostash_open(struct hook_autostash **out, const struct repo *repo, bool under_way);
void hook_autostash_free(struct hook_autostash *stash);

/** For save_opts.amend, with the autostash as payload, which must outlive the save. */
int hook_autostash_amend(struct save_job *job, void *payload);

/** For save_opts.notes: what cannot be exact. */
const struct strlist *hook_autostash_notes(const struct hook_autostash *stash);

#endif
