/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_PATTERNS_H
#define CKPT_BASE_PATTERNS_H

#include "base/strlist.h"

/**
 * Lines that match, as `git grep` finds them: POSIX regular expressions of the C library, basic
 * or extended, or fixed strings. One that has no special characters is searched for as it is,
 * which is much faster.
 */
struct pattern_opts {
	bool extended, fixed, ignore_case;
	bool word; /**< neither a letter, a digit nor "_" before and after it */
};

struct patterns;

/**
 * A line matches if any of `texts` does; each line of a text is one. For one thread: the C
 * library lets only one at a time use an expression. CKPT_EUSAGE if one cannot be understood.
 */
int patterns_new(struct patterns **out, const struct strlist *texts,
		 const struct pattern_opts *opts);
void patterns_free(struct patterns *patterns);

/**
 * The first line at or after `*at`, the beginning of a line, that matches: 1, 0 if there is none,
 * or an error. It is text[*at .. *end_out), without the newline.
 */
int patterns_next_line(size_t *at, size_t *end_out, struct patterns *patterns, const char *text,
		       size_t len);

/** Where in one line, from `*from` on, something matches: text[*from .. *to_out). */
bool patterns_in_line(size_t *from, size_t *to_out, struct patterns *patterns, const char *line,
		      size_t len);

#endif
