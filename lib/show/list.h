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

/** [{"file","status","from","similarity","added","removed","old_mode","new_mode"}] */
json_t *list_history_json(const struct list_history_item *row);

/** What is listed: all zero before the others, and to be released in any case. */
struct list {
	struct ckpt_records records;
	struct list_history past; /**< of the paths that were asked for */
	bool past_only;		  /**< some were: `records` is empty */
	struct list_row *rows;	  /**< newest first; they point into both */
	size_t nr;
};

/**
 * Make rows of its records, or of those that are `enough`, as for lookup_records_newest(). Those of
 * other machines are called by what they can be named by there.
 */
void list_choose(struct list *list, const struct ckpt_enough *enough, bool remote);

/** Make rows of the checkpoints in which paths changed. See history_open() for `follow`. */
int list_choose_past(struct list *list, struct session *session, const struct pathspec *only,
		     const struct ckpt_enough *enough, bool follow);
void list_release(struct list *list);

#endif
