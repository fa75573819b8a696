/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPT_H
#define CKPT_UI_OPT_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct complete;

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
	/**
	 * For completion: add what can stand for `what`, an option with a value
	 * ("--source") or a placeholder of the usage ("<key>"), where only this
	 * command knows that; false if it does not. NULL: it never does.
	 */
	bool (*offer)(struct complete *complete, const char *what);
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

/** A command line up to the cursor, read as opt_parse() does, but setting nothing. */
struct opt_look {
	struct strlist args; /**< before the cursor */
	size_t first;        /**< the place of the first of them among the words */
	int dashdash;        /**< as of opt_parse() */
	struct strlist given; /**< names of options, or letters of those without; each once a time */
	bool ended;           /**< no option can stand at the cursor */
	/** The option whose value is at the cursor, or NULL; it begins at `value_at` of the word. */
	const struct opt *value_of;
	size_t value_at;
};

/** `words` are the command and all behind it; the last of `nr` is at the cursor. */
void opt_look(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr);
void opt_look_release(struct opt_look *look);

#endif
