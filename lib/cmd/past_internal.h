/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PAST_INTERNAL_H
#define CKPT_CMD_PAST_INTERNAL_H

#include "base/base.h"
#include "cmd/listed_internal.h"
#include "look/look.h"
#include "ui/ui.h"

struct pathspec;
struct session;

/** The checkpoints in which some paths became something else, newest first. */

struct past_row {
	struct ckpt_record record;
	char *position; /**< as of report_position() */
	struct diff diff;
	struct diffstat_file *counts; /**< of each change */
	bool *unknown;		      /**< for each: its contents cannot be read */
	char *change;		      /**< what became of them, in a few words */
	int64_t added, deleted;	      /**< lines in all; -1: not known */
};

struct past {
	struct past_row *items;
	size_t nr, alloc;
	struct strlist damaged; /**< a sentence about each checkpoint that cannot be read */
};

/** `enough` as for lookup_records_newest(); NULL: all. See history_open() for `follow`. */
int past_read(struct past *out, struct session *session, const struct pathspec *only,
	      const struct ckpt_enough *enough, bool follow);
void past_release(struct past *past);

/** One as a row; it points into `past`. */
struct listed past_listed(const struct past *past, size_t at);

/** [{"file","status","from","similarity","added","removed","old_mode","new_mode"}] */
json_t *past_json(const struct past_row *row);

#endif
