/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITPLAN_H
#define CKPT_GITSTATE_GITPLAN_H

#include "gitstate/gitread.h"
#include "gitstate/gitwrite.h"
#include "record/record.h"

/**
 * What is to be done to the repository, from where it is and where it was. Pure:
 * the repository is looked at between the two steps, see gitback.c.
 */

/** Where the branches of a step on the stack of restores go, or of an interrupted one. */
struct gitplan_opts {
	enum journal_git what; /**< not JOURNAL_FILES */
	/**
	 * NULL: branches go where `goal` has them. Otherwise these go from `old` to `new`, and no
	 * other; one that is at neither has moved since.
	 */
	const struct gitwrite_refs *remembered;
	const struct strlist *config; /**< of a branch that such a step removes, or brings back */
	bool back;		      /**< they go from `new` to `old` instead */
	bool interrupted;	      /**< it was begun before, so some may be there already */
	const char *machine;	      /**< the checkpoint was fetched from there; NULL: it is our own */
};

struct gitplan {
	struct gitwrite_refs refs;   /**< branches first, then refs of an operation */
	size_t branches_nr;	     /**< how many of them are not refs of an operation */
	bool head, index, operation; /**< these change */
	struct strlist config;	     /**< lines to add to the configuration, */
	char *config_branch;	     /**< of this branch, or NULL */
	bool config_removed;	     /**< or to remove */
	char *moved; /**< a remembered branch that is neither here nor there, or NULL */
};

/** Step 1: decide what changes. */
void gitplan_decide(struct gitplan *out, const struct gitstate *now, const struct gitstate *goal,
		    const struct gitplan_opts *opts);
void gitplan_release(struct gitplan *plan);

/** Nothing changes. */
bool gitplan_is_empty(const struct gitplan *plan);

/** What the repository says about a plan; arrays are parallel to the branches of the plan. */
struct gitplan_facts {
	char *lock;	 /**< a lock file that exists, or NULL */
	char *link;	 /**< what git would write through, or NULL */
	char *elsewhere; /**< a worktree in which `elsewhere_ref` is checked out, or NULL */
	char *elsewhere_ref;
	char *alias; /**< a branch of the plan that is only another name, of `alias_of` */
	char *alias_of;
	struct strlist gone;	   /**< commits that the repository lacks */
	struct strlist missing;	   /**< objects of the index that nobody has */
	bool tree_gone;		   /**< the tree that the index is to differ from is gone */
	unsigned *leaving, *coming; /**< commits that leave the branch, or come back to it */
	bool *logged;		   /**< its reflog has, or will have, the old commit */
	unsigned lone;	  /**< commits that only a HEAD without a branch has, which leaves them */
	bool lone_logged; /**< its reflog has them */
	struct gitindex_counts now, goal; /**< of the two indexes */
};

void gitplan_facts_release(struct gitplan_facts *facts);

/** Step 2: what the user is told, a line each. */
void gitplan_say(struct strlist *out, const struct gitplan *plan, const struct gitstate *now,
		 const struct gitstate *goal, const struct gitplan_facts *facts);

/** What an index has, "3 staged files, 1 intended file"; nothing if that is what HEAD has. */
void gitplan_describe_index(struct strbuf *out, const struct gitindex_counts *counts);

/**
 * What prevents it: 0 or CKPT_EREFUSED. `id` is the checkpoint, for what can be had without it.
 */
int gitplan_check(const struct gitplan *plan, const struct gitstate *now,
		  const struct gitstate *goal, const struct gitplan_facts *facts,
		  const struct gitplan_opts *opts, const char *id);

/** The ref that a rebase in progress will move when it ends, or NULL; the caller frees it. */
char *gitplan_rebased(const struct gitstate *state);

/** The commit of a branch, given by its full name, or NULL. */
const char *gitplan_branch(const struct gitstate *state, const char *ref);

#endif
