/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_QUOTE_H
#define CKPT_BASE_QUOTE_H

#include "base/strbuf.h"

/** Quote names of any bytes for people, for git and for shells, and read them back. */

/**
 * Append a path for people: unchanged, or in git's C quotes if it has control
 * characters, a quote, a backslash or bytes that are not UTF-8.
 */
void quote_path(struct strbuf *out, const char *path);

/** Append a text in C quotes, everything but printable ASCII escaped. */
void quote_c(struct strbuf *out, const char *s, size_t len);

/** Undo quote_c(): append the bytes; false if `s` is not quoted text. `end_out` may be NULL. */
bool quote_undo_c(struct strbuf *out, const char *s, const char **end_out);

/** Append a value of git's configuration in quotes, so that any byte of it survives. */
void quote_config(struct strbuf *out, const char *value);

/** Append `s` for a POSIX shell, in quotes where it needs them. */
void quote_shell(struct strbuf *out, const char *s);

/**
 * Undo git's shell quoting ('..' with '\'' and '\!' in between) of one word at
 * `*p`, and move `*p` past it; false if it is malformed.
 */
bool quote_undo_shell(struct strbuf *out, const char **p);

/* --- UTF-8: utf8.c --- */

/** Make text of any bytes safe to display. */

/** Length of the UTF-8 sequence that begins at `s`, 0 if it is not valid. */
size_t utf8_sequence(const char *s, size_t len);

/** The character of such a sequence. */
uint32_t utf8_decode(const char *s, size_t sequence);

bool utf8_valid(const char *s, size_t len);

/** Append `s`, with invalid bytes replaced by U+FFFD. */
void utf8_sanitize(struct strbuf *out, const char *s, size_t len);

/**
 * What a terminal may obey: C0, DEL, C1 (U+0080 to U+009F), and what reorders the text after it
 * (U+202A to U+202E, U+2066 to U+2069).
 */
bool utf8_control(const char *s, size_t sequence);

/**
 * Append `s` for a terminal, which must not obey control characters from
 * others: invalid bytes become U+FFFD, and control characters that are not
 * among `kept` (NULL: all of them) become `instead`.
 */
void utf8_printable(struct strbuf *out, const char *s, size_t len, const char *kept, char instead);

#endif
