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
#include "look/look.h"
#include "restore/restore.h"
#include "run/run.h"
#include "save/save.h"
#include "session/session.h"
#include "show/agents.h"
#include "show/complete.h"
#include "show/diff.h"
#include "show/flow.h"
#include "show/path.h"
#include "show/report.h"
#include "show/restore.h"
#include "ui/ui.h"

/* --- hint.c --- */

/**
 * Hints about the next command, like git's advice: "hint: ..." on stderr, to a
 * person at a terminal, each once ever. The file `hints` in the home of all
 * stores remembers which were shown. The setting `advice` turns them off.
 */
enum hint {
	HINT_SAVED,  /**< the first checkpoint was taken */
	HINT_HOOKS,  /**< another one, without hooks installed */
	HINT_LISTED, /**< checkpoints were listed */
	HINT_PIN,    /**< from now on each new one evicts an old one */
};

/** True if it would be shown now; for callers that need work to find out. */
bool hint_due(const struct session *session, enum hint hint);

/** Show it if it is due. */
void hint_say(const struct session *session, enum hint hint);

/**
 * Say, once per store and wherever stderr leads, that a save evicted something that was asked for.
 * `evicted` is as in struct save_result; NULL: nothing.
 */
void hint_evicted(const struct session *session, const char *evicted);

/** True the first time that it is asked about `what` in this worktree; the same file remembers. */
bool hint_first(const struct session *session, const char *what);

/* --- list.c --- */

/**
 * Checkpoints as rows of a table. On a terminal the short id comes first, days have headings, what
 * a restore saved for its own safety is dimmed, and all fits. Elsewhere the whole id comes first
 * and no cell is empty, so that scripts find what they look for in its place.
 */
struct list_row {
	const struct ckpt_record *record;
	char *position;		/**< as of report_position() */
	int64_t added, deleted; /**< lines; -1: not known */
	/** What became of the paths that were asked for; without any, NULL and nothing below. */
	char *change; /**< in a few words */
	struct diff diff;
	struct diffstat_file *counts; /**< of each change */
	bool *unknown;		      /**< for each: its contents cannot be read */
};

/** Newest first. */
struct table *list_table(const struct list_row *rows, size_t nr, int64_t now);

/** [{"file","status","from","similarity","added","removed","old_mode","new_mode"}] */
json_t *list_changes_json(const struct list_row *row);

/** What is listed: all zero before the others, and to be released in any case. */
struct list {
	struct ckpt_records records; /**< and what of them is damaged */
	bool past_only;		     /**< of paths: those in which they changed, newest first */
	struct list_row *rows;	     /**< newest first; they point into `records`, if not `past_only` */
	size_t nr, alloc;
};

/**
 * Make rows of its records, or of those that are `enough`, as for lookup_records_newest(). Those of
 * other machines are called by what they can be named by there.
 */
void list_choose(struct list *list, const struct ckpt_enough *enough, bool remote);

/** Make rows of the checkpoints in which paths changed. See history_open() for `follow`. */
int list_choose_past(struct list *list, struct session *session, const struct pathspec *only,
		     const struct ckpt_enough *enough, bool follow);
void list_release(struct list *list);

/* --- run.c --- */

/**
 * Output about a command that was run between a checkpoint and its
 * verification. stdout belongs to the command: everything we print goes to
 * stderr.
 */
struct show_run {
	const struct strlist *command;
	struct save_result saved; /**< before the command */
	struct strlist warnings;  /**< about that */
	struct run_child child;
	const char *verify; /**< NULL: none */
	bool checked;       /**< it was run, with this result: */
	struct run_child check;
	bool restored; /**< rolled back, with this result: */
	struct restore_result result;
	int error; /**< exit status of a failure after the command; 0: none */
	char *message;
};

/** Unless -q. */
void show_run_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** "ran", "command", "exit_status" and "signal". */
void show_run_row(struct row *row, const struct strlist *command, const struct run_child *child);

/** Say why it failed; `what` precedes the name. */
void show_run_say_failed(const char *what, const char *name, const struct run_child *child);

/** What a rollback did. */
void show_run_say_restored(const struct show_run *ran);

/** True if the rollback has restored everything, files and captures. */
bool show_run_is_back(const struct show_run *ran);

/** The answer. */
json_t *show_run_json(const struct show_run *ran);

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

/** Checkpoints that go for good: what drop and prune ask and say. */

/** Whether to ask: on a terminal, unless an option says otherwise. Elsewhere nobody is asked. */
bool show_drop_asks(bool yes, bool dry_run);

/** Show them and ask; 0 if they may go. CKPT_EDECLINED, said already; CKPT_ECANCELLED. */
int show_drop_confirm(const struct retain_result *result);

/** One line for each, and what was freed: {"removed":[...],"freed"}; returns the exit status. */
int show_drop_report(const struct retain_result *result, bool dry_run);

/** "<id>", or "<machine>/<id>"; the caller frees it. */
char *show_drop_name(const struct ckpt_record *record);

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
 *   diff                    a difference, of files or of what was staged
 *   restore plan            a restore; its plan and the question
 *   hunk hunk_file          -p: the questions, and of which paths; the hunks of one, and editing one
 *   run                     a command that is run; a copy in another directory, a command in it
 *   drop pick               what drop and prune ask and say; choosing a checkpoint
 *   flow agents worktree    a workflow; the entries of coding agents; who watches a worktree, and
 *                           one that is gone
 *   path                    paths as they are typed, and <checkpoint>:<path>
 *   hint                    advice that is given once
 *   complete                what can stand at the cursor of a command line
 */

#endif
