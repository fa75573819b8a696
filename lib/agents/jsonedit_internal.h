/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_JSONEDIT_INTERNAL_H
#define CKPT_AGENTS_JSONEDIT_INTERNAL_H

#include "base/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Changing JSON that somebody else wrote: one element is put in or taken out,
 * in the style of what is around it, and every other byte stays.
 *
 * The text is never turned into values and printed again; all places are
 * offsets into it, which an edit makes invalid. Everything but
 * jsonedit_check() needs a text that passed jsonedit_check(). Nothing here
 * recurses, however deep the text is nested. A byte order mark is skipped.
 */

enum jsonedit_flags {
	JSONEDIT_COMMENTS = 1 << 0, /**< comments as in JavaScript are part of the format */
};

/** A member of an object or an element of an array: [key, key_end) : [start, end). */
struct jsonedit_item {
	size_t key, key_end; /**< equal to `start` in an array */
	size_t start, end;
};

struct jsonedit_iter {
	const struct strbuf *text;
	size_t pos;
	bool object;
};

/** Whether it is JSON; if not, CKPT_ERROR with a sentence that begins with line and column. */
int jsonedit_check(const struct strbuf *text, unsigned flags);

/** Where the outermost value begins. */
size_t jsonedit_root(const struct strbuf *text);

/** "line 3, column 7" for an offset, counted in bytes. */
void jsonedit_place(struct strbuf *out, const struct strbuf *text, size_t offset);

/** Walk over what is in the object or array that begins at `container`. */
void jsonedit_begin(struct jsonedit_iter *iter, const struct strbuf *text, size_t container);
bool jsonedit_next(struct jsonedit_iter *iter, struct jsonedit_item *out);

/** Members of that name are searched for the last one, which is what parsers take. */
bool jsonedit_find(struct jsonedit_item *out, const struct strbuf *text, size_t object,
		   const char *key);

/** Whether the string that begins at `start` is `expected`; escapes are understood. */
bool jsonedit_equals(const struct strbuf *text, size_t start, const char *expected);

/** Nothing at all between the brackets, and an insertion will put a line break before the last. */
bool jsonedit_opens_up(const struct strbuf *text, size_t container);

/** Append to the object (with `key`) or array (`key` is NULL) that begins at `container`. */
void jsonedit_insert(struct strbuf *text, size_t container, const char *key,
		     const json_t *value);

/** Take out the item whose value begins at `start`, with one comma. */
void jsonedit_remove(struct strbuf *text, size_t container, size_t start);

/** Nothing but white space is between the brackets. */
bool jsonedit_is_empty(const struct strbuf *text, size_t container);

/** Take the white space out of an empty container. */
void jsonedit_close_up(struct strbuf *text, size_t container);

#endif
