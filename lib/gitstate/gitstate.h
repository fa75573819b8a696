/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITSTATE_H
#define CKPT_GITSTATE_GITSTATE_H

/**
 * The state of the project's repository, as a part of a checkpoint: read, recorded, and made again.
 * The repository is written here alone, when a user asks for that by name.
 *
 * This is what other folders include.
 */
#include "gitstate/gitback.h"
#include "gitstate/gitforeign.h"
#include "gitstate/gitleft.h"
#include "gitstate/gitplan.h"
#include "gitstate/gitread.h"
#include "gitstate/gitrecord.h"
#include "gitstate/gitsave.h"
#include "gitstate/gitwrite.h"

/*
 * In this folder:
 *
 *   gitread gitstate_refs gitstate_index gitstate_op  the state: all of it; branches and stashes,
 *                           what is staged, an operation's files
 *   gitstate_stashed        what was staged before a rebase put it aside
 *   gitstate_check          whether all of that can be git's
 *   gitsave                 a state on its way into a checkpoint, with contents that it alone has
 *   gitrecord               a state in a checkpoint: a tree of texts and contents
 *   gitforeign              the border: what of a state that was taken elsewhere may come in
 *   gitplan                 what a restore changes of it, from two states; how that is told
 *   gitback gitback_look    doing that, with a journal; what the repository says about it
 *   gitleft                 what a restore of files leaves of repositories, and what brings it back
 *   gitwrite_refs gitwrite_index gitwrite_operation gitwrite_objects gitwrite_locks
 *                           changing refs, the index, an operation's files; whose locks are in the
 *                           way
 *   gitwrite_worktree       making a linked worktree
 */

#endif
