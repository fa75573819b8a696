/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_RULES_H
#define CKPT_HOOKS_HOOK_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct proc;
struct proc_list;

/**
 * Whether a hook that git calls is a moment at which a checkpoint has to be
 * taken, from what git is doing: a pure function, so that every row of what
 * was measured can be tried.
 *
 * Three hooks come before the change:
 *
 * - `pre-rebase`, always, though with --autostash after the changes were put
 *   aside (see hook_autostash_internal.h);
 * - `reference-transaction` when it is prepared, for the few refs that are
 *   written before the files are: ORIG_HEAD by `merge` and `am`, refs/stash by
 *   `stash push`, refs/bisect/ by the steps of a bisection. All other commands
 *   that write ORIG_HEAD do so when it is too late;
 * - `fsmonitor`, which git asks whenever it reads the index. Here only the
 *   command counts, that is the arguments of the git processes that this one
 *   descends from.
 */
enum hook_event {
	HOOK_EVENT_REBASE = 1 << 0,
	HOOK_EVENT_MERGE = 1 << 1,
	HOOK_EVENT_AM = 1 << 2,
	HOOK_EVENT_STASH = 1 << 3,
	HOOK_EVENT_BISECT = 1 << 4,
	HOOK_EVENT_ALL = (1 << 5) - 1,
};

/** Their names, in the order of the bits; the list ends with NULL. */
extern const char *const hook_event_names[];

/**
 * Add the events of a comma-separated list to `out`. Returns where in the list
 * the first one is that is not known, NULL if all are.
 */
const char *hook_events_parse(unsigned *out, const char *list);

struct hook_call {
	const char *name;                 /**< "pre-rebase", "reference-transaction", "fsmonitor" */
	const char *const *args;          /**< what git gives it */
	size_t args_nr;
	unsigned events;                  /**< enum hook_event; the fsmonitor hook does not ask */
	const char *refs;                 /**< lines "<old> <new> <ref>"; may be NULL */
	const char *reflog_action;        /**< GIT_REFLOG_ACTION, may be NULL */
	const struct proc_list *ancestors; /**< of the hook; may be empty */
};

/** What is about to go beyond what a checkpoint has anyway; each with what is before it. */
enum hook_extent {
	HOOK_TAKES_SOME, /**< here and there a file that is in the way: see hook_targets_internal.h */
	HOOK_TAKES_UNTRACKED, /**< all that git does not ignore */
	HOOK_TAKES_IGNORED,
};

struct hook_decision {
	bool act;
	const char *command;   /**< "reset": for the reason `pre-reset`; static */
	enum hook_extent extent;
	bool autostash;        /**< changes may have been put aside already */
	bool only_unborn;      /**< nothing to be done if HEAD names a commit that no fetch replaces */
	const struct proc *top; /**< the topmost git, which all belongs to; NULL: not known */
	const struct proc *actor; /**< which of them changes files; NULL: not known */
	const struct proc_list *ancestors;
	size_t family; /**< how many of them belong to the topmost git */
};

/** True if the answer of hook_decide() could depend on `refs`: else they need not be read. */
bool hook_wants_refs(const struct hook_call *call);

void hook_decide(struct hook_decision *out, const struct hook_call *call);

struct hook_targets;

/** Where the command leads that the decision is about, and what it calls. */
void hook_decision_targets(struct hook_targets *out, const struct hook_decision *decision);

#endif
