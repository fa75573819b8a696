/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_OPT_H
#define CKPT_UI_OPT_H

#include "base/base.h"

struct complete;
struct session;

/**
 * Command lines from tables.
 *
 * Each command has one table: its options, its arguments, its subcommands.
 * Parsing, argument checks, `-h`, `help --json` and completion all read it.
 * Behaves as git users expect: `--name value` and `--name=value`, `-n 5` and
 * `-n5`, bundled short flags, unique prefixes of long options, `--no-` before a
 * flag, `--` ends the options, and options may follow arguments, unless the
 * arguments are another command.
 */
enum opt_kind {
	OPT_END,      /**< last row */
	OPT_FLAG,     /**< bool: value is a `bool *` */
	OPT_STRING,   /**< value is a `const char **` into argv */
	OPT_OPTIONAL, /**< the same, but a value must be attached (-M50, --name=50); else it is "" */
	OPT_LIST,     /**< may be repeated: value is a `struct strlist *` */
	OPT_NUMBER,   /**< a whole number, not negative: value is a `int64_t *` */
	OPT_DURATION, /**< <n> with s, m, h, d, w: value is a `int64_t *`, seconds */
	OPT_SIZE,     /**< bytes with k, m, g, t: value is a `int64_t *` */
};

/** How options combine. An option with OPT_OR or OPT_WITH follows the one that it refers to. */
enum opt_flags {
	OPT_UNOFFERED = 1 << 0, /**< not shown in completion */
	OPT_NEEDED = 1 << 1,	/**< must be given */
	OPT_OR = 1 << 2,	/**< cannot be combined with the previous option */
	OPT_WITH = 1 << 3,	/**< only together with the previous option */
	OPT_FORM = 1 << 4,	/**< another way to use the command, with its own arguments */
	OPT_ALSO = 1 << 5,	/**< allowed with an OPT_FORM, too */
	OPT_POSITIVE = 1 << 6,	/**< a number or size that must not be 0 */
	OPT_FORMS = 1 << 7,	/**< with OPT_ALSO: shown with every OPT_FORM, and only there */
};

enum {
	OPT_MANY = INT_MAX, /**< arguments: any number */
	OPT_CHOICES = 5,
};

/** Arguments with the same meaning. The last row of a list is empty; see OPT_ARGS(). */
struct opt_arg {
	/** "<checkpoint>": any word. "start": that word. The last one is NULL. */
	const char *one_of[OPT_CHOICES];
	int min, max;
	const char *such_as; /**< for the message if it is missing: "@ for the newest"; or NULL */
	const char *noun; /**< for the same message, after its name: "a bad checkpoint"; or NULL */
	bool dashes;	     /**< "--" may precede it */
	bool dashed;	     /**< "--" must precede it */
};

#define OPT_ARGS(...) ((const struct opt_arg[]){ __VA_ARGS__, { { NULL } } })

struct opt {
	enum opt_kind kind;
	char letter;          /**< 0: none */
	const char *name;     /**< long name without dashes; NULL: none */
	void *value;
	const char *argument; /**< the value in the usage: "<reason>" */
	const char *help;     /**< one line, lower case, no full stop */
	unsigned flags;
	const struct opt_arg *args; /**< OPT_FORM: the arguments in that form; NULL: none */
};

/** What people type who know another program, and what serves here instead. */
struct opt_instead {
	const char *word; /**< "grep", "--patch", "-p"; NULL ends a list */
	const char *text; /**< the end of a sentence: "use 'git checkpoint list'" */
};

/** NULL if it is not in the list, or there is none. */
const char *opt_instead(const struct opt_instead *list, const char *word);

/**
 * The subcommand or option (without dashes) that was perhaps meant, or NULL. Never one
 * that removes or overwrites something, or takes away a question: who is not sure of a word
 * might take the suggestion without looking at it. For the same reason these cannot be abbreviated.
 */
const char *opt_suggestion(const char *word, const char *const *words, size_t nr);

