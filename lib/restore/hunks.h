/* SPDX-License-Identifier: MIT */
#ifndef CKPT_RESTORE_HUNKS_H
#define CKPT_RESTORE_HUNKS_H

#include "base/base.h"

/**
 * The difference of two contents in hunks, as git(1) cuts and shows them, and
 * the content in which only some of them are applied. Nothing is asked and
 * nothing is written here.
 *
 * "old" is what is there now, "new" what it would become. Lines may have any
 * bytes; one without a newline at its end can only be the last of its side.
 */
enum hunk_use { HUNK_UNDECIDED, HUNK_SKIP, HUNK_USE };

enum hunk_kind {
	HUNK_LINES, /**< some lines; it has a header with their numbers */
	HUNK_MODE,  /**< the permission bits */
	HUNK_WHOLE, /**< all of it or nothing: a binary file, a link, a deletion, … */
};

struct hunk {
	enum hunk_kind kind;
	enum hunk_use use;
	/** As in the header: from 1, except that it is one less if there are no lines. */
	size_t old_at, old_nr, new_at, new_nr;
	struct strbuf extra; /**< what follows the second "@@", with its newline; may be empty */
	struct strbuf text;  /**< its lines, each with its sign and a newline at its end */
	size_t place;	     /**< the first of its old lines, from 0 */
};

struct hunks {
	struct hunk *items;
	size_t nr, alloc;
	const char *old; /**< belongs to the caller, who keeps it */
	size_t old_len;
	size_t *starts; /**< where each of its lines begins, and where the last one ends */
	size_t lines;
};

/** All zero, or this, before hunks_release(). */
#define HUNKS_INIT { 0 }

void hunks_release(struct hunks *hunks);

/** Append the hunks between two contents, with three lines of context. */
int hunks_cut(struct hunks *out, const char *old, size_t old_len, const char *new, size_t new_len);

/** Append one that is shown as this text; its kind is not HUNK_LINES. */
void hunks_add(struct hunks *out, enum hunk_kind kind, const char *text, size_t len);

/** The length of the line at `text`, with its newline, if it has one. */
size_t hunks_line_len(const char *text, size_t len);

/** As git shows it: the header, if it has one, and the lines. */
void hunks_show(struct strbuf *out, const struct hunk *hunk);

/** One line of at most 80 bytes about it, for a list to choose from. */
void hunks_summarize(struct strbuf *out, const struct hunk *hunk);

/** Into how many hunks it can be split: one for each run of changed lines. */
size_t hunks_pieces(const struct hunk *hunk);

/** Split it; the context between two pieces is part of both. */
void hunks_split(struct hunks *hunks, size_t at);

/**
 * Take a hunk as somebody edited it, with the header or without. Lines that
 * begin with '#' do not count. `*empty_out` is set if no others are left, and
 * then the hunk stays as it is. CKPT_ERROR, and it stays as it is, if the
 * hunks, all of them, would not apply any more; the message says why.
 */
int hunks_edit(struct hunks *hunks, size_t at, const char *text, size_t len, bool *empty_out);

/** Append the content with the hunks that are HUNK_USE; CKPT_ERROR if they exclude each other. */
int hunks_apply(struct strbuf *out, const struct hunks *hunks);

#endif
