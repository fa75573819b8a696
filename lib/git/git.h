/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GIT_H
#define CKPT_GIT_GIT_H

/**
 * The project's repository: found and read. Its state as a whole, and changing it, is gitstate/.
 *
 * This is what other folders include.
 */
#include "git/askgit.h"
#include "git/configtext.h"
#include "git/exclude.h"
#include "git/gitconfig.h"
#include "git/gitdate.h"
#include "git/gitfile.h"
#include "git/gitindex.h"
#include "git/gitrun.h"
#include "git/pathspec.h"
#include "git/repo.h"

/*
 * In this folder:
 *
 *   gitrun askgit           the only place that starts git; asking it about a repository
 *   repo repo_state gitfile  discovery; HEAD and operations in progress; .git files
 *   repo_worktrees repo_peek  the other worktrees of a repository; where a nested one is
 *   gitindex                the index: its entries, and what it tracks
 *   gitconfig configtext configcond  configuration, its text, its includeIf
 *   exclude pathspec wildmatch  ignore patterns, patterns for paths
 *   gitdate                 times as people write them
 */

#endif
