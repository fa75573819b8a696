/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_INTERNAL_H
#define CKPT_HOOKS_INSTALL_INTERNAL_H

#include "hooks/hooks.h"
#include "install/install.h"

/**
 * What the files of installing share.
 *
 * The scripts that git is to run are in one directory: <common git directory>/git-checkpoint or,
 * for all repositories, a directory of the user. Everything else is a line or a value that names one
 * of them: in a hook file, in the configuration, in the hooks of a template. Which scripts there
 * are, and what is written into each of them, says what was chosen; so a repository may be moved.
 * What others had in the files where we put a line or a value is remembered by install/install.h.
 */

/* ---- where: install_where.c ---- */

/** What an installation is for: one repository, or all repositories of the user. */
struct install_where {
	char *dir;    /**< of the scripts */
	char *config; /**< the configuration file; it need not exist */
	char *by;     /**< who we are to lib/install */
	char *worktree; /**< where a record of what is installed would not be believed; or NULL */
	bool global;  /**< for all repositories */
	struct strlist roots; /**< directories beneath which our files are */
};

/** The name of the directory in a git directory. */
#define INSTALL_DIR "git-checkpoint"

/** The end of the path of the one for all repositories. */
#define INSTALL_GLOBAL "/git-checkpoint/global"

/** In our directory: what the program answered, see hook_answer_write(). */
#define INSTALL_ANSWER "answer"

/** In that for all repositories: see install_template.c. */
#define INSTALL_TEMPLATE "template"

void install_where_repo(struct install_where *out, const struct repo *repo);

/**
 * $XDG_DATA_HOME/git-checkpoint/global, and the file that `git config --global` writes.
 * Fails if the environment leaves no place for one of them.
 */
int install_where_global(struct install_where *out);

void install_where_release(struct install_where *where);

/** The path of a file in the directory; the caller frees it. */
char *install_where_path(const struct install_where *where, const char *name);

/**
 * The directory from which git takes hooks, absolute. False if nothing may be
 * written there, with a clause to put after its name: it does not belong to
 * this repository alone, or it is tracked.
 */
bool install_directory(struct strbuf *out, const char **why_out, const struct repo *repo,
		       const struct gitconfig *config);

/** "~/" at the beginning is git's to expand, not the shell's. The caller frees it. */
char *install_expand_home(const char *value);

/* ---- what was chosen ---- */

struct install_choice {
	bool exists;
	struct strlist events; /**< in the order of the table of events */
	bool no_ref_transaction;
	bool guard;
};

/** From the scripts that are there. */
void install_choice_read(struct install_choice *out, const struct install_where *where);

/** The same as one word, which the scripts contain. */
void install_choice_format(struct strbuf *out, const struct install_choice *choice);

void install_choice_release(struct install_choice *choice);

enum { INSTALL_NAMES = 3 };

/** The hooks that it asks for, without the guard; the list ends with NULL. */
void install_wanted(const char *names[INSTALL_NAMES], const struct install_choice *choice);

/* ---- scripts ---- */

/** The files in hooks/ of the source, which the Makefile makes a part of the program. */
struct install_shim {
	const char *name, *text;
};

/** One for each hook; ends with one without a name. */
extern const struct install_shim install_shims[];

/** What all of them contain, and nothing else does. */
#define INSTALL_SIGNATURE "# Installed by 'git checkpoint hooks install"

/** The values to fill in. */
struct install_values {
	const char *chosen; /**< for the next install, see install_choice_format() */
	const char *events; /**< comma-separated */
	const char *chain;  /**< the program that core.fsmonitor named before; "": none */
	const char *answer; /**< the file with what the program answered */
	int64_t seconds;    /**< after which a program that hangs is killed */
};

/** Append the shim of a hook, filled in. */
void install_script(struct strbuf *out, const char *name, const struct install_values *values);

/**
 * Set a variable: the first `name='...'` at the beginning of a line. False if there is no such
 * line.
 */
bool install_script_fill(struct strbuf *shim, const char *name, const char *value);

/* ---- lines and changes ---- */

/**
 * The line that runs a script, for a hook in `dir`: relative to it, so that both may be moved. An
 * absolute one, if that is NULL.
 */
void install_line(struct strbuf *out, const struct install_where *where, const char *dir,
		  const char *name);

/** A whole hook with that line; in `dir`, it goes on to the one that was put aside. */
void install_hook(struct strbuf *out, const struct install_where *where, const char *dir,
		  const char *name);

struct install_changes {
	struct install_change *items;
	size_t nr, alloc;
	struct strlist texts; /**< that the items point to */
};

/** Add one for a path below one of the roots, or directly in its directory. */
struct install_change *install_changes_add(struct install_changes *changes,
					   const struct install_where *where,
					   enum install_kind kind, const char *path);

/** Keep a text as long as the changes; it is taken over. */
const char *install_changes_keep(struct install_changes *changes, char *text);

/** Add the hook `name`, in a file that may have another name. */
void install_changes_hook(struct install_changes *changes, const struct install_where *where,
			  const char *path, const char *name);

bool install_changes_have(const struct install_changes *changes, const char *path);
void install_changes_release(struct install_changes *changes);

/* ---- the configuration: install_config.c ---- */

/** True if this machine's git runs hooks that are in the configuration. */
bool install_config_supported(void);

/** The value of a key (lower case) without us, from the level that we write or one below; or NULL. */
const char *install_config_before(const struct gitconfig *config, const char *key,
				  const struct install_where *where);

/** What is in the way of a guard, as a sentence; "" if nothing is. */
const char *install_config_barred(const struct install_where *where, const struct gitconfig *config,
				  bool *daemon_out);

/** Whether the file has our guard. */
bool install_config_has_guard(const struct install_where *where, const struct gitconfig *config);

/** The values as they should be; those that are not wanted should be gone. */
void install_config_add(struct install_changes *changes, const struct install_where *where,
			const struct gitconfig *config, const char *const names[], bool guard,
			bool template);

/** Whether git asks the guard; if not, why, and what to do about it (constants). */
enum hooks_state install_config_guard_state(const struct install_where *where,
					    const struct gitconfig *config, const char **why_out,
					    const char **advice_out);

/** The same for a hook of the configuration. */
enum hooks_state install_config_hook_state(const struct install_where *where,
					   const struct gitconfig *config, const char *name,
					   const char **why_out, const char **advice_out);

/** Whether the configuration has that hook. */
bool install_config_has_hook(const struct install_where *where, const struct gitconfig *config,
			     const char *name);

/* ---- a template: install_template.c ---- */

/**
 * The template directory (init.templateDir) from which git copies hooks into
 * new repositories, for a git that has no hooks in its configuration.
 *
 * It contains the user's own template, or else git's, and for each hook a file
 * whose line runs the script in our directory. So what is copied never has to be
 * renewed, and does nothing once that script is gone. Fails if a hook in there
 * cannot take the line.
 */
int install_template_add(struct install_changes *changes, struct strlist *dirs,
			 const struct install_where *where, const char *const names[],
			 const struct gitconfig *config);

/** Whether the user's template was changed since. */
bool install_template_outdated(const struct install_where *where, const char *const names[],
			       const struct gitconfig *config);

/** The user's template directory; NULL: git's own. The caller frees it. */
char *install_template_from(const struct install_where *where, const struct gitconfig *config);

/* ---- status: install_status.c ---- */

/** What helps in most cases where a hook or the guard is not run. */
const char *install_again(const struct install_where *where);

/** Whether a file has the line of that hook. */
bool install_has_line(const char *path, const struct install_where *where, const char *dir,
		      const char *name);

#endif
