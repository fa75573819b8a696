/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SHELLWORDS_H
#define CKPT_BASE_SHELLWORDS_H

#include "base/strlist.h"

#include <stdbool.h>

struct strbuf;

/**
 * A command line of bash up to the cursor, as words. Quotes and backslashes are
 * taken away, redirections left out; nothing is expanded: what only running
 * something could tell stays as it was typed.
 */
struct shellwords {
	struct strlist words; /**< at least one: the last is at the cursor, and may be empty */
	size_t *starts;       /**< where in the line each of them begins */
	size_t alloc;
	size_t fixed;         /**< bytes of the last one that stand before what readline replaces */
	char open;            /**< the quote that has not ended; 0: none */
	bool redirected;      /**< the last one is the file of a redirection */
};

/** `breaks` is COMP_WORDBREAKS: unquoted, these begin a new word for readline, but not for us. */
void shellwords_split(struct shellwords *out, const char *line, const char *breaks);
/** Append a word, quoted as it has to be behind that opening quote, or without one. */
void shellwords_quote(struct strbuf *out, const char *word, char open);

void shellwords_release(struct shellwords *split);

#endif
