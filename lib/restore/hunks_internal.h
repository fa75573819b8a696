/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_HUNKS_INTERNAL_H
#define CKPT_RESTORE_HUNKS_INTERNAL_H

#include "base/base.h"
#include "restore/hunks.h"

/**
 * A line of a hunk. `text` is without the sign; it has the newline, unless
 * "\ No newline at end of file" follows.
 */
struct hunk_line {
	char sign; /**< ' ', '-' or '+'; '\0': it is none that a hunk can have */
	const char *text;
	size_t len;
	const char *raw; /**< with the sign */
	size_t raw_len;	 /**< up to the next line, with what says that there is no newline */
};

/** Read the line at `*at` of `text` and move on; false at the end. */
bool hunks_line_next(struct hunk_line *out, const struct strbuf *text, size_t *at);

/** The length of the line at `text`, with its newline, if it has one. */
size_t hunks_line_len(const char *text, size_t len);

/** Count the lines of both sides. */
void hunks_count(struct hunk *hunk);

/** 0, or CKPT_ERROR if two hunks change the same lines; `all`: not only those to be used. */
int hunks_check(const struct hunks *hunks, bool all);

#endif
