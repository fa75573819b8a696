/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_GONE_INTERNAL_H
#define CKPT_CMD_GONE_INTERNAL_H

#include "base/base.h"
#include "session/session.h"

/** Worktrees that are gone, and whose checkpoints can bring them back: for `stores` and `doctor`. */

/** One line, if this is one of them; else false. */
bool gone_print(const struct inventory_item *item);

/** An array of all of them. */
json_t *gone_json(const struct inventory_list *list);

#endif
