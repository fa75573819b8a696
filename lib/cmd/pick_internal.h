/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_PICK_INTERNAL_H
#define CKPT_CMD_PICK_INTERNAL_H

#include "base/base.h"

struct ckpt_record;
struct session;

/**
 * Let a person at the terminal choose a checkpoint: in fzf if that is
 * installed, with a preview of what restoring it would do, otherwise from a
 * numbered list. `typed` are the paths that the user named, as typed: then
 * there are only those in which one of them became something else.
 * CKPT_ENOTFOUND if there is none to choose from, CKPT_EREFUSED if none was
 * chosen.
 */
int pick_checkpoint(struct ckpt_record *out, struct session *session, const struct strlist *typed);

#endif
