/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPT_ROWS_H
#define CKPT_UI_OPT_ROWS_H

#include "base/base.h"
#include "ui/opt.h"

/** Shared by everything that reads option tables: the parser, the usage, and completion. */

/** The options of a command and the common ones, unless it has an option of that name. */
struct opt_rows {
	struct opt *items;
	bool *given;	/**< which of them were given, for opt_check() */
	size_t nr, own; /**< `own`: those of the command, which come first */
	const struct opt_spec *spec;
};

/** A command with subcommands has the options of all of them. */
void opt_rows_init(struct opt_rows *rows, const struct opt_spec *spec);
void opt_rows_release(struct opt_rows *rows);

/** What a word on the command line turned out to mean. */
struct opt_match {
	const struct opt *opt; /**< one of the rows */
	bool negated;
};

/** By a name of `len` bytes or a unique prefix of it; CKPT_EUSAGE. */
int opt_rows_long(struct opt_match *out, const struct opt_rows *rows, const char *name, size_t len);

/** NULL if there is none. */
const struct opt *opt_rows_letter(const struct opt_rows *rows, char letter);

/** True if its value may be the next word. */
bool opt_takes_word(const struct opt *opt);

/** The subcommand that a whole line names, or NULL. */
const struct opt_spec *opt_look_sub(const struct opt_spec *spec, char *const *words, size_t nr);

/** How many rows from `head` on belong together: alternatives, and what goes with them. */
size_t opt_group(const struct opt *head);

/** Whether options and arguments (of which `skip` are names of subcommands) fit the table; CKPT_EUSAGE. */
int opt_check(const struct opt_rows *rows, const struct strlist *args, size_t skip);

#endif
