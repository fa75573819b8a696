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

enum { PROMPT_ANSWER_SIZE = 64 }; /**< with its end */

/**
 * Ask for a line of text in the same way. False if it is empty, at end of file
 * and after an interrupt.
 */
bool prompt_text(char answer[PROMPT_ANSWER_SIZE], const char *question);

/** The same as prompt_ask() for a question that can only be answered. */
bool prompt_yes(const char *question);

/**
 * Read the next line of stdin, without its end, into `out`; what was printed
 * to stderr appears first. False at the end of file, or after a signal. For
 * conversations of many answers, which a program may give as well; the others
 * ask a person.
 */
bool prompt_read_line(struct strbuf *out);

#endif
