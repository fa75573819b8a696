/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_INTERNAL_H
#define CKPT_HOOKS_INSTALL_INTERNAL_H

#include "base/base.h"
#include "hooks/install.h"
#include "hooks/install_record_internal.h"

struct gitconfig;
struct hooks_report;
struct install_where;
struct repo;

/** What the files of installing share. */

/** The main worktree, if the git directory is its ".git", otherwise NULL; the caller frees it. */
char *install_main_worktree(const char *commondir);

/** Whether both paths are names of one file, links not followed. */
bool install_same_file(const char *a, const char *b);

/** "~/" at the beginning is git's to expand, not the shell's. The caller frees it. */
char *install_expand_home(const char *value);

/** In hex; the caller frees it. */
char *install_sha256(const struct strbuf *text);

/** In our directory: what the program answered, see hook_answer_write(). */
#define INSTALL_ANSWER "answer"

/** Add those that must be created for `path`, itself included, outermost first. */
void install_missing_dirs(struct strlist *dirs, const char *path);

/** Remove the directories that we created, if they are empty. */
void install_remove_dirs(const struct strlist *dirs);

/** What helps in most cases where a hook or the guard is not run. */
const char *install_again(const struct install_where *where);

/** Add an item of hook_names[]; why it does not run, and what to do, are used only if it does not. */
void install_report_add(struct hooks_report *report, const char *name, enum hooks_state state,
			const char *why, const char *advice);

/** Add the guard, after all hooks. */
void install_report_guard(struct hooks_report *report, const struct install_where *where,
			  const struct gitconfig *config);

enum { INSTALL_NAMES = 3 };

/** The hooks that the record's choices ask for, without the guard; the list ends with NULL. */
void install_wanted(const char *names[INSTALL_NAMES], const struct install_record *record);

/**
 * The directory from which git takes hooks, absolute. False if nothing may be
 * written there, with a clause to put after its name: it does not belong to
 * this repository alone, or it is tracked.
 */
bool install_directory(struct strbuf *out, const char **why_out, const struct repo *repo,
		       const struct gitconfig *config);

#endif
