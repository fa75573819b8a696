/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_TERM_STATE_INTERNAL_H
#define CKPT_UI_TERM_STATE_INTERNAL_H

#include "base/base.h"

/**
 * What term.c, pager.c and table.c share about stdout; only for them. While a
 * pager runs, stdout is a pipe, but the output still goes to the original
 * terminal.
 */

/** Determine colour and width now and keep them: stdout is about to become a pipe. */
void term_hold(void);

/** Check stdout again. */
void term_unhold(void);

#endif
