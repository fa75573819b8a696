/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_GLOBAL_INTERNAL_H
#define CKPT_HOOKS_INSTALL_GLOBAL_INTERNAL_H

#include "base/base.h"
#include "hooks/install.h"

struct gitconfig;
struct install_record;
struct install_where;
struct repo;
struct session;

/**
 * Hooks for all repositories of the user: what differs from those of one.
 *
 * The scripts are in a directory of the user. From git 2.54 on, the user's configuration names
 * them, for every repository. An older git finds them only in new repositories, by the hooks of a
 * template directory. The guard is named by core.fsmonitor in either case.
 */

/** Whether a template is needed: not if git reads hooks from the configuration, or has a guard. */
void install_global_choose(struct install_record *record, const struct install_where *where,
			   const struct gitconfig *config);

/** The hooks wanted, after that choice; the list ends with NULL. */
void install_global_wanted(const char *names[], const struct install_record *record);

/** Prepare the template; notes say where git will not use it. */
int install_global_plan(struct install_record *record, const struct install_where *where,
			const char *const names[], const struct gitconfig *config,
			struct hooks_report *report);

/** Remove what an earlier install made and this one does not need. */
int install_global_tidy(struct install_record *record, const struct install_where *where,
			const char *const names[], struct strlist *notes);

/** Remove what uninstalling one of a repository does not know of. */
int install_global_undo(const struct install_record *record, const struct install_where *where,
			struct strlist *notes);

/** After a failure: remove the directories that were made for it, if nothing is recorded. */
void install_global_forget(const struct install_where *where, const struct strlist *made);

/** Remove what a killed install left without a record, and our directories if they are empty. */
void install_global_forget_dirs(const struct install_where *where);

/** Set `report->global`, for one repository, whose own hooks are in the report already. */
int install_global_look(struct hooks_report *report, const struct repo *repo);

/**
 * If nothing is installed for all repositories any more, remove the hooks that the template left in
 * this repository.
 */
int install_global_unhook(struct hooks_report *report, const struct session *session);

#endif
