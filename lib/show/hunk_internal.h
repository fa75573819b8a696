/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_HUNK_INTERNAL_H
#define CKPT_SHOW_HUNK_INTERNAL_H

#include "restore/restore.h"
#include "ui/ui.h"

/**
 * The questions of -p, hunk by hunk, with the keys of `git restore -p`. What
 * is asked goes to stderr, answers are lines on stdin.
 */

/** Which hunks of a restore are wanted. */
struct hunk_choice {
	struct choices choices;
	struct chosen_list chosen; /**< for choose_compose() */
};

/**
 * Find out what `opts` would change, and ask about all of it; nothing is written. `yes`: it was
 * confirmed on the command line, so a program may answer. Call hunk_release() in any case.
 */
int hunk_choose(struct hunk_choice *out, struct session *session, const struct restore_opts *opts,
		bool yes);
void hunk_release(struct hunk_choice *hunking);

/** True, and said so, if nothing was chosen and there is nothing else to report. */
bool hunk_says_nothing(const struct hunk_choice *hunking);

/** Append the patch of all of them. What changed since is named in a warning, and left out. */
int hunk_patch(struct strbuf *out, struct session *session, const struct choices *choices);

/* --- one path --- */

enum hunk_change {
	HUNK_MODIFIED,
	HUNK_ADDED,
	HUNK_DELETED,
	HUNK_BINARY,
	HUNK_KIND,
};

/** What may become of one path. */
struct hunk_file {
	const struct choice *choice; /**< stays the caller's */
	const char *path;
	enum hunk_change change;
	unsigned old_mode, new_mode; /**< of the state hash; 0: nothing is there */
	struct strbuf old, new;	     /**< contents; empty if they are too large */
	struct strbuf header;	     /**< shown before the first question */
	struct hunks hunks;	     /**< never empty */
};

/**
 * From the present state to what it may become. If something of another kind takes the place of
 * it, what is below is part of the same question. CKPT_EREFUSED: it has changed. Call
 * hunk_file_release() in any case.
 */
int hunk_file_init(struct hunk_file *out, struct session *session, const struct choice *choice);
void hunk_file_release(struct hunk_file *file);

/** What was chosen: false if nothing was. `out` is zero, but for the choice. */
bool hunk_take(struct chosen *out, const struct hunk_file *file);

/** Print a part of a patch to stderr, coloured as git does it. */
void hunk_print(const char *text, size_t len);

/** Let the user edit a hunk; `*done_out` is set if it was, and applies. */
int hunk_edit(bool *done_out, struct hunks *hunks, size_t at);

#endif
