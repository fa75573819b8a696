/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_QUOTE_H
#define CKPT_BASE_QUOTE_H

#include "base/strbuf.h"

#include <stdbool.h>

/** Names and texts of any bytes, made fit to be shown, and read back. */

/** Length of the UTF-8 sequence that begins at `s`, 0 if it is none. */
size_t utf8_sequence(const char *s, size_t len);

bool utf8_valid(const char *s, size_t len);

/** Append `s`, invalid bytes replaced by U+FFFD. */
void utf8_sanitize(struct strbuf *out, const char *s, size_t len);

/** C0, DEL, or a C1 character (U+0080 to U+009F), which some terminals obey as well. */
bool utf8_control(const char *s, size_t sequence);

/**
 * Append `s` as it can be shown on a terminal, which must not obey what others
 * wrote: invalid bytes become U+FFFD, and control characters that are not among
 * `kept` become `instead`.
 */
void utf8_printable(struct strbuf *out, const char *s, size_t len, const char *kept, char instead);

/**
 * Append a path as people should see it: as it is, or in git's C quotes if it
 * holds control characters, a quote, a backslash or bytes that are not UTF-8.
 */
void quote_path(struct strbuf *out, const char *path);

/** Append a text in C quotes, everything but printable ASCII escaped. */
void quote_c(struct strbuf *out, const char *s, size_t len);

/** Undo quote_c(): append the bytes; false if `s` is not a quoted text. `end_out` may be NULL. */
bool unquote_c(struct strbuf *out, const char *s, const char **end_out);

/** Append `s` for a POSIX shell, in quotes where it needs them. */
void quote_shell(struct strbuf *out, const char *s);

/**
 * Undo git's own shell quoting ('..' with '\'' and '\!' in between) of one
 * word at `*p`, and move `*p` behind it; false if it is malformed.
 */
bool unquote_shell(struct strbuf *out, const char **p);

#endif
