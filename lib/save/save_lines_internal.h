/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_LINES_H
#define CKPT_SAVE_SAVE_LINES_H

struct ckpt_record;
struct compare_list;
struct save_job;

/**
 * Set how many lines were added and deleted since the base, for lists. Left unknown if telling
 * would take long, or a file has other contents by now.
 */
void save_count_lines(struct ckpt_record *record, const struct save_job *save,
		      const struct compare_list *changes);

#endif
