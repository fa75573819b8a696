/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_ASKGIT_H
#define CKPT_GIT_ASKGIT_H

#include "git/gitrun.h"

/**
 * Ask git about a repository that is not trusted.
 *
 * On top of what gitrun() promises, git is not started where it would block:
 * at a FIFO or a device in place of one of the repository's files.
 */

/**
 * CKPT_ERROR, naming the file, if something in the git directory, or in an
 * object directory that it borrows from, is a FIFO or a device. Checks the
 * files that every git command reads; refs and single objects are left out.
 */
int askgit_check(const char *gitdir);

/**
 * The same for the file of a loose object (its name in hex); a missing file is
 * fine.
 */
int askgit_check_loose(int objects_fd, const char *hex);

/** gitrun() after that check; `how` must name the repository. */
int askgit(struct strbuf *out, const struct gitrun *how, const char *const args[]);

#endif
