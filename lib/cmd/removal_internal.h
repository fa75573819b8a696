/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_REMOVAL_INTERNAL_H
#define CKPT_CMD_REMOVAL_INTERNAL_H

#include "base/base.h"
#include "keep/keep.h"

/** Checkpoints that go for good: what drop and prune ask and say. */

/** Whether to ask: on a terminal, unless an option says otherwise. Elsewhere nobody is asked. */
bool removal_asks(bool yes, bool dry_run);

/** Show them and ask; 0 if they may go. CKPT_EDECLINED, said already; CKPT_ECANCELLED. */
int removal_confirm(const struct retain_result *result);

/** One line for each, and what was freed: {"removed":[...],"freed"}; returns the exit status. */
int removal_report(const struct retain_result *result, bool dry_run);

/** Whether both are about the same checkpoints. */
bool removal_same(const struct retain_result *a, const struct retain_result *b);

#endif
