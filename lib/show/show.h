/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_SHOW_H
#define CKPT_SHOW_SHOW_H

/**
 * How things are shown: rows, text and JSON of each, what is asked about them, and what can be typed
 * for them. Nothing is decided here.
 *
 * This is what other folders include.
 */
#include "agents/agents.h"
#include "look/look.h"
#include "run/run.h"
#include "session/session.h"
#include "show/complete.h"
#include "show/diff.h"
#include "show/report.h"
#include "show/restore.h"
#include "turns/turns.h"

struct flow_archives;
struct flow_result;
struct flow_resumed;

/* --- advice.c --- */

/**
 * Advice about the next command, as git gives it: "hint: ..." on stderr, to a
 * person at a terminal, each once ever. The file `hints` in the home of all
 * stores remembers what was shown. The setting `advice` turns it off.
 */
enum advice {
	ADVICE_SAVED,  /**< the first checkpoint was taken */
	ADVICE_HOOKS,  /**< another one, without hooks installed */
	ADVICE_LISTED, /**< checkpoints were listed */
	ADVICE_PIN,    /**< from now on each new one evicts an old one */
};

/** True if it would be shown now; for callers that need work to find out. */
bool advice_due(const struct session *session, enum advice which);

/** Show it if it is due. */
void advice_say(const struct session *session, enum advice which);

/**
 * Say, once for each worktree and wherever stderr leads, that a save evicted something that was asked for.
 * `evicted` is as in struct save_result; NULL: nothing.
 */
void advice_evicted(const struct session *session, const char *evicted);

/** True the first time that it is asked about `what` in a worktree; the same file, in `home`, remembers. */
bool advice_first(const char *home, const char *worktree, const char *what);

/* --- agents.c --- */

/** For `hooks`: the entries in the settings of coding agents. */
struct show_agents {
	const struct strlist *names;
	bool install;
	bool user;  /**< the settings in the home directory */
	bool print; /**< touch nothing, show the entry */
};

/**
 * Install, print or uninstall the entries of these agents, and report that. Once they are in place
 * the first checkpoint is taken, so that an agent need not wait for it.
 */
int show_agents_edit(struct session *session, const struct show_agents *how);

/** What became of the settings of one: a line, or an object that is added to the array. */
void show_agents_tell(json_t *array, const struct agents_result *result, const char *name);

/** What their settings have, and the newest checkpoint of each. */
struct show_agents_view {
	struct agents_statuses found;
	char **last;	/**< for each of them the id, or NULL */
	int64_t *taken; /**< and when */
	struct turns turns; /**< with what went wrong last */
};

/** A store that cannot be read has no checkpoints. */
void show_agents_look(struct show_agents_view *out, struct session *session);
void show_agents_release(struct show_agents_view *view);

/** Whether any settings have an entry, or cannot be read. */
bool show_agents_any(const struct show_agents_view *view);

/** A line for each of those. */
void show_agents_print(const struct show_agents_view *view);

/** The same in a line for `status`; nothing if there are none. */
void show_agents_sum_up(const struct show_agents_view *view);

/** [{"agent","path","state","last",...}], a new reference. */
json_t *show_agents_json(const struct show_agents_view *view);

/* --- flow.c --- */

/** Output about workflows, as text and JSON; each prints and returns the exit status. */

int show_flow_started(const struct flow_result *result);

/** A phase that started, completed or failed. */
int show_flow_moved(const struct flow_result *result);
int show_flow_approved(const struct flow_result *result);
int show_flow_task(const struct flow_result *result);
int show_flow_archived(const struct flow_result *result);
int show_flow_unarchived(const struct flow_result *result);

/** `result` NULL: there is none. */
int show_flow_status(const struct flow_result *result);
int show_flow_list(const struct flow_archives *archives);

/** `status` is the result of restoring the files, 0 if that succeeded or was not asked for. */
int show_flow_resumed(const struct flow_resumed *resumed, int status);

/* --- path.c --- */

/**
 * Paths on the command line: relative to the current directory, and patterns as git has them.
 * What exists by exactly the name that was typed, in the worktree or in one of the checkpoints, is
 * always meant as a path: a file called "[id].js" needs no special care.
 */

/** Checkpoints in which a path may exist. */
struct show_paths_where {
	const struct ckpt_record *records;
	size_t nr;
};

/** The arguments from `first` on; fails as session_path() and pathspec_split() do. */
int show_paths_parse(struct pathspec *out, struct session *session, const struct strlist *args,
		     size_t first, const struct show_paths_where *where);

/** The same where all checkpoints matter; their records are read only if there is a pattern. */
int show_paths_parse_ever(struct pathspec *out, struct session *session, const struct strlist *args,
			  size_t first);

/** As git has it: what is not after "--" must exist to be taken for a path, or be a pattern. */
bool show_paths_may_be(const struct session *session, const char *typed);

/** Whether a path from the root is in one of the checkpoints. */
int show_paths_find(bool *out, struct session *session, const char *path,
		    const struct show_paths_where *where);

/**
 * The paths, sorted, that a restore of `target` concerns if it is limited to `spec`: as they are
 * if there is no pattern, otherwise those of the files that match, in the checkpoint or, unless `stored`,
 * now in the worktree. CKPT_ENOTFOUND, with a message that names it, if something matches nothing. Never
 * empty unless `spec` is.
 */
int show_paths_expand(struct strlist *out, struct session *session,
		      const struct ckpt_record *target, const struct pathspec *spec, bool stored);

/**
 * "<checkpoint>:<path>", as git has "<rev>:<path>": the path is from the top of
 * the worktree, or from here if it begins with "./" or "../".
 */

/** True if there is a path. Colons of "step:<n>", "turn:<n>",
 * "session:<id>" and "@{<time>}" are not before one. */
bool show_inside_is(const char *typed);

/** The path as it was typed, if there is one, which show_inside_is() tells. */
const char *show_inside_path(const char *typed);

/** That path from the top: "src/a.c" for "./a.c", typed in src. */
int show_inside_top(struct strbuf *out, const struct session *session, const char *typed);

/**
 * Look up the checkpoint, and put the path, from the top, into `path`.
 * CKPT_ENOTFOUND if the checkpoint does not have it.
 */
int show_inside_find(struct ckpt_record *out, struct strbuf *path, struct session *session,
		     const char *typed);

/** Print the bytes of a file, the target of a link, or the names in a directory. */
int show_inside_print(struct session *session, const struct ckpt_record *record, const char *path);

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
void show_turns_offer(struct complete *complete);

/**
 * Let a person at the terminal choose a checkpoint: in fzf if that is
 * installed, with a preview of what restoring it would do, otherwise from a
 * numbered list. `typed` are the paths that the user named, as typed: then
 * there are only those in which one of them became something else.
 * CKPT_ENOTFOUND if there is none to choose from, CKPT_EDECLINED, said already,
 * if none was chosen.
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
 *   advice                  what is said about the next command, once
 *   complete                what can stand at the cursor of a command line
 */

#endif
