/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_SHOW_H
#define CKPT_SHOW_SHOW_H

/**
 * How things are shown: rows, text and JSON of each, what is asked about them, and what can be typed
 * for them. Nothing is decided here.
 *
 * This is what other folders include.
 */
#include "base/base.h"
#include "keep/keep.h"
#include "run/run.h"
#include "session/session.h"
#include "show/agents.h"
#include "show/complete.h"
#include "show/diff.h"
#include "show/flow.h"
#include "show/hint.h"
#include "show/list.h"
#include "show/path.h"
#include "show/report.h"
#include "show/restore.h"
#include "show/run.h"

struct ckpt_record;
struct diff;
struct into_opts;
struct into_result;
struct opt_spec;
struct pathspec;
struct row;
struct session;

/** Output about a copy of a checkpoint in another directory. */

/** Make the copy and print the report; returns the exit status or an error. */
int show_copy_make(struct session *session, const struct into_opts *opts);

/** {"post_state_hash","checkpoint_hash","match",…} as restore has it. */
json_t *show_copy_verification(const struct into_result *result);

/** If the copy is not as in the checkpoint, say so on stderr, even with -q, and name the paths. */
void show_copy_say_mismatch(const struct into_result *result);

/** A command in a copy of a checkpoint, for try and bisect. */

/** CKPT_EUSAGE unless "--" is between the checkpoints and the command. */
int show_try_check(const struct opt_spec *spec, int checkpoints);

/**
 * try_run(), and say what went wrong with the copy or with starting the command. Call
 * try_release() in any case.
 */
int show_try_run(struct try *out, struct session *session, const struct ckpt_record *target,
		 const struct strlist *command, unsigned flags);

/** Where the project was when a checkpoint was taken, for `show` and `diff`. */

/** "project", "index" and "operation" of a row. */
void show_git_row(struct row *row, const struct ckpt_record *record);

/** The object "project". */
json_t *show_git_json(struct session *session, const struct ckpt_record *record);

/** What was staged, in the form that was chosen, or as a patch; or as JSON. */
int show_git_staged(struct session *session, const struct ckpt_record *record,
		    const struct pathspec *only);

/** Tell of unmerged paths, where a difference of indexes tells names. */
void show_git_unmerged(const struct diff *diff);

/** The same as a list. */
json_t *show_git_unmerged_json(const struct diff *diff);

/** Checkpoints that go for good: what drop and prune ask and say. */

/** Whether to ask: on a terminal, unless an option says otherwise. Elsewhere nobody is asked. */
bool show_drop_asks(bool yes, bool dry_run);

/** Show them and ask; 0 if they may go. CKPT_EDECLINED, said already; CKPT_ECANCELLED. */
int show_drop_confirm(const struct retain_result *result);

/** One line for each, and what was freed: {"removed":[...],"freed"}; returns the exit status. */
int show_drop_report(const struct retain_result *result, bool dry_run);

/** Whether both are about the same checkpoints. */
bool show_drop_same(const struct retain_result *a, const struct retain_result *b);

/**
 * What the watcher says about one worktree, for `status` and `watch status`: an object with "path",
 * "state" and more; "off" if it is registered, but nobody watches. NULL if it is not watched at all.
 */
json_t *show_watcher_json(const char *home, const char *worktree);

/** "on, 4,697 directories, last save 12 s ago", appended. */
void show_watcher_sum_up(struct strbuf *out, const json_t *tree);

/** Worktrees that are gone, and whose checkpoints can bring them back: for `stores` and `doctor`. */

/** One line, if this is one of them; else false. */
bool show_gone_print(const struct inventory_item *item);

/** An array of all of them. */
json_t *show_gone_json(const struct inventory_list *list);

/**
 * Print what a coding agent did in one of its sessions, turn by turn, newest first. `id` as
 * turns_session() takes it.
 */
int show_turns(struct session *session, const char *id);

/** For completion: "last", and the ids of all sessions. */
struct complete;
void show_turns_offer(struct complete *complete);

/**
 * Let a person at the terminal choose a checkpoint: in fzf if that is
 * installed, with a preview of what restoring it would do, otherwise from a
 * numbered list. `typed` are the paths that the user named, as typed: then
 * there are only those in which one of them became something else.
 * CKPT_ENOTFOUND if there is none to choose from, CKPT_EREFUSED if none was
 * chosen.
 */
int pick_checkpoint(struct ckpt_record *out, struct session *session, const struct strlist *typed);

/*
 * In this folder:
 *
 *   report                  exit statuses, messages, and the parts of answers that commands share
 *   list                    checkpoints as rows, for terminals and for scripts; those in which paths
 *                           changed
 *   turns                   a session of a coding agent, turn by turn
 *   diff git                a difference; where the project was
 *   restore plan            a restore; its plan and the question
 *   hunk hunk_file          -p: the questions, and of which paths; the hunks of one, and editing one
 *   copy run                a copy in another directory, a command in it; a command that is run
 *   drop pick               what drop and prune ask and say; choosing a checkpoint
 *   flow agents worktree    a workflow; the entries of coding agents; who watches a worktree, and
 *                           one that is gone
 *   path                    paths as they are typed, and <checkpoint>:<path>
 *   hint                    advice that is given once
 *   complete complete_store  what can stand at the cursor of a command line
 */

#endif
