/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_WORKTREE_H
#define CKPT_TREE_WORKTREE_H

/**
 * The user's files: scanned, filtered, and opened without ever leaving the root.
 *
 * This is what other folders include.
 */
#include "tree/beneath.h"
#include "tree/displaced.h"
#include "tree/mounts.h"
#include "tree/origin.h"
#include "tree/rules.h"
#include "tree/scan.h"
#include "tree/statcache.h"
#include "tree/swap.h"
#include "tree/watched.h"
#include "tree/wt_tree.h"

#endif
