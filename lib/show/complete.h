/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_COMPLETE_H
#define CKPT_SHOW_COMPLETE_H

#include "ui/ui.h"

/** What fits at the cursor of a command line: see cmd/cmd.h for the protocol. */

/** "--name" or "--name=", a tab and the help: all options of a command, a line each. */
void complete_print_options(const struct opt_spec *spec);

/* ---- for whoever knows what fits somewhere ---- */

struct complete_item {
	char *word; /**< complete, with what is kept before it */
	char *text; /**< or NULL */
	bool open;  /**< it goes on */
};

struct complete {
	const struct opt_spec *spec;
	const struct opt_look *look;
	const char *typed; /**< what was typed of the argument or value */
	bool elsewhere;    /**< with -C: the shell is in another directory */
	const char *word;  /**< the whole word at the cursor */
	size_t kept;       /**< bytes of it before `typed`, which precede each candidate */
	bool list;         /**< of values separated by commas: it can go on */
	const char *also;  /**< "files", "directories" or "command", or NULL */
	struct complete_item *items;
	size_t nr, alloc;
	struct session *session; /**< see complete_session() */
	bool session_failed;
};

/** Offer a word; `text` may be NULL. */
void complete_add(struct complete *complete, const char *word, const char *text);

/** Names of files, or of directories only. */
void complete_files(struct complete *complete, bool directories);

/** Opened read-only on first use; NULL if there is none. With or without a store. */
struct session *complete_session(struct complete *complete);

/**
 * Offer all that fits at the cursor, after the name of a command: `spec`, `look` and `word` are
 * set.
 */
int complete_offer(struct complete *complete);
void complete_release(struct complete *complete);

/** "<checkpoint>" */
void complete_checkpoints(struct complete *complete);

/**
 * The paths in a checkpoint after "<checkpoint>:", for commands that take that. False if no
 * checkpoint was typed so.
 */
bool complete_inside(struct complete *complete);

/** Names that were given with --name; true, for an `offer`. */
bool complete_given_names(struct complete *complete);

/**
 * Paths of the checkpoint that is the first argument, unless that is a path; then of the one that
 * the worktree is compared with. With `guess`, for a word that is a path unless it is a checkpoint:
 * only existing paths, and the checkpoint may be invalid.
 */
void complete_paths(struct complete *complete, bool guess);

#endif
