/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SAVE_SAVE_SAME_INTERNAL_H
#define CKPT_SAVE_SAVE_SAME_INTERNAL_H

#include "base/base.h"

struct save_job;

/**
 * Whether the newest checkpoint is as good as a new one: nothing changed, it has what was asked
 * for, and it will stay as long.
 */

/** Known from the scan alone, without having read anything. */
bool save_untouched(const struct save_job *save);

/** The same, once files were read. */
bool save_same_state(const struct save_job *save);

#endif
