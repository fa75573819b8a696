/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PROJECT_INTERNAL_H
#define CKPT_CMD_PROJECT_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct diff;
struct pathspec;
struct row;
struct session;

/** Where the project was when a checkpoint was taken, for `show` and `diff`. */

/** "project", "index" and "operation" of a row. */
void project_show(struct row *row, const struct ckpt_record *record);

/** The object "project". */
json_t *project_json(struct session *session, const struct ckpt_record *record);

/** What was staged, in the form that was chosen, or as a patch; or as JSON. */
int project_show_staged(struct session *session, const struct ckpt_record *record,
			const struct pathspec *only);

/** Tell of unmerged paths, where a difference of indexes tells names. */
void project_print_unmerged(const struct diff *diff);

/** The same as a list. */
json_t *project_unmerged_json(const struct diff *diff);

#endif
