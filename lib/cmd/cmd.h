/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_CMD_H
#define CKPT_CMD_CMD_H

/* Most commands need no other door: it leads to those of what is shown, with ui and session. */
#include "show/show.h"

/**
 * One file for each command: its options, its `-h`, the checks of its
 * arguments, one call of an operation, and what it prints. Each returns the
 * exit status.
 */
struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /**< argv[0] is its name; NULL: cmd_dispatch() */
	const struct opt_spec *spec;
	const char *group; /**< the heading of those that it begins, or NULL */
};

/** Arguments that many commands take. */
#define CMD_CHECKPOINTS(least, most)                                           \
	{                                                                      \
		{ "<checkpoint>" }, least, most, .such_as = "@ for the newest" \
	}
#define CMD_PATHS                                         \
	{                                                 \
		{ "<path>" }, 0, OPT_MANY, .dashes = true \
	}

/** All commands, in the order in which they are listed; see git-checkpoint.c. */
struct cmd_table {
	const struct cmd *items;
	size_t nr;
};
extern const struct cmd_table cmd_table;

/** As --version prints it. */
extern const char cmd_version[];

/** The command of that name, or NULL. */
const struct cmd *cmd_find(const char *name);

/** For completion: the names of all commands. */
void cmd_offer(struct complete *complete);

/**
 * CKPT_EUSAGE if a checkpoint cannot have the name that '--name' was given (NULL: not given), or
 * '--move-name' was given alone.
 */
int cmd_check_name(const char *name, bool move);

/** Set the message about an unknown command, with a suggestion. */
int cmd_unknown(const char *name);

extern const struct opt_spec cmd_save_spec, cmd_list_spec, cmd_show_spec, cmd_diff_spec,
	cmd_status_spec, cmd_log_spec, cmd_config_spec, cmd_restore_spec, cmd_undo_spec,
	cmd_redo_spec, cmd_revert_spec, cmd_pick_spec, cmd_run_spec, cmd_verify_spec, cmd_hash_spec, cmd_pin_spec,
	cmd_unpin_spec, cmd_drop_spec,
	cmd_prune_spec, cmd_gc_spec, cmd_doctor_spec, cmd_stores_spec, cmd_relink_spec,
	cmd_try_spec, cmd_bisect_spec, cmd_export_spec, cmd_import_spec, cmd_branch_spec,
	cmd_grep_spec, cmd_hooks_spec, cmd_hook_spec, cmd_agent_hook_spec, cmd_flow_spec,
	cmd_help_spec, cmd_remote_spec, cmd_push_spec, cmd_fetch_spec, cmd_handoff_spec,
	cmd_takeover_spec, cmd_watch_spec;

/** After a save: push it to the remotes that were added with --push-auto; failures are warnings. */
void cmd_push_auto(struct session *session, const char *id);

int cmd_run(int argc, char **argv);
int cmd_hook(int argc, char **argv);
extern const struct opt_spec cmd_mcp_spec;
int cmd_agent_hook(int argc, char **argv);

/* ---- completion ---- */

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
int cmd_complete(char *const *argv, size_t argc);

/** The list of commands. */
void cmd_usage(FILE *out);

/** The few that one needs, if none was given. */
void cmd_usage_short(FILE *out);

/**
 * Open the manual page of a command, or that of the program (NULL), with
 * man(1); show the usage if man or the page is not installed.
 */
int cmd_manual(const char *command);

/** man/git-checkpoint-agents.md, compiled in by the Makefile. */
extern const char cmd_agents_text[];

/**
 * Parse the command line, open a session, and call `run` of the command or of
 * its subcommand; report its failure, or flush what it printed. Returns the
 * exit status.
 */
int cmd_dispatch(const struct opt_spec *spec, int argc, char **argv);

/**
 * The settings file that a user means: their own, or that of this folder, whose store is created
 * if needed. For settings_change().
 */
int cmd_config_file(struct strbuf *out, bool users);

/** Open a session and apply its settings to the terminal; print warnings about them. */
int cmd_session_open(struct session *out, unsigned flags);

/*
 * In this folder:
 *
 *   cmd                     what all commands share
 *   complete                what the completions of the shells ask for
 *   save list show diff grep status verify hash log config prune gc doctor stores relink
 *   export import branch remote push fetch
 *   handoff                 also takeover
 *   pin restore             also unpin and drop; also undo and redo
 *   hooks hook agent_hook mcp run flow help try bisect revert watch
 */

#endif
