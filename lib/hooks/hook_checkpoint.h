/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_CHECKPOINT_H
#define CKPT_HOOKS_HOOK_CHECKPOINT_H

#include "base/base.h"

struct hook_decision;

/**
 * Taking the checkpoint that a hook decided on, once for each command that the
 * user typed, within the time that `hookTimeout` allows.
 */
enum hook_outcome {
	HOOK_NOTHING, /**< none was needed, or the result was already reported */
	HOOK_SAVED,
	HOOK_HELD, /**< "@" holds it already */
	HOOK_FAILED,
};

/** Which later calls of hooks an answer is for: those by this process, and by what it starts. */
enum hook_reach {
	HOOK_REACHES_SELF,
	HOOK_REACHES_SOME, /**< by git processes that it starts directly, as long as they remove no more */
	HOOK_REACHES_UNTRACKED, /**< and these may remove what git does not track */
	HOOK_REACHES_ALL,	/**< by whatever it starts */
};

struct hook_answer {
	const struct proc *who; /**< NULL: there is none */
	enum hook_reach reach;
};

struct hook_result {
	enum hook_outcome outcome;
	char *id;           /**< HOOK_SAVED, HOOK_HELD */
	char *where; /**< the worktree, if the command was given in another; otherwise NULL */
	uint64_t missing;   /**< HOOK_SAVED: paths that are not in it */
	bool no_ignored;    /**< ignored files are not saved, although the command removes them */
	struct strlist lacking; /**< paths that are not saved, although the command may remove them */
	char *lacks_why;    /**< why not, or NULL */
	struct strlist secrets; /**< left out, although git may be about to remove them */
	char *why;          /**< HOOK_FAILED: a sentence */
	bool quiet; /**< by hookQuiet, or git is to be quiet, too */
	char *home; /**< of the stores, where advice that was given is noted; NULL if none is wanted */
	struct strlist damage; /**< sentences about what was wrong with the store */
	struct hook_answer answer; /**< its process is one of the decision's */
};

/** Never fails: problems are in `out`. The current directory is where git called the hook. */
void hook_take(struct hook_result *out, const struct hook_decision *decision,
	       deadline_give_up_fn give_up);
void hook_result_release(struct hook_result *result);

/**
 * Leave an answer for the shims, so that they do not start this program again for nothing:
 * "<pid> <start> <reach> <directory>", where the hook was called. Never fails.
 */
void hook_answer_write(const char *file, const struct hook_answer *answer);

#endif
