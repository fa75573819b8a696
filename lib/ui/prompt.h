/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PROMPT_H
#define CKPT_UI_PROMPT_H

#include <stdbool.h>

/** True if there is somebody at a terminal who could answer. */
bool prompt_possible(void);

/**
 * Ask a question on the terminal itself, whatever stdin is. True only for "y"
 * or "yes"; an empty answer, end of file and an interrupt are a no.
 */
bool prompt_yes(const char *question);

#endif
