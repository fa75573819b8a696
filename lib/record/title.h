/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RECORD_TITLE_H
#define CKPT_RECORD_TITLE_H

#include "base/base.h"

struct ckpt_record;

/**
 * The line by which people recognise a checkpoint in a list.
 *
 * The reason is for scripts as well, so it is short and stable: "pre-rebase". What was about to be
 * done is kept beside it, and the title is made of both:
 *
 *   before: git rebase main (feature at 47120d2)
 *   after: Edit src/parser.c
 */
enum {
	TITLE_BEFORE_MAX = 160, /**< bytes of what is kept, an ellipsis included */
	TITLE_NAME_MAX = 120,	/**< the same of title_name() */
};

/**
 * Append a command line as it could be typed, and cut all to TITLE_BEFORE_MAX. Control characters become
 * blanks, credentials in addresses are left out, and what is called a password, a token or the
 * like becomes "***": titles are shown on screens that others see.
 */
void title_add_command(struct strbuf *out, char *const *words, size_t nr);

/** Append a text in quotes, or a path, and cut as above; what is secret in a text is left out. */
void title_add_text(struct strbuf *out, const char *text);
void title_add_path(struct strbuf *out, const char *path);

/** What was about to be done when an agent was asked something: with what it was, or without it. */
#define TITLE_PROMPT "prompt "
#define TITLE_A_PROMPT "a prompt"

/**
 * What a person calls a checkpoint in a sentence: "step 2 (bar: globals)", its title, or its id if
 * nothing was said of it. The caller frees it.
 */
char *title_name(const struct ckpt_record *record);

/** The title: one line, fit for a terminal, never empty. The caller frees it. */
char *title_of(const struct ckpt_record *record);

#endif
