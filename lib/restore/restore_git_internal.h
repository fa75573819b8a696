/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_RESTORE_GIT_INTERNAL_H
#define CKPT_RESTORE_RESTORE_GIT_INTERNAL_H

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
#include "restore/gitplan_internal.h"

struct store;

/** The part of a restore that concerns the repository, for restore*.c alone. */
struct restore_gitwork {
	bool planned;
	struct gitstate now;
	struct strbuf stat; /**< for gitstate_is_same(): whether it still is `now`; may be empty */
	struct gitrecord goal; /**< as the target has it */
	struct gitwrite_refs remembered;
	struct gitplan_opts opts;
	struct gitplan plan;
	struct strlist blobs; /**< ids that the repository lacks and the checkpoint has */
};

/** What gitplan needs to know, read from the repository; owns what it points at. */
struct restore_git_facts {
	struct gitplan_facts facts;
	char *lock, *elsewhere, *elsewhere_ref, *alias, *alias_of;
	struct strlist gone, missing;
	unsigned *leaving, *coming;
	bool *logged;
};

/**
 * Look. Objects of the index that the repository lacks are in `missing`; the caller takes out
 * those that the checkpoint has. Refs of an operation whose objects are gone, and which it can do
 * without, are taken out of the plan.
 */
int restore_git_look(struct restore_git_facts *out, struct gitplan *plan, const struct repo *repo,
		     const struct gitstate *now, const struct gitstate *goal, bool whole);
/**
 * Based on another commit, the same entries mean another index, and others perhaps the same:
 * compare the two in full, if the plan says that it changes.
 */
int restore_git_compare_index(bool *tree_gone_out, struct gitplan *plan, const struct repo *repo,
			      const struct gitstate *goal);
void restore_git_facts_release(struct restore_git_facts *facts);

/** Add `head` to `gone` if it, its history or its files are not all in the repository. */
int restore_git_check_history(struct strlist *gone, const struct repo *repo, const char *head);

/** The ids of objects of the index that the repository lacks; sorted. */
int restore_git_find_missing(struct strlist *out, const struct repo *repo,
			     const struct gitstate *goal);

/**
 * Of `missing`, objects of the index that the repository lacks, move those to `blobs` that the
 * checkpoint has, so that they can be written. They are read now, while nothing is touched.
 */
int restore_git_sort_out(struct strlist *blobs, struct strlist *missing, struct store *store,
			 const struct gitrecord *goal);

#endif
