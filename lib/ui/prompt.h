/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_PROMPT_H
#define CKPT_UI_PROMPT_H

#include "base/base.h"

/** True if there is a terminal on which a person could answer. */
bool prompt_possible(void);

/** An answer that shows something, after which the question is asked again. */
struct prompt_look {
	char letter;
	const char *help;
	void (*show)(void *payload);
	void *payload;
};

struct prompt {
	const char *question;
	const char *yes, *no;		/**< what these answers do; only used if there is `look` */
	const struct prompt_look *look; /**< NULL: it can only be answered */
};

/**
 * Ask a question on the terminal itself, whatever stdin is. True only for "y"
 * or "yes"; an empty answer, end of file and an interrupt mean no. What was
 * typed before the question appeared is discarded. If there is something to
 * look at, "?" explains the answers.
 */
bool prompt_ask(const struct prompt *prompt);

/** The same for a question that can only be answered. */
bool prompt_yes(const char *question);

#endif
