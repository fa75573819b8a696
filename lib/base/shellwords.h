/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SHELLWORDS_H
#define CKPT_BASE_SHELLWORDS_H

#include "base/std.h"
#include "base/strlist.h"

struct strbuf;

/**
 * A bash command line up to the cursor, as words. Quotes and backslashes are
 * removed, redirections left out; nothing is expanded: what only running
 * something could tell stays as typed.
 */
struct shellwords {
	struct strlist words; /**< at least one: the last is the word at the cursor, and may be empty */
	size_t *starts;       /**< where in the line each of them starts */
	size_t alloc;
	size_t fixed;         /**< bytes of the last word before the part that readline replaces */
	char open;            /**< the unclosed quote; 0: none */
	bool redirected;      /**< the last word is the file of a redirection */
};

/**
 * `breaks` is COMP_WORDBREAKS: unquoted, these characters start a new word for readline, but not
 * for us.
 */
void shellwords_split(struct shellwords *out, const char *line, const char *breaks);
/** Append a word, quoted to follow that opening quote, or no quote. */
void shellwords_quote(struct strbuf *out, const char *word, char open);

void shellwords_release(struct shellwords *split);

#endif
