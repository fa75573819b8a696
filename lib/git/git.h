/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GIT_H
#define CKPT_GIT_GIT_H

/**
 * The project's repository: found and read; written by gitwrite.h alone, when a user asks for
 * that by name.
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
#include "git/gitstat.h"
#include "git/gitstate.h"
#include "git/gitwrite.h"
#include "git/pathspec.h"
#include "git/repo.h"

/*
 * In this folder:
 *
 *   gitrun askgit           the only place that starts git; asking it about a repository
 *   repo repo_state gitfile  discovery; HEAD and operations in progress; .git files
 *   gitstate gitstate_refs gitstate_index gitstate_op  branches, stashes, what is staged, an
 *                           operation's files
 *   gitstate_stashed        what was staged before a rebase put it aside
 *   gitstate_check gitstat  whether all of that can be git's; whether it may have changed
 *   repo_worktrees repo_peek  the other worktrees of a repository; where a nested one is
 *   gitindex                the index: its entries, and what it tracks
 *   gitconfig configtext configcond  configuration, its text, its includeIf
 *   exclude pathspec wildmatch  ignore patterns, patterns for paths
 *   gitdate                 times as people write them
 *   gitwrite_refs gitwrite_index gitwrite_operation gitwrite_objects gitwrite_locks
 *                           changing refs, the index, an operation's files; whose locks are in the
 *                           way
 *   gitwrite_worktree       making a linked worktree
 */

#endif
