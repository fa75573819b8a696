/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_RESTORE_H
#define CKPT_SHOW_RESTORE_H

#include "base/base.h"

struct ckpt_record;
struct plan;
struct restore_opts;
struct restore_result;
struct session;

/** Output about a restore. */

/**
 * What is said of a restore that does not restore a checkpoint but takes something back, or picks
 * it; all of it stays the caller's. NULL: a plain restore, which is also how it begins.
 */
struct show_restore_words {
	const char *will, *did, *declined; /**< "take back", "Took back", "Not taken back" */
	const char *what;		   /**< as title_name() has it */
	const char *step;		   /**< the id of the checkpoint at its end */
	const char *command; /**< to do it again */
	const struct choices *choices; /**< those of the restore: what it does */
	struct strbuf *patch;	       /**< the same as text, made when it is shown */
};

void show_restore_set_words(const struct show_restore_words *words);
const struct show_restore_words *show_restore_words(void);

/** Name what is in conflict, on stderr, even with -q. */
void show_restore_say_conflicts(const struct restore_result *result);

/** For restore_opts.confirm: show the plan and ask; `payload` is the target's record. */
int show_restore_confirm(const struct restore_result *preview, struct session *session,
			 void *payload);

/** Say what is to be said about HEAD, and name the commands that lead back. */
void show_restore_say_head(const struct restore_result *result);

/** What changes in the repository, a line each; of a grown plan only what is new. */
void show_restore_print_git(FILE *out, const struct restore_result *result);

/** From now on no list of paths is folded or cut. */
void show_restore_show_all(void);

/** Print the plan, unless it was shown with the question. */
void show_restore_print_plan(const struct restore_result *result, const struct ckpt_record *target);

/** How many paths a plan changes, for each enum plan_effect. */
void show_restore_count(size_t counts[3], const struct plan *plan);

#define SHOW_RESTORE_UNDO "git checkpoint undo"
#define SHOW_RESTORE_REDO "git checkpoint redo"

/** What leads to the state before a restore, or NULL: one that had nothing to do is not undone. */
const char *show_restore_way_back(const struct restore_result *result);

/** The answer of a restore in JSON; `back` is the command that leads to the state before, or NULL. */
json_t *show_restore_json(const struct restore_result *result, const struct ckpt_record *target,
			  const char *back);

/** The exit status of a restore. */
int show_restore_status(const struct restore_result *result);

/**
 * Print the report; returns the exit status. `back` is the command that leads
 * to the state before, or NULL; `interrupted` is that state, if an interrupted
 * restore was finished, or NULL.
 */
int show_restore_report(const struct restore_result *result, const struct ckpt_record *target,
			const struct ckpt_record *interrupted, const char *back);

/** How a restore is gone about. */
struct show_restore_how {
	bool yes;		    /**< do not ask */
	bool by_hunks;		    /**< ask about each hunk, and about nothing else */
	const char *verify_command; /**< run after it; NULL: what the settings say */
};

/**
 * Restore as a user asks for it: plan, show, ask, do, report. The way of showing and asking is
 * added to `opts`. Returns the exit status, or a failure that nothing was said of yet.
 */
int show_restore_carry_out(struct session *session, struct restore_opts *opts,
			   const struct show_restore_how *how);

/** CKPT_EREFUSED if a checkpoint has expired; a restore with --force does not ask. */
int show_restore_check_expired(const struct ckpt_record *target);

/** Name paths that are not as in the checkpoint, on stderr, even with -q. */
void show_restore_say_differing(const struct strlist *paths);

/** {"pre_state_hash","post_state_hash","checkpoint_hash","match",...}; `after` NULL: not verified. */
json_t *show_restore_verification(const char *before, const char *after, const char *wanted,
				  bool match, const struct strlist *differing);

/** If the result is not as in the checkpoint, say so on stderr, even with -q, and name the paths. */
void show_restore_say_mismatch(const struct restore_result *result, const char *back);

#endif
