/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_LINEDIFF_H
#define CKPT_BASE_LINEDIFF_H

#include "base/std.h"

/** How many lines differ between two texts; what differs, and where, is not told. */
struct linediff {
	size_t added, removed;
};

/**
 * Add the fewest lines that turn `old` into `new` to `out`. A line includes its end, so that one
 * without differs. Contents with a NUL among the first bytes, as git looks for it, have no lines.
 * False, and nothing is added, if it would take long to tell.
 */
bool linediff_add(struct linediff *out, const char *old, size_t old_len, const char *new,
		  size_t new_len);

#endif
