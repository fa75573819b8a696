/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITBACK_INTERNAL_H
#define CKPT_GITSTATE_GITBACK_INTERNAL_H

#include "gitstate/gitback.h"

/**
 * Look; for `missing` see gitback_find_objects(). Refs of an operation whose objects are gone, and
 * which it can do without, are taken out of the plan.
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
