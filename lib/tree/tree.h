/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_WORKTREE_H
#define CKPT_TREE_WORKTREE_H

/**
 * The user's files: scanned, filtered, and opened without ever leaving the root.
 *
 * This is what other folders include.
 */
#include "tree/beneath.h"
#include "tree/swap.h"
#include "tree/statcache.h"
#include "tree/rules.h"
#include "tree/scan.h"
#include "tree/watched.h"
#include "tree/wt_tree.h"

/*
 * In this folder:
 *
 *   scan scan_visit skip    the parallel walk; what was left out and why
 *   scan_cached             directories that need not be listed; those that need not be looked at
 *   rules                   what belongs in a checkpoint; rules from outside the worktree
 *   statcache statcache_write  files that need not be read again
 *   origin                  on which boot they were read
 *   wt_tree                 a directory tree in memory
 *   watched                 asking a watcher what changed
 *   beneath mounts          opening files without leaving the root; other file systems in it
 *   swap displaced          renames that never overwrite; whether a file is what the scan saw
 */

#endif
