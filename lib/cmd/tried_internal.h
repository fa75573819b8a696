/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_TRIED_INTERNAL_H
#define CKPT_CMD_TRIED_INTERNAL_H

#include "base/base.h"
#include "run/run.h"

struct ckpt_record;
struct opt_spec;
struct session;

/** A command in a copy of a checkpoint, for try and bisect. */

/** CKPT_EUSAGE unless "--" is between the checkpoints and the command. */
int tried_check_command(const struct opt_spec *spec, int checkpoints);

/**
 * try_run(), and say what went wrong with the copy or with starting the command. Call
 * try_release() in any case.
 */
int tried_run(struct try *out, struct session *session, const struct ckpt_record *target,
	      const struct strlist *command, unsigned flags);

#endif
