/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPT_ROWS_H
#define CKPT_UI_OPT_ROWS_H

#include "ui/opt.h"

#include <stdbool.h>
#include <stddef.h>

/** Between those who read option tables: options.c, and for completion. */

/** The options of a command and those of all, of which it may have taken letters and names. */
struct opt_rows {
	struct opt *items; /**< for the caller to free */
	size_t nr;
	const char *command;
};

void opt_rows_init(struct opt_rows *rows, const struct opt_spec *spec);

/** What a word on the command line turned out to mean. */
struct opt_match {
	const struct opt *opt; /**< one of the rows */
	bool negated;
};

/** By a name of `len` bytes or a unique beginning of it; CKPT_EUSAGE. */
int opt_rows_long(struct opt_match *out, const struct opt_rows *rows, const char *name, size_t len);

/** NULL if there is none. */
const struct opt *opt_rows_letter(const struct opt_rows *rows, char letter);

#endif
