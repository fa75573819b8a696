/* SPDX-License-Identifier: MIT */
#ifndef CKPT_OPS_RESTORE_RUN_H
#define CKPT_OPS_RESTORE_RUN_H

#include "ops/protect.h"
#include "ops/restore.h"
#include "ops/restore_check.h"
#include "ops/save.h"
#include "ops/stage.h"
#include "ops/survey.h"

/** The inside of a restore, for restore*.c alone. */

struct restore {
	struct session *session;
	const struct restore_opts *opts;
	struct strlist scope; /**< what is scanned: the named paths or the checkpoint's scope */
	struct save_opts safety;
	struct save_job job;
	struct snapshot *target;
	struct protect *protect;
	struct modes modes; /**< of the worktree */
	struct strlist also;
	struct survey survey;
	struct stage stage;
	struct plan plan;
};

/* --- restore_warn.c --- */

/** What the user should know: about the project, the plan, and what is left alone. */
void restore_warn(struct restore_result *out, struct restore *r);

/* --- restore_verify.c --- */

struct check restore_check(const struct restore *r);

/** Look at what is on the disk now and compare; sets post_hash, verified and match. */
int restore_verify(struct restore_result *out, struct restore *r);

#endif
