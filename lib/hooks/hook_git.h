/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_CALLS_H
#define CKPT_HOOKS_HOOK_CALLS_H

#include "base/base.h"

struct proc;

/** A git process: which command, and its arguments. */
struct hook_git {
	const char *command; /**< "" if none is given */
	char *const *args;
	size_t nr;
};

/** False if `proc` is not git. Global options before the command are skipped. */
bool hook_git_read(struct hook_git *out, const struct proc *proc);

/** The first argument that is not an option, "" if there is none. */
const char *hook_first_word(const struct hook_git *git);

bool hook_stash_pushes(const struct hook_git *git);
bool hook_stash_takes_ignored(const struct hook_git *git);
bool hook_stash_takes_untracked(const struct hook_git *git);

/** True if `word` is in the list, which ends with NULL. */
bool hook_among(const char *word, const char *const list[]);

enum hook_kind {
	HOOK_PASSES = 0, /**< not interesting itself, but what it calls may be */
	HOOK_CHANGES,    /**< files of this worktree */
	HOOK_OWNS,       /**< changes only files that it created, whatever it calls */
};

/** What a command does to existing files. */
struct hook_effect {
	enum hook_kind kind;
	const char *called;  /**< HOOK_CHANGES: the name of the command for the reason; static */
	bool takes_untracked; /**< HOOK_CHANGES: removes whatever git does not ignore, tracked or not */
	bool takes_ignored;  /**< HOOK_CHANGES: removes ignored files, too */
	bool elsewhere;      /**< HOOK_CHANGES: only where a git that it calls works */
	bool through;        /**< HOOK_CHANGES: only through a git that it calls and that changes files */
};

void hook_effect_of(struct hook_effect *out, const struct hook_git *git);

#endif
