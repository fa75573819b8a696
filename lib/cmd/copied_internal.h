/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_COPIED_INTERNAL_H
#define CKPT_CMD_COPIED_INTERNAL_H

#include "base/base.h"

struct into_opts;
struct into_result;
struct session;

/** Output about a copy of a checkpoint in another directory. */

/** Make the copy and print the report; returns the exit status or an error. */
int copied_carry_out(struct session *session, const struct into_opts *opts);

/** {"post_state_hash","checkpoint_hash","match",…} as restore has it. */
json_t *copied_verification(const struct into_result *result);

/** If the copy is not as in the checkpoint, say so on stderr, even with -q, and name the paths. */
void copied_say_mismatch(const struct into_result *result);

#endif
