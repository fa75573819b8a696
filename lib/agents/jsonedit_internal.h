/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_JSONEDIT_INTERNAL_H
#define CKPT_AGENTS_JSONEDIT_INTERNAL_H

#include "base/base.h"

/**
 * Editing JSON that somebody else wrote: one element is inserted or removed,
 * in the style of its surroundings, and every other byte stays.
 *
 * The text is never parsed into values and printed again; all positions are
 * offsets into it, which an edit invalidates. Everything but jsonedit_check()
 * needs a text that passed jsonedit_check(). Nothing here recurses, however
 * deeply the text is nested. A byte order mark is skipped.
 */

enum jsonedit_flags {
	JSONEDIT_COMMENTS = 1 << 0, /**< the format has comments as in JavaScript */
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

/** Whether it is JSON; if not, CKPT_ERROR with a message that begins with line and column. */
int jsonedit_check(const struct strbuf *text, unsigned flags);

/** Where the outermost value starts. */
size_t jsonedit_root(const struct strbuf *text);

/** "line 3, column 7" for an offset, counted in bytes. */
void jsonedit_place(struct strbuf *out, const struct strbuf *text, size_t offset);

/** Walk over the contents of the object or array that starts at `container`. */
void jsonedit_begin(struct jsonedit_iter *iter, const struct strbuf *text, size_t container);
bool jsonedit_next(struct jsonedit_iter *iter, struct jsonedit_item *out);

/** Finds the last member of that name, which is the one that parsers take. */
bool jsonedit_find(struct jsonedit_item *out, const struct strbuf *text, size_t object,
		   const char *key);

/** Whether the string that starts at `start` is `expected`; escapes are decoded. */
bool jsonedit_equals(const struct strbuf *text, size_t start, const char *expected);

/**
 * Nothing at all is between the brackets, and an insertion will put a line break before the closing
 * one.
 */
bool jsonedit_opens_up(const struct strbuf *text, size_t container);

/** Append to the object (with `key`) or array (`key` is NULL) that starts at `container`. */
void jsonedit_insert(struct strbuf *text, size_t container, const char *key,
		     const json_t *value);

/** Remove the item whose value starts at `start`, with one comma. */
void jsonedit_remove(struct strbuf *text, size_t container, size_t start);

/** Only white space is between the brackets. */
bool jsonedit_is_empty(const struct strbuf *text, size_t container);

/** Remove the white space from an empty container. */
void jsonedit_close_up(struct strbuf *text, size_t container);

#endif
