/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_COMPLETE_H
#define CKPT_CMD_COMPLETE_H

#include "base/base.h"
#include "ui/ui.h"

struct session;

/**
 * Completion: what fits at the cursor of a command line. The shells ask the
 * program and decide nothing themselves, so they never get out of date, and one
 * process answers one Tab.
 *
 *     git-checkpoint --complete <name> <word>...
 *
 * This protocol is private to the program and its completion/ files, and may
 * change with any version. <name> is the first word of the line: "git", where
 * options of git and the name under which it knows us precede our own words, or
 * else "git-checkpoint". The words are those after it, without quotes; the last
 * one is the word at the cursor, up to it, and may be empty.
 *
 * The answer has a line for each candidate, or one of the others. The shells
 * choose those that fit what was typed, and quote them:
 *
 *     " word\ttext"   a whole word, a space can follow; "\ttext" may be missing
 *     "-word\ttext"   a word that goes on, as "--name=" and "dir/" do
 *     "!files"        file names, which the shell finds itself
 *     "!directories"  the same for directories
 *     "!command <n>"  another command began at word <n>, <name> being 0
 *
 * Words are raw bytes, and must not be evaluated. Those with control characters
 * are left out; in texts these become spaces. Nothing is locked, written or
 * repaired on the way; a failure gives no candidates.
 */
int complete_words(char *const *argv, size_t argc);

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

/** Offer the beginning of a word. */
void complete_add_open(struct complete *complete, const char *word, const char *text);

/** Names of files, or of directories only. */
void complete_files(struct complete *complete, bool directories);

/** Opened read-only on first use; NULL if there is none. With or without a store. */
struct session *complete_session(struct complete *complete);

/* --- complete_store.c --- */

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
