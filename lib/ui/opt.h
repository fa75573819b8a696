/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPT_H
#define CKPT_UI_OPT_H

#include "base/base.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct complete;
struct session;

/**
 * Command lines from tables.
 *
 * Each command has one table: its options, its arguments, its subcommands.
 * Parsing, the checks of what was given, `-h`, `help --json` and completion all
 * read it. Behaves as git users expect: `--name value` and `--name=value`,
 * `-n 5` and `-n5`, bundled short flags, unique prefixes of long options,
 * `--no-` before a flag, `--` ends the options, and options may follow
 * arguments, unless the arguments are another command.
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

/** How options go together. An option with OPT_OR or OPT_WITH follows the one that it refers to. */
enum opt_flags {
	OPT_HIDDEN = 1 << 0,	/**< parsed, but not shown in usage and completion */
	OPT_UNOFFERED = 1 << 1, /**< not shown in completion */
	OPT_NEEDED = 1 << 2,	/**< must be given */
	OPT_OR = 1 << 3,	/**< not together with the option before */
	OPT_WITH = 1 << 4,	/**< only together with the option before */
	OPT_FORM = 1 << 5,	/**< another way to use the command, with arguments of its own */
	OPT_ALSO = 1 << 6,	/**< allowed with an OPT_FORM, too */
};

enum {
	OPT_MANY = INT_MAX, /**< arguments: any number */
	OPT_CHOICES = 5,
};

/** Arguments that mean the same. The last row of a list is empty; see OPT_ARGS(). */
struct opt_arg {
	/** "<checkpoint>": anything can stand there. "start": that word. The last one is NULL. */
	const char *one_of[OPT_CHOICES];
	int min, max;
	const char *such_as; /**< for the sentence if it is missing: "@ for the newest"; or NULL */
	bool dashes;	     /**< "--" can stand before it */
};

#define OPT_ARGS(...) ((const struct opt_arg[]){ __VA_ARGS__, { { NULL } } })

struct opt {
	enum opt_kind kind;
	char letter;          /**< 0: none */
	const char *name;     /**< long name without dashes; NULL: none */
	void *value;
	const char *argument; /**< what stands for the value in the usage: "<reason>" */
	const char *help;     /**< one line, lower case, no full stop */
	unsigned flags;
	const struct opt_arg *args; /**< OPT_FORM: the arguments in that form; NULL: none */
};

struct opt_spec {
	const char *command;	     /**< "save"; of a subcommand "flow start" */
	const char *summary;	     /**< one line */
	const struct opt *options;   /**< NULL: none */
	const struct opt_arg *args;  /**< NULL: none */
	const struct opt_spec *subs; /**< NULL: none; the last one has no `command` */
	/**
	 * For completion: add what can stand for `what`, an option with a value
	 * ("--source") or an argument ("<key>"), where only this command knows
	 * that; false if it does not. NULL: it never does.
	 */
	bool (*offer)(struct complete *complete, const char *what);
	bool first_ends; /**< options end at the first argument, as if "--" stood before it */
	/** For cmd_dispatch(): flags for the session, and what is done in it; returns the exit status. */
	unsigned session;
	int (*run)(struct session *session, const struct strlist *args);
};

/**
 * Parse argv[1..argc-1] into the table's variables and check it against the
 * table. Arguments are added to `args_out` in order, the name of a subcommand
 * being the first (NULL: the command takes none); `dashdash_out` (may be NULL) gets the number of
 * arguments before "--", or -1 if there was none. With `first_ends` a "--"
 * after the first argument is an argument.
 *
 * Every command also has -h, --help, -q/--quiet and --json; the values of the
 * latter two are in `opt_common`.
 *
 * Returns 0; CKPT_EUSAGE with a sentence that names what is wrong; or 1 if -h
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

/** The subcommand of that name, or NULL. */
const struct opt_spec *opt_sub(const struct opt_spec *spec, const char *name);

/** The name of a subcommand without that of its command. */
const char *opt_sub_name(const struct opt_spec *sub);

/* ---- usage (opt_usage.c) ---- */

/** Print "usage: git checkpoint save ..." and the options; fits 80 columns. */
void opt_usage(const struct opt_spec *spec, int fd);

/** Each way to use the command: "git checkpoint restore --continue". */
void opt_forms(struct strlist *out, const struct opt_spec *spec);

/* ---- unfinished command lines (opt_look.c) ---- */

/** A command line up to the cursor, read as opt_parse() does, but setting nothing. */
struct opt_look {
	const struct opt_spec *spec; /**< the command, or its subcommand if there is one */
	struct strlist args;	     /**< before the cursor, without the name of a subcommand */
	size_t first;		     /**< the place of the first of them among the words */
	int dashdash;		     /**< as of opt_parse() */
	struct strlist given; /**< names of options, or letters of those without; each once a time */
	bool ended;           /**< no option can stand at the cursor */
	/** The option whose value is at the cursor, or OPT_END; it begins at `value_at` of the word. */
	struct opt value_of;
	size_t value_at;
};

/** `words` are the command and all after it; the last of `nr` is at the cursor. */
void opt_look(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr);
void opt_look_release(struct opt_look *look);

/** What can stand at the cursor: begin with NULL, go on with the last answer until that is NULL. */
const struct opt_arg *opt_look_next(const struct opt_look *look, const struct opt_arg *last);

#endif
