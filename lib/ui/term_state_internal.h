/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_TERM_STATE_INTERNAL_H
#define CKPT_UI_TERM_STATE_INTERNAL_H

#include <stdbool.h>

/**
 * What term.c, pager.c and table.c know of stdout in common; for them alone.
 * While a pager runs, stdout is a pipe, but what is written still goes to the
 * terminal that was there before.
 */

/** True if stdout is a terminal, or a pager that shows it on one. */
bool term_is_terminal(void);

/** Decide colour and width now and keep to them: stdout is about to become a pipe. */
void term_hold(void);

/** Look at stdout again. */
void term_unhold(void);

#endif
