/* SPDX-License-Identifier: MIT */
#ifndef CKPT_LOOK_RENAMES_H
#define CKPT_LOOK_RENAMES_H

#include "base/base.h"

struct diff;

enum {
	RENAMES_SCORE_MAX = 60000, /**< of similarity: the same contents */
	RENAMES_SCORE_USUAL = RENAMES_SCORE_MAX / 2,
};

/**
 * Find added files that are deleted ones under another name, as `git diff -M` does, and make one
 * change, CHANGE_RENAMED, of both. They must have at least the score `least`. If there are too
 * many to compare, only files with the same contents or the same name are found, and
 * `too_many_out` is set.
 */
int renames_find(struct diff *diff, unsigned least, bool *too_many_out);

#endif
