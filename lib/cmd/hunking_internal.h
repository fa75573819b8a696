/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_HUNKING_INTERNAL_H
#define CKPT_CMD_HUNKING_INTERNAL_H

#include "base/base.h"
#include "restore/restore.h"
#include "ui/ui.h"

struct session;

/**
 * The questions of -p, hunk by hunk, with the keys of `git restore -p`. What
 * is asked goes to stderr, answers are lines on stdin.
 */

/** Which hunks of a restore are wanted. */
struct hunking {
	struct choices choices;
	struct chosen_list chosen; /**< for choose_compose() */
};

/**
 * Find out what `opts` would change, and ask about all of it; nothing is written. `yes`: it was
 * confirmed on the command line, so a program may answer. Call hunking_release() in any case.
 */
int hunking_choose(struct hunking *out, struct session *session, const struct restore_opts *opts,
		   bool yes);
void hunking_release(struct hunking *hunking);

/** True, and said so, if nothing was chosen and there is nothing else to report. */
bool hunking_says_nothing(const struct hunking *hunking);

/* --- one path --- */

enum hunking_change {
	HUNKING_MODIFIED,
	HUNKING_ADDED,
	HUNKING_DELETED,
	HUNKING_BINARY,
	HUNKING_KIND,
};

/** What may become of one path. */
struct hunking_file {
	enum hunking_change change;
	char *path;
	unsigned old_mode, new_mode; /**< of the state hash; 0: nothing is there */
	struct strbuf old, new;	     /**< contents; empty if they are not needed */
	struct strbuf header;	     /**< shown before the first question */
	struct hunks hunks;	     /**< never empty */
};

/**
 * `in` is from the present state to what it may become. More than one: something of another kind
 * takes the place of the first, and the others are below it; that is one question. Call
 * hunking_file_release() in any case.
 */
int hunking_file_init(struct hunking_file *out, const struct patch_input *in, size_t nr);
void hunking_file_release(struct hunking_file *file);

/** What was chosen: false if nothing was. `out` is zero, but for the choice. */
bool hunking_take(struct chosen *out, const struct hunking_file *file);

/**
 * Ask about each hunk. `*quit_out` is set if nothing more is to be asked, of
 * other files either. CKPT_ECANCELLED after a signal.
 */
int hunking_ask(struct hunking_file *file, bool *quit_out);

/** Print a part of a patch to stderr, coloured as git does it. */
void hunking_print(const char *text, size_t len);

/** Let the user edit a hunk; `*done_out` is set if it was, and applies. */
int hunking_edit(bool *done_out, struct hunks *hunks, size_t at);

#endif
