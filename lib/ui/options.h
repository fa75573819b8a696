/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPTIONS_H
#define CKPT_UI_OPTIONS_H

#include "base/strlist.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * Command lines from tables.
 *
 * Each command has one table of options; parsing, `-h`, the checks of the
 * manual and completion all read it. Behaves as git users expect: `--name
 * value` and `--name=value`, `-n 5` and `-n5`, bundled short flags, unique
 * prefixes of long options, `--no-` before a flag, `--` ends the options,
 * options may stand behind arguments, unless these are another command, whose
 * options are none of ours.
 */
enum opt_kind {
	OPT_END,      /**< last row */
	OPT_FLAG,     /**< bool: value is a `bool *` */
	OPT_STRING,   /**< value is a `const char **` into argv */
	OPT_LIST,     /**< may be repeated: value is a `struct strlist *` */
	OPT_NUMBER,   /**< a whole number, not negative: value is a `int64_t *` */
	OPT_DURATION, /**< <n> with s, m, h, d, w: value is a `int64_t *`, seconds */
	OPT_SIZE,     /**< bytes with k, m, g, t: value is a `int64_t *` */
};

struct opt {
	enum opt_kind kind;
	char letter;          /**< 0: none */
	const char *name;     /**< long name without dashes; NULL: none */
	void *value;
	const char *argument; /**< what stands for the value in the usage: "<reason>" */
	const char *help;     /**< one line, lower case, no full stop */
	bool hidden;          /**< parsed, but not shown in usage and completion */
};

struct opt_spec {
	const char *command;      /**< "save" */
	const char *usage;        /**< all after the command, as in the manual's SYNOPSIS; "\n" begins a further form */
	const char *summary;      /**< one line */
	const struct opt *options;
	/** For completion: the values that an option can have, ended by NULL; NULL: any. */
	const char *const *(*values)(const char *option);
	bool first_ends; /**< options end at the first argument, as if "--" stood before it */
};

/**
 * Parse argv[1..argc-1] into the table's variables. What is no option is left
 * in `args_out` in order; `dashdash_out` (may be NULL) gets the number of
 * arguments that stood before "--", or -1 if there was none. With `first_ends`
 * a "--" behind the first argument is an argument.
 *
 * Every command also has -h/--help, -q/--quiet and --json; the values of the
 * latter two are in `opt_common`.
 *
 * Returns 0; CKPT_EUSAGE with a sentence that names the option; or 1 if -h
 * was given, after printing the usage to stdout.
 */
int opt_parse(const struct opt_spec *spec, int argc, char **argv, struct strlist *args_out,
	      int *dashdash_out);

struct opt_common {
	bool json;
	bool quiet;
};
extern struct opt_common opt_common;

/** Set `opt_common.json` if --json stands anywhere before "--": for failures before opt_parse(). */
void opt_scan_json(int argc, char **argv);

/** Print "usage: git checkpoint save ..." and the options; fits 80 columns. */
void opt_usage(const struct opt_spec *spec, int fd);

/** One line an option, for completion: "--name" or "--name=" and a tab and the help. */
void opt_complete(const struct opt_spec *spec);

#endif
