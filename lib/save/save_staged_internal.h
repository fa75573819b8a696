/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_STAGED_INTERNAL_H
#define CKPT_SAVE_SAVE_STAGED_INTERNAL_H

#include "base/base.h"

struct save_job;

/**
 * Contents that only the project's repository has: what is staged, and what an
 * operation put aside. For save_git.c. git is asked only for what is neither in
 * the store nor among the files that were just read.
 */

/** How many bytes there are to copy, at most; only with the scan done. */
uint64_t save_staged_bytes(const struct save_job *job);

/**
 * Copy them into the job's pack and note them in `job->git`. What the
 * repository lacks, or is too large, is named in the job's notes.
 */
int save_staged_copy(struct save_job *job);

#endif
