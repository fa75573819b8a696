/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_LINES_H
#define CKPT_SAVE_SAVE_LINES_H

#include "base/base.h"

struct ckpt_record;
struct compare_list;
struct save_job;

/**
 * Set how many lines were added and deleted since the base, for lists. Left unknown if telling
 * would take long, or a file has other contents by now.
 */
void save_count_lines(struct ckpt_record *record, const struct save_job *save,
		      const struct compare_list *changes);

/** How many lines differ between two texts; what differs, and where, is not told. */
struct linediff {
	size_t added, removed;
};

/**
 * Add the fewest lines that turn `old` into `new` to `out`. A line includes its end, so that one
 * without differs. Contents with a NUL among the first bytes, as git looks for it, have no lines.
 * False, and nothing is added, if it would take long to tell.
 */
bool save_lines_add(struct linediff *out, const char *old, size_t old_len, const char *new,
		    size_t new_len);

#endif
