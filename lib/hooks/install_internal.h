/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_INSTALL_INTERNAL_H
#define CKPT_HOOKS_INSTALL_INTERNAL_H

#include "base/base.h"
#include "hooks/install_record_internal.h"

struct gitconfig;
struct repo;

/** What the files of installing share. */

/** The main worktree, if the git directory is its ".git", otherwise NULL; the caller frees it. */
char *install_main_worktree(const struct repo *repo);

/** Whether both paths are names of one file, links not followed. */
bool install_same_file(const char *a, const char *b);

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
