/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_AUTOSTASH_INTERNAL_H
#define CKPT_HOOKS_HOOK_AUTOSTASH_INTERNAL_H

#include "base/base.h"

struct repo;
struct save_job;

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
struct hook_autostash;

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
