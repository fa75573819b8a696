/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WORKTREE_WORKTREE_H
#define CKPT_WORKTREE_WORKTREE_H

/**
 * The user's files: scanned, filtered, and opened without ever leaving the root.
 *
 * This is what other folders include.
 */
#include "worktree/beneath.h"
#include "worktree/displaced.h"
#include "worktree/mounts.h"
#include "worktree/origin.h"
#include "worktree/rules.h"
#include "worktree/scan.h"
#include "worktree/statcache.h"
#include "worktree/swap.h"
#include "worktree/vouch.h"
#include "worktree/watched.h"
#include "worktree/wt_tree.h"

#endif
