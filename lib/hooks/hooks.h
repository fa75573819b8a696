/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOKS_H
#define CKPT_HOOKS_HOOKS_H

#include "hooks/hook_checkpoint.h"
#include "hooks/hook_rules.h"

struct gitconfig;
struct repo;
struct session;

/**
 * Installing and removing hooks and the guard, and whether git would run them. What
 * they do when they run is in hook_checkpoint.h.
 *
 * This is the one part of the program that writes into a project's .git, when asked to
 * by name: the hooks in the directory from which git takes them, core.fsmonitor in the
 * repository's configuration for the guard, and a directory "git-checkpoint" with the
 * record of all this.
 *
 * On git 2.54 and later hooks are entries of the configuration instead of files.
 *
 * For all repositories of the user, the user's configuration and a directory of the user are
 * written instead.
 */

enum hooks_state {
	HOOKS_RUNS,
	HOOKS_DISPLACED, /**< something else is in its place */
	HOOKS_MISSING,
	HOOKS_NOT_RUN, /**< it exists, but git would not run it */
};

/** "installed", "displaced", "missing", "not run" */
const char *hooks_state_name(enum hooks_state state);

struct hooks_item {
	const char *name; /**< "pre-rebase", "reference-transaction", "fsmonitor" for the guard */
	enum hooks_state state;
	char *repair; /**< why, and what to do; NULL if it runs */
};

enum { HOOKS_MAX = 3 };

/** The current state, and the result of an install or uninstall. Start with all zero. */
struct hooks_report {
	struct hooks_item items[HOOKS_MAX];
	size_t nr;
	bool installed;        /**< there is a record */
	bool guard;            /**< the guard is one of the items, the last one */
	bool ref_transaction;  /**< the hook that slows down every ref update runs */
	bool config_hooks;     /**< see above */
	bool submodules;       /**< from hooks_status(): there are some, which have their own hooks */
	struct strlist events;
	struct strlist notes;  /**< sentences: what could not be done, and other things to know */
	bool partial;          /**< something that was asked for could not be installed */
	bool template;	       /**< only new repositories get these hooks, from a template */
	bool was_template;     /**< from hooks_uninstall(): there was a template */
	bool still_global;     /**< from hooks_uninstall(): some for all repositories remain */
	/**
	 * From hooks_status(): those for all repositories, and whether they run in this
	 * one; NULL if there are none. Where one of the repository's own runs, the one for all does.
	 */
	struct hooks_report *global;
};

struct hooks_opts {
	const char *events;  /**< comma-separated; NULL: as before, initially rebase and merge */
	bool guard;          /**< also install the guard; an installed one stays in any case */
	int ref_transaction; /**< 1 yes, 0 no, -1 as before, initially yes; not with `guard` */
	bool global;	     /**< for all repositories instead of this one */
};

/** `report` must be released even after a failure. Unknown event: CKPT_EUSAGE. */
int hooks_install(struct hooks_report *report, const struct session *session,
		  const struct hooks_opts *opts);

/** Restore everything as it was, except for what others changed since. */
int hooks_uninstall(struct hooks_report *report, const struct session *session, bool global);

int hooks_status(struct hooks_report *report, const struct repo *repo);

/** Those for all repositories, wherever the current directory is. */
int hooks_global_status(struct hooks_report *report);

/** Whether git runs one of them, and whether it runs all. */
bool hooks_any_runs(const struct hooks_report *report);
bool hooks_all_run(const struct hooks_report *report);

/** The repository's own; if it has none, those for all repositories. */
const struct hooks_report *hooks_in_force(const struct hooks_report *report);

/** Whether any hook runs in this repository, its own or one for all repositories. */
bool hooks_protected(const struct hooks_report *report);

void hooks_report_release(struct hooks_report *report);

/** For commands with another purpose: a sentence for each hook in force that would not run. */
void hooks_check(struct strlist *problems, const struct hooks_report *report);

/*
 * In this folder:
 *
 *   install install_status  installing and removing them; whether git would run them
 *   install_where install_config install_template  what for, the scripts, and the values and lines
 *                           that name them; a template for all repositories
 *   hook_rules hook_git hook_targets  whether to save, from what git is doing
 *   hook_checkpoint         taking the checkpoint, once for each command
 *   hook_exposed hook_autostash  what the rules leave out but git may destroy; autostash
 */

#endif
