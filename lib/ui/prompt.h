/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PROMPT_H
#define CKPT_UI_PROMPT_H

#include "base/base.h"

/** True if there is a terminal on which a person could answer. */
bool prompt_possible(void);

/**
 * Ask a question on the terminal itself, whatever stdin is. True only for "y"
 * or "yes"; an empty answer, end of file and an interrupt mean no.
 */
bool prompt_yes(const char *question);

#endif
