/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_REPORT_H
#define CKPT_CMD_REPORT_H

#include "base/base.h"

#include <stdio.h>

struct ckpt_captures;
struct ckpt_record;
struct ckpt_state;
struct retain_result;
struct skip_list;

/**
 * What commands say: exit statuses, the sentence of a failure, and the parts
 * of JSON answers that several commands share. stdout is the answer, stderr
 * is the conversation.
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

/** Print the sentence of the last failure (as JSON too, if that is asked for); the exit status for it. */
int report_failure(int err);

/** The answer is no, and why: on stderr, and as a JSON error if that is asked for. */
int report_no(const char *why);

/** Append a sentence as git shows one: "?" for control characters, which names in it may have. */
void report_clean(struct strbuf *out, const char *text);

/** A sentence without colours that names may be in, cleaned likewise. */
void report_plain(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** "<kind>: <text>" on stderr, with nothing in it that a terminal would obey: names can be hostile. */
void report_message(const char *kind, const char *text);

/** "warning: ..." on stderr for each, unless -q or --json. */
void report_warnings(const struct strlist *warnings);

/**
 * For alloc_on_failure(): the answer to who asked for JSON and has none yet. Needs no memory.
 */
void report_no_memory(void);

/** Print a JSON answer on stdout and free it; `status`, or that of a failed write. */
int report_json(json_t *answer, int status);

/** Flush stdout; `status`, or that of a failed write. */
int report_done(int status);

/** Print text on stdout unless -q. */
void report_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The checkpoint object of the contract. */
json_t *report_checkpoint(const struct ckpt_record *record);

/** The same with "hash" and "files_changed", as `list` and `show` have it. */
json_t *report_listed(const struct ckpt_record *record);

/** {"removed":[...],"freed"}: as listed, each with "why". */
json_t *report_removed(const struct retain_result *result);

/** [{"name","type","bytes"}], in the order in which they were taken. */
json_t *report_captures(const struct ckpt_captures *captures);

/**
 * The value of a state key: a text; in C quotes, as a path is, if it is not
 * UTF-8, holds a NUL or begins with a quote; null if it is too large for this.
 */
json_t *report_state(const struct ckpt_state *state);

/** [{"file","why"}] */
json_t *report_skips(const struct skip_list *skips);

/** The first line of a reason, fit for a terminal; the caller frees it. */
char *report_reason_line(const struct ckpt_record *record);

/**
 * The same for a row of a table, behind what is special about the checkpoint:
 * "[pinned] [step 2] reason". The marks stand before it, so that they are not
 * what is cut off.
 */
char *report_marked_reason(const struct ckpt_record *record, int64_t now);

#endif
