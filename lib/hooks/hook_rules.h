/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_RULES_H
#define CKPT_HOOKS_HOOK_RULES_H

#include "base/base.h"

struct hook_targets;

/**
 * Whether a hook that git calls is a moment at which a checkpoint must be
 * taken, judging by what git is doing: a pure function, so that every measured
 * case can be tested.
 *
 * Three hooks come before the change:
 *
 * - `pre-rebase`, always, though with --autostash after the changes were
 *   stashed (see hook_autostash.c);
 * - `reference-transaction` when it is prepared, for the few refs that are
 *   written before the files are: ORIG_HEAD by `merge` and `am`, refs/stash by
 *   `stash push`, refs/bisect/ by the steps of a bisection. All other commands
 *   write ORIG_HEAD when it is too late;
 * - `fsmonitor`, which git asks whenever it reads the index. Here only the
 *   command matters, that is the arguments of the git processes from which
 *   this one descends.
 */
enum hook_name {
	HOOK_PRE_REBASE,
	HOOK_REFERENCE_TRANSACTION,
	HOOK_FSMONITOR, /**< the guard */
	HOOK_UNKNOWN,
};

/** As git writes them; ends with NULL for an unknown one. */
extern const char *const hook_names[];

enum hook_name hook_name_of(const char *text);

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
 * Add the events of a comma-separated list to `out`. Returns the position of
 * the first unknown event in the list, NULL if all are known.
 */
const char *hook_events_parse(unsigned *out, const char *list);

struct hook_call {
	enum hook_name name;
	const char *const *args;          /**< the arguments from git */
	size_t args_nr;
	unsigned events;                  /**< enum hook_event; not used for the fsmonitor hook */
	const char *refs;                 /**< lines "<old> <new> <ref>"; may be NULL */
	const char *reflog_action;        /**< GIT_REFLOG_ACTION, may be NULL */
	const struct proc_list *ancestors; /**< of the hook; may be empty */
};

/**
 * What is about to be destroyed beyond what a checkpoint has anyway; each includes those before it.
 */
enum hook_extent {
	HOOK_TAKES_SOME, /**< single files that are in the way: see hook_targets.c */
	HOOK_TAKES_UNTRACKED, /**< everything that git does not ignore */
	HOOK_TAKES_IGNORED,
};

struct hook_decision {
	bool act;
	const char *command;   /**< "reset": for the reason `pre-reset`; static */
	enum hook_extent extent;
	bool autostash;        /**< changes may already have been stashed */
	bool only_unborn;      /**< nothing to do if HEAD names a commit that no fetch replaces */
	const struct proc *top; /**< the topmost git, to which everything belongs; NULL: unknown */
	const struct proc *caller; /**< the nearest git, which called the hook; NULL: unknown */
	const struct proc *actor; /**< which of them changes files; NULL: unknown */
	const struct proc_list *ancestors;
	size_t family; /**< how many of them belong to the topmost git */
};

/** True if the answer of hook_decide() could depend on `refs`; otherwise they need not be read. */
bool hook_wants_refs(const struct hook_call *call);

void hook_decide(struct hook_decision *out, const struct hook_call *call);

/** True if the git that changes files was told to be quiet. */
bool hook_decision_quiet(const struct hook_decision *decision);

/** The command as a person would call it, with what it does to an operation: "rebase --abort". */
void hook_decision_describe(struct strbuf *out, const struct hook_decision *decision);

/** The targets of the command that the decision is about, and of what it calls. */
void hook_decision_targets(struct hook_targets *out, const struct hook_decision *decision);

/* ---- a git process, and what it does to files: hook_git.c ---- */

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

/** True with `-q` or `--quiet`. */
bool hook_git_quiet(const struct hook_git *git);

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
