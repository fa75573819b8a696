/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_REPORT_H
#define CKPT_CMD_REPORT_H

#include "base/base.h"

struct ckpt_captures;
struct ckpt_record;
struct ckpt_state;
struct retain_result;
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
 * Print the message of the last failure (as JSON too, if asked for); returns its exit status. A no
 * (CKPT_EDECLINED) was already acknowledged: nothing is printed.
 */
int report_failure(int err);

/** {"code","message"} */
json_t *report_error_object(int status, const char *message);

/** The answer is no, and why: on stderr, and as a JSON error if asked for. */
int report_no(const char *why);

/** Append a sentence as git prints it: "?" for control characters, which names in it may contain. */
void report_clean(struct strbuf *out, const char *text);

/** A sentence without colours that may contain names, cleaned in the same way. */
void report_plain(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * "<kind>: <text>" on stderr, with nothing in it that a terminal would obey: names can be hostile.
 */
void report_message(const char *kind, const char *text);

/** "warning: ..." on stderr for each, unless -q or --json. */
void report_warnings(const struct strlist *warnings);

/**
 * For alloc_on_failure(): the answer if JSON was asked for and not printed yet. Needs no
 * memory.
 */
void report_no_memory(void);

/** Print a JSON answer on stdout and free it; returns `status`, or that of a failed write. */
int report_json(json_t *answer, int status);

/** Flush stdout; returns `status`, or that of a failed write. */
int report_done(int status);

/** Print text on stdout unless -q. */
void report_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The checkpoint object of the contract. */
json_t *report_checkpoint(const struct ckpt_record *record);

/** The same with "hash" and "files_changed", for `list` and `show`. */
json_t *report_listed(const struct ckpt_record *record);

/** The same as a row, for people too. */
void report_row(struct row *row, const struct ckpt_record *record);

/** {"removed":[...],"freed"}: as listed, each with "why". */
json_t *report_removed(const struct retain_result *result);

/** [{"name","type","bytes"}], in the order in which they were taken. */
json_t *report_captures(const struct ckpt_captures *captures);

/**
 * The value of a state key: a string; C-quoted like a path if it is not UTF-8,
 * contains a NUL or begins with a quote; null if it is too large for this.
 */
json_t *report_state(const struct ckpt_state *state);

/** [{"file","why"}] */
json_t *report_skips(const struct skip_list *skips);

/** The first line of a reason, safe for a terminal; the caller frees it. */
char *report_reason_line(const struct ckpt_record *record);

/**
 * The same for a row of a table, after what is special about the checkpoint:
 * "[pinned] [step 2] reason". The marks come first, so that they are not cut
 * off.
 */
char *report_marked_reason(const struct ckpt_record *record, int64_t now);

#endif
