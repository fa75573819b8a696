/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_UTF8_H
#define CKPT_BASE_UTF8_H

#include "base/std.h"
#include "base/strbuf.h"

/** Make text of any bytes safe to display. */

/** Length of the UTF-8 sequence that begins at `s`, 0 if it is not valid. */
size_t utf8_sequence(const char *s, size_t len);

bool utf8_valid(const char *s, size_t len);

/** Append `s`, with invalid bytes replaced by U+FFFD. */
void utf8_sanitize(struct strbuf *out, const char *s, size_t len);

/** C0, DEL, or a C1 character (U+0080 to U+009F), which some terminals also obey. */
bool utf8_control(const char *s, size_t sequence);

/**
 * Append `s` for a terminal, which must not obey control characters from
 * others: invalid bytes become U+FFFD, and control characters that are not
 * among `kept` become `instead`.
 */
void utf8_printable(struct strbuf *out, const char *s, size_t len, const char *kept, char instead);

#endif
