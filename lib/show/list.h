/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_LIST_H
#define CKPT_SHOW_LIST_H

#include "base/base.h"
#include "look/look.h"
#include "ui/ui.h"

struct ckpt_record;
struct pathspec;
struct session;
struct table;

/**
 * Checkpoints as rows of a table. On a terminal the short id comes first, days have headings, what
 * a restore saved for its own safety is dimmed, and all fits. Elsewhere the whole id comes first
 * and no cell is empty, so that scripts find what they look for in its place.
 */
struct list_row {
	const struct ckpt_record *record;
	char *position; /**< as of report_position() */
	/** What became of the paths that were asked for, instead of everything; or NULL. */
	const char *change;
	int64_t added, deleted; /**< lines, with `change`; -1: not known */
};

/** Newest first. */
struct table *list_table(const struct list_row *rows, size_t nr, int64_t now);

/** The checkpoints in which some paths became something else, newest first. */

struct list_history_item {
	struct ckpt_record record;
	char *position; /**< as of report_position() */
	struct diff diff;
	struct diffstat_file *counts; /**< of each change */
	bool *unknown;		      /**< for each: its contents cannot be read */
	char *change;		      /**< what became of them, in a few words */
	int64_t added, deleted;	      /**< lines in all; -1: not known */
};

struct list_history {
	struct list_history_item *items;
	size_t nr, alloc;
	struct strlist damaged; /**< a sentence about each checkpoint that cannot be read */
};

/** `enough` as for lookup_records_newest(); NULL: all. See history_open() for `follow`. */
int list_history_read(struct list_history *out, struct session *session,
		      const struct pathspec *only, const struct ckpt_enough *enough, bool follow);
void list_history_release(struct list_history *past);

/** One as a row; it points into `past`. */
struct list_row list_history_row(const struct list_history *past, size_t at);

/** [{"file","status","from","similarity","added","removed","old_mode","new_mode"}] */
json_t *list_history_json(const struct list_history_item *row);

#endif
