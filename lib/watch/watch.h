/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_H
#define CKPT_WATCH_WATCH_H

#include "base/base.h"

/**
 * A process, one for each user, that watches worktrees. It has two jobs: it tells a save which
 * directories changed, so that the save can skip the others (tree/watched.h asks), and it takes
 * checkpoints by itself.
 *
 * Why an answer is right. There is a node for each directory in the stat cache that was loaded
 * (watch_cover_internal.h). A question names a cache, and a tick: the moment when the walk began
 * that filled the cache.
 *
 *  1. Ticks. Each answer ends a tick and gives out its number; events that are read after that
 *     belong to the next tick. A walk begins after it got its number T, so whatever changes after
 *     the walk has looked at a directory is read after T.
 *  2. A node is armed or loose. Armed: there is a watch on the very directory that its path leads
 *     to, or an event that will make it loose is in the queue (4). Every change in that directory
 *     since it was armed has set `changed`, or is in the queue. Arming sets `changed`, too, because
 *     nobody saw what happened between the walk and that moment. Loose: the answer names it as a
 *     tree, with everything below it, until it can be armed.
 *  3. The nodes are the directories of the cache that the question names. If another cache is
 *     loaded, the one on the disk is loaded first; if that is not the one either, the answer is
 *     "all". Blocks are only added to a file (statcache_id.base), each after those of its
 *     subdirectories, so what an old block has is already here. A directory that is in no cache
 *     needs no node: its parent has changed since, and a walk that finds a new directory looks at
 *     all of it.
 *  4. Whatever happens to the name of a directory makes it loose: its watch is removed with all
 *     those below, so that none is left on a directory that is elsewhere by now. The same happens
 *     if the directory itself reports that it was moved or removed. Parents are armed before their
 *     children are opened, so no renamed directory on the way goes unnoticed; directories are
 *     opened from the root without following a link.
 *  5. Two nodes that get the same watch are the same directory, seen before and after a move: both
 *     become loose.
 *  6. Before an answer, everything is read that happened before the question. The kernel puts
 *     events into one queue, during the call that causes them. Removing a watch, which is kept on a
 *     directory of the store for that, is an event in that queue, too: when it is read, so is
 *     everything before it.
 *  7. If events were lost, or the queue cannot be read, nothing is known: a new instance begins, and
 *     all watches are made again. An instance is a random number; it ends when watching ends.
 *  8. The answer is "all", and gives out no number, if the path of the root leads to another
 *     directory, if something is mounted in the worktree, if its file system may change without
 *     events, or if the save that asks has other mounts than the watcher.
 *
 * No watcher can see writes through another name of a file (hard links), nor stores to mapped
 * memory until the mapping ends. tree/watched.h says what follows from that.
 */

/** In the home of all stores. */
#define WATCH_REGISTRY "watched"    /**< which worktrees are to be watched */
#define WATCH_LOCK "watch.lock"	    /**< flock(2)ed by the process while it runs */
#define WATCH_SOCKET "watch.sock"   /**< where it takes orders */

/** Run in the foreground until told to stop, or until nothing is registered any more. */
int watch_run(const char *home);

/** The real paths that are registered, sorted. CKPT_ECORRUPT if the file is not one of ours. */
int watch_registry_read(struct strlist *out, const char *home);

/** Register `root`, or remove it from the list; `*changed` is false if that was already so. */
int watch_registry_change(bool *changed, const char *home, const char *root, bool add);

/** Whether the process runs; its id, or 0 if that cannot be read. */
bool watch_is_running(pid_t *pid_out, const char *home);

/**
 * Talk to the process: "status", "reload" (the registry changed) or "stop". CKPT_ENOTFOUND if none
 * runs, CKPT_ELOCKED if it does not answer within `patience` milliseconds. The caller frees the
 * answer.
 */
int watch_tell(json_t **out, const char *home, const char *word, int patience);

/** Wait until it has begun to answer, or has ended, at most `seconds`: false if it has not. */
bool watch_await(const char *home, bool running, int seconds);

/*
 * In this folder:
 *
 *   watch_cover watch_nodes  watches on the directories of a worktree, what they tell, what changed
 *                           since a walk; these directories
 *   watch_run               the process: waiting for what comes; connections
 *   watch_tree watch_trees  one worktree; all that are registered, and those linked to them
 *   watch_save watch_pace   saving one in another process, or looking at it if it cannot be watched;
 *                           when
 *   watch_tell              from outside: which worktrees are registered; asking the process
 */

#endif
