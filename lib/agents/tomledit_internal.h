/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_TOMLEDIT_INTERNAL_H
#define CKPT_AGENTS_TOMLEDIT_INTERNAL_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Changing TOML that somebody else wrote: whole tables are appended between
 * two comments, and taken out again. Every other byte stays.
 */

enum tomledit_kind {
	TOMLEDIT_KEY,	      /**< key = value */
	TOMLEDIT_TABLE,	      /**< [table] */
	TOMLEDIT_TABLE_ARRAY, /**< [[table]] */
};

/** Called for each key and table in the text, with its whole path from the root. */
typedef void (*tomledit_seen)(void *data, enum tomledit_kind kind, const struct strlist *path);

/**
 * Read all of it. What does not follow the grammar: CKPT_ERROR with a sentence
 * that begins with line and column. (That a key is there twice is not found.)
 */
int tomledit_scan(const struct strbuf *text, tomledit_seen seen, void *data);

/** Whether there is a block that tomledit_remove_block() would take out. */
bool tomledit_has_block(const struct strbuf *text, const char *name, const char *body);

/**
 * Append `body`, whole lines with plain newlines, between lines that carry
 * `name`. False, and nothing changed, if tomledit_remove_block() would not give
 * back every byte.
 */
bool tomledit_add_block(struct strbuf *text, const char *name, const char *body);

/**
 * Take it out again; what was written before and after it stays. A block is
 * the one that was added only if it equals it byte by byte (of several, the
 * last): what somebody wrote between such lines is theirs. False if there is none.
 */
bool tomledit_remove_block(struct strbuf *text, const char *name, const char *body);

#endif
