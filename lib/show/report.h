/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_REPORT_H
#define CKPT_SHOW_REPORT_H

#include "base/base.h"

struct ckpt_captures;
struct ckpt_record;
struct ckpt_state;
struct row;
struct skip_list;

/**
 * Output of commands: exit statuses, error messages, and the parts of JSON
 * answers that several commands share. stdout is the answer, stderr is the
 * conversation.
 */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_NO = 1,          /**< the answer is no */
	EXIT_INCOMPLETE = 3,  /**< done, but paths were skipped that the user would expect */
	EXIT_UNVERIFIED = 4,
	EXIT_REFUSED = 5,
	EXIT_LOCKED = 75,
	EXIT_FATAL = 128,
	EXIT_USAGE = 129,
};

/**
 * Print the message of the last failure (as JSON, if asked for); returns its exit status. A no
 * (CKPT_EDECLINED) was already acknowledged: nothing is printed.
 */
int report_failure(int err);

/** {"code","message"} */
json_t *report_error_object(int status, const char *message);

/** The answer is no, and why: on stderr, or as a JSON error if asked for. */
int report_no(const char *why);

/** For a sentence; good until the sixteenth call after it of one of these. */
const char *report_path(const char *path); /**< as quote_path() has it */
const char *report_id(const char *id);	   /**< in the colour of ids */
const char *report_shell(const char *text); /**< as a word for the shell */

/**
 * "<kind>: <text>" on stderr, with nothing in it that a terminal would obey: names can be hostile;
 * with --json in the answer.
 */
void report_message(const char *kind, const char *text);
void report_messagef(const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * False with --json: then stderr stays empty, and messages are among the "warnings" of the answer.
 */
bool report_speaks(void);

/** The same for a command whose answer report_json() does not print; report_add_noted() adds them. */
void report_hush(void);
void report_add_noted(json_t *answer);

/** "warning: ..." on stderr for each, unless -q; with --json in the answer. */
void report_warnings(const struct strlist *warnings);

/**
 * For alloc_on_failure(): the answer if JSON was asked for and not printed yet. Needs no
 * memory.
 */
bool report_no_memory(void);

/** Print a JSON answer on stdout and free it; returns `status`, or that of a failed write. */
int report_json(json_t *answer, int status);

/** Flush stdout; returns `status`, or that of a failed write. */
int report_done(int status);

/** Print the bytes of an object. A write that failed is not told: report_done() does. */
int report_stream(struct store *store, const struct oid *oid);

/** Print text on stdout unless -q. */
void report_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The checkpoint object of the contract. */
json_t *report_checkpoint(const struct ckpt_record *record);

/** The same with "hash" and "files_changed", for `list` and `show`. */
json_t *report_listed(const struct ckpt_record *record);

/** The same as a row, for people too. */
void report_row(struct row *row, const struct ckpt_record *record);

/** [{"name","type","bytes"}], in the order in which they were taken. */
json_t *report_captures(const struct ckpt_captures *captures);

/**
 * The value of a state key: a string; C-quoted like a path if it is not UTF-8,
 * contains a NUL or begins with a quote; null if it is too large for this.
 */
json_t *report_state(const struct ckpt_state *state);

/** {"staged","unmerged","intent_to_add"} */
json_t *report_index(const struct gitindex_counts *index);

/** [{"file","why"}] */
json_t *report_skips(const struct skip_list *skips);

/**
 * "@" or "@~<n>", by which a checkpoint can be named; "" for a safety checkpoint, which has no such
 * name. To be called for all of them, newest first; `back` counts. The caller frees it.
 */
char *report_position(size_t *back, const struct ckpt_record *record);

/** The six digits at the end of an id. */
const char *report_short_id(const char *id);

/**
 * The title for a row of a table, after what is special about the checkpoint:
 * "[pinned] [step 2] title". The marks come first, so that they are not cut
 * off, and on a terminal an id in the title is short for the same reason. The
 * caller frees it.
 */
char *report_marked_title(const struct ckpt_record *record, int64_t now);

#endif
