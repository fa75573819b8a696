/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_TERM_H
#define CKPT_UI_TERM_H

#include "base/base.h"

struct gitconfig;

/**
 * The terminal: colour, width, pager, progress. stdout is the answer, stderr
 * is the conversation.
 */

enum term_color {
	TERM_RESET,
	TERM_BOLD,
	TERM_DIM,
	TERM_RED,
	TERM_GREEN,
	TERM_YELLOW,
	TERM_BLUE,
	TERM_CYAN,
};

/** True if stdout is a terminal, or a pager that shows it on one. */
bool term_is_terminal(void);

/** `when` is "auto", "always" or "never"; auto honours NO_COLOR and TERM=dumb. */
void term_set_color(const char *when);

/** The escape for stdout, "" if it is not coloured. */
const char *term_color(enum term_color color);

/**
 * Print a sentence on stdout, on stderr or on the terminal itself. This is the door through which
 * text gets there: names, messages and paths in it may have been chosen by somebody else, and a
 * terminal would obey the control characters in them. What remains is text, newlines, tabs and the
 * colours of term_color(). Bytes that are meant as bytes (contents of files, "-z", JSON, which
 * escapes for itself) are written by fwrite().
 */
void term_say(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void term_vsay(FILE *to, const char *fmt, va_list ap);

/** Append a text as term_say() prints it: "?" instead of what a terminal would obey. */
void term_clean(struct strbuf *out, const char *text);

/** Columns of the terminal; without one COLUMNS, or else 80. */
unsigned term_width(void);

/** Columns that a UTF-8 text takes. */
size_t term_text_width(const char *text);

/** Append as much as fits into `width` columns, cut with an ellipsis; returns the columns used. */
size_t term_add_cut(struct strbuf *out, const char *text, size_t width);

/**
 * Send stdout through a pager if it is a terminal: GIT_PAGER, core.pager of
 * the user's configuration (never of the repository's, which must not make us
 * run anything), PAGER, or else less. LESS=FRX and LV=-c unless set. "cat" or
 * "" means none. Colour and width are determined first.
 */
void pager_start(const struct gitconfig *config);

/** Wait for the pager, if there is one. */
void pager_end(void);

/**
 * In the middle of a conversation: show what `print` prints to stdout on the terminal, wherever
 * stdout goes, through the pager. A user who quits it early comes back here. Returns what `print`
 * does; it may stop when stdout has an error.
 */
int pager_show(const struct gitconfig *config, int (*print)(void *payload), void *payload);

/**
 * Progress on stderr, if that is a terminal (or `when` is "always") and the work takes longer
 * than a second, with speed and remaining time; redrawn at most ten times a second. `total` 0:
 * unknown. Safe to call from any thread.
 */
void progress_setup(const char *when, bool quiet);
void progress_show(const char *what, size_t done, size_t total, void *payload);

/** True if progress is to be shown: for work that another program does, which then shows it. */
bool progress_enabled(void);

/** Remove the progress line. */
void progress_clear(void);

/**
 * What term.c, pager.c and table.c share about stdout; only for them. While a
 * pager runs, stdout is a pipe, but the output still goes to the original
 * terminal.
 */

/** Determine colour and width now and keep them: stdout is about to become a pipe. */
void term_hold(void);

/** Check stdout again. */
void term_unhold(void);

/* --- prompt.c --- */

/** True if there is a terminal on which a person could answer. */
bool prompt_possible(void);

/** An answer that shows something, after which the question is asked again. */
struct prompt_look {
	char letter;
	const char *help;
	void (*show)(void *payload);
	void *payload;
};

struct prompt {
	const char *question;
	const char *yes, *no;		/**< what these answers do; only used if there is `look` */
	const struct prompt_look *look; /**< NULL: it can only be answered */
};

/**
 * Ask a question on the terminal itself, whatever stdin is. True only for "y"
 * or "yes"; an empty answer, end of file and an interrupt mean no. What was
 * typed before the question appeared is discarded. If there is something to
 * look at, "?" explains the answers.
 */
bool prompt_ask(const struct prompt *prompt);

enum { PROMPT_ANSWER_SIZE = 64 }; /**< with its end */

/**
 * Ask for a line of text in the same way. False if it is empty, at end of file
 * and after an interrupt.
 */
bool prompt_text(char answer[PROMPT_ANSWER_SIZE], const char *question);

/** The same as prompt_ask() for a question that can only be answered. */
bool prompt_yes(const char *question);

/**
 * Read the next line of stdin, without its end, into `out`; what was printed
 * to stderr appears first. False at the end of file, or after a signal. For
 * conversations of many answers, which a program may give as well; the others
 * ask a person.
 */
bool prompt_read_line(struct strbuf *out);

#endif
