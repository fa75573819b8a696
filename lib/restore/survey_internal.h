/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_SURVEY_INTERNAL_H
#define CKPT_RESTORE_SURVEY_INTERNAL_H

#include "base/base.h"
#include "restore/plan.h"

/**
 * What is in the way of a plan on disk: things that the scan left out (ignored,
 * sensitive, special, unreadable) where the checkpoint has something. Only
 * looks.
 */
struct survey {
	struct strlist also;      /**< what could be captured by name, then overwritten */
	struct strlist dirs;      /**< directories that could be captured by name, as they are */
	struct strlist elsewhere; /**< on another file system, which no rename can reach */
	struct strlist denied;    /**< what this user may not change */
	struct strlist conflicts; /**< a sentence for each thing that must not be touched */
};

/**
 * Also splits up the creation of directories that already exist, so that their
 * contents are created one by one, and keeps directories in which something
 * would be left. `opts` are those with which the plan was made.
 */
int survey_run(struct survey *out, struct plan *plan, const struct plan_opts *opts, int rootfd);
void survey_release(struct survey *survey);

/** "file", "directory", "symbolic link", "special file". */
const char *survey_kind(const struct stat *st);

#endif
