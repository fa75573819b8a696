/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_LISTED_H
#define CKPT_CMD_LISTED_H

#include "base/base.h"

struct ckpt_record;
struct table;

/**
 * Checkpoints as rows of a table. On a terminal the short id comes first, days have headings, what
 * a restore saved for its own safety is dimmed, and all fits. Elsewhere the whole id comes first
 * and no cell is empty, so that scripts find what they look for in its place.
 */
struct listed {
	const struct ckpt_record *record;
	char *position; /**< as of report_position() */
	/** What became of the paths that were asked for, instead of everything; or NULL. */
	const char *change;
	int64_t added, deleted; /**< lines, with `change`; -1: not known */
};

/** Newest first. */
struct table *listed_table(const struct listed *rows, size_t nr, int64_t now);

#endif
