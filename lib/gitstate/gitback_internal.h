/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITBACK_INTERNAL_H
#define CKPT_GITSTATE_GITBACK_INTERNAL_H

#include "gitstate/gitback.h"

/**
 * Look. Objects of the index that the repository lacks are in `missing`; the caller takes out
 * those that the checkpoint has. Refs of an operation whose objects are gone, and which it can do
 * without, are taken out of the plan.
 */
int gitback_look(struct gitplan_facts *out, struct gitplan *plan, const struct repo *repo,
		     const struct gitstate *now, const struct gitstate *goal, bool whole);
/**
 * Based on another commit, the same entries mean another index, and others perhaps the same:
 * compare the two in full, if the plan says that it changes.
 */
int gitback_compare_index(bool *tree_gone_out, struct gitplan *plan, const struct repo *repo,
			      const struct gitstate *goal);

#endif
