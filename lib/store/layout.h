/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_LAYOUT_H
#define CKPT_STORE_LAYOUT_H

#include "base/base.h"

/** The files of a new store, for shadow.c; their contents, for health.c. */

#define LAYOUT_NUMBER "1"
#define LAYOUT_VERSION "git-checkpoint " LAYOUT_NUMBER

/**
 * The names of files and directories in a store that several files of the
 * source deal with. The manual, git-checkpoint-format(5), describes them.
 */
#define LAYOUT_VERSION_FILE "checkpoint/version"
#define LAYOUT_WORKTREE "checkpoint/worktree" /**< the directory that the store belongs to */
#define LAYOUT_SETTINGS "checkpoint/config"   /**< settings for this worktree */
#define LAYOUT_LOCK "checkpoint/lock"
#define LAYOUT_GC_LOCK "checkpoint/gc.lock"
#define LAYOUT_STATE "checkpoint/state" /**< see store/state.h */
#define LAYOUT_STATCACHE "checkpoint/statcache"
#define LAYOUT_LOG "checkpoint/log" /**< the audit trail */
#define LAYOUT_CACHE "checkpoint/cache" /**< see store/cache.h */
#define LAYOUT_JOURNAL "checkpoint/journal"
#define LAYOUT_UNDO "checkpoint/undo"
#define LAYOUT_TURNS "checkpoint/turns" /**< what coding agents did */
#define LAYOUT_FLOW "checkpoint/flow"

extern const char layout_head[], layout_attributes[];

/** The directories, each after the one that contains it; ends with NULL. */
extern const char *const layout_dirs[];

/** The configuration that stock git reads. */
void layout_config(struct strbuf *out, const char *worktree);

/** Create the store `path` of `worktree`. It is not an error if another process was first. */
int layout_create(const char *home, const char *path, const char *worktree);

/**
 * Lock the home of all stores, shared or exclusively; returns a descriptor to
 * be closed, or -1 with errno. Half-made stores of dead processes are removed.
 */
int layout_lock_home(const char *home, bool alone);

#endif