struct opt_spec {
	const char *command;	     /**< "save"; of a subcommand "flow start" */
	const char *summary;	     /**< one line */
	const struct opt *options;   /**< NULL: none */
	const struct opt_arg *args;  /**< NULL: none */
	/** NULL: none; the last one has no `command`. Without one of them `run` is called, if there is any. */
	const struct opt_spec *subs;
	/**
	 * For completion: add what fits `what`, an option with a value
	 * ("--source") or an argument ("<key>"), if only this command knows
	 * that; false if it does not. NULL: it never does.
	 */
	bool (*offer)(struct complete *complete, const char *what);
	const struct opt_instead *instead; /**< options that it does not have; NULL: none */
	bool first_ends; /**< options end at the first argument, as if "--" preceded it */
	/**
	 * For cmd_dispatch(): what is to be checked before a session is opened (NULL: nothing),
	 * flags for the session, and the function to run in it, which returns the exit status or
	 * an error.
	 */
	int (*check)(const struct strlist *args);
	unsigned session;
	bool alone; /**< it needs no session, and gets an empty one */
	int (*run)(struct session *session, const struct strlist *args);
};

/**
 * Parse argv[1..argc-1] into the table's variables and check it against the table. Arguments are
 * added to `args` in order, starting with the name of a subcommand. With `first_ends` a "--" after
 * the first argument is an argument.
 *
 * Every command also has -h, --help, -q/--quiet and --json; the values of the latter two are in
 * `opt_common`.
 *
 * Returns 0; CKPT_EUSAGE with a message that names what is wrong; or 1 if -h was given, after
 * printing the usage to stdout.
 */
int opt_parse(const struct opt_spec *spec, int argc, char **argv, struct strlist *args);

struct opt_common {
	bool json;
	bool quiet;
	int dashdash; /**< the number of arguments before "--"; -1: there was none */
};
extern struct opt_common opt_common;

/** Set `opt_common.json` if --json appears anywhere before "--": for failures before opt_parse(). */
void opt_scan_json(int argc, char **argv);

/** The subcommand of that name, or NULL. */
const struct opt_spec *opt_sub(const struct opt_spec *spec, const char *name);

/** The name of a subcommand without its command. */
const char *opt_sub_name(const struct opt_spec *sub);

/* ---- usage (opt_usage.c) ---- */

/** Print "usage: git checkpoint save ..." and the options; fits 80 columns. */
void opt_usage(const struct opt_spec *spec, int fd);

/** Each way to use the command: "git checkpoint restore --continue". */
void opt_forms(struct strlist *out, const struct opt_spec *spec);

/* ---- unfinished command lines ---- */

/** A command line up to the cursor, parsed like opt_parse(), but without setting anything. */
struct opt_look {
	const struct opt_spec *spec; /**< the command, or its subcommand if given */
	struct strlist args;	     /**< before the cursor, without the name of a subcommand */
	size_t first;		     /**< the position of the first of them among the words */
	int dashdash;		     /**< as in opt_common */
	struct strlist given; /**< names of options, or letters of those without a name; once for each
			       * time */
	bool ended;           /**< the word at the cursor cannot be an option */
	/**
	 * The option whose value is at the cursor, or OPT_END; the value starts at `value_at` of
	 * the word.
	 */
	struct opt value_of;
	size_t value_at;
};

/** `words` are the command and everything after it; the last of `nr` is at the cursor. */
void opt_look(struct opt_look *out, const struct opt_spec *spec, char *const *words, size_t nr);
void opt_look_release(struct opt_look *look);

/**
 * Which argument can be at the cursor: start with NULL, continue with the last answer until that is
 * NULL.
 */
const struct opt_arg *opt_look_next(const struct opt_look *look, const struct opt_arg *last);

/* ---- the rows of a table ---- */

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

/** True if its value may be the next word. */
bool opt_takes_word(const struct opt *opt);

/** How many rows from `head` on belong together: alternatives, and what goes with them. */
size_t opt_group(const struct opt *head);

/** Whether options and arguments (of which `skip` are names of subcommands) fit the table; CKPT_EUSAGE. */
int opt_check(const struct opt_rows *rows, const struct strlist *args, size_t skip);

#endif
