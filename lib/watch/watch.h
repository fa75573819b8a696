/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_H
#define CKPT_WATCH_WATCH_H

#include "base/base.h"

/**
 * A process, one for each user, that watches worktrees. It has two jobs: it tells a save which
 * directories changed, so that the others need not be looked at (worktree/watched.h asks), and it
 * takes checkpoints by itself.
 *
 * Why an answer is right. For each directory that the loaded stat cache has there is a node
 * (watch_nodes_internal.h); the question names a cache, and a tick, the moment at which the walk
 * began that the cache comes from.
 *
 *  1. Ticks. Each answer ends a tick: it gives out its number, and what is heard of later belongs
 *     to the next one. A walk begins after it got its number T, so what happens after the walk has
 *     looked at a directory is heard of later than T.
 *  2. A node is armed or loose. Armed: a watch is on the very directory that its path leads to, or
 *     an event that makes it loose is on its way (4); every change in that directory since it was
 *     armed has set `changed`, or is on its way; and when it was armed, `changed` was set, because
 *     nobody saw what happened between the walk and that moment. Loose: it is named as a tree, with
 *     everything below it, until it can be armed.
 *  3. The nodes are the directories of the cache that was asked about: if another one was loaded,
 *     the one on the disk is loaded first, and if that is not the one either, the answer is "all".
 *     Within one file (statcache_id.base) blocks are only added, each after those below it: what an
 *     old block has is already here. A directory that no cache has needs no node: the one that has
 *     its name has changed since, and a walk that finds it new looks at all of it.
 *  4. Whatever happens to the name of a directory makes it loose: its watches are taken away with
 *     all those below, so that none is left on a directory that is elsewhere by now. The same if
 *     the directory itself says that it was moved or removed. Since parents are armed before their
 *     children are opened, no change of a name on the way goes unnoticed; directories are opened
 *     from the root without following a link.
 *  5. Two nodes that get the same watch are the same directory, seen before and after a move: both
 *     are loose.
 *  6. Before an answer all is taken in that happened before the question. The kernel puts events
 *     into one queue, during the call that causes them; a watch on a directory of the store that is
 *     taken away is an event in that queue, too, and when it is read, so is everything before it.
 *  7. If events were lost, or the queue cannot be read, nothing is known: a new instance, and the
 *     watches are made again. An instance is a random number; it ends when watching ends.
 *  8. If the path of the root leads to another directory, if something is mounted in the worktree,
 *     if its file system may change without telling, or if who asks sees other mounts, the answer is
 *     "all", and gives out no number.
 *
 * Not seen, by anybody who watches: writes through another name of a file (hard links), and what
 * is stored in mapped memory, until the mapping ends. worktree/watched.h says what follows.
 */

/** In the home of all stores. */
#define WATCH_REGISTRY "watched"    /**< which worktrees are to be watched */
#define WATCH_LOCK "watch.lock"	    /**< flock(2)ed by the process while it runs */
#define WATCH_SOCKET "watch.sock"   /**< where it takes orders */

/** Run in the foreground until told to stop, or until nothing is registered any more. */
int watch_run(const char *home);

/** The real paths that are registered, sorted. CKPT_ECORRUPT if the file is not one of ours. */
int watch_registry_read(struct strlist *out, const char *home);

/** Register `root`, or strike it off; `*changed` is false if that was already so. */
int watch_registry_change(bool *changed, const char *home, const char *root, bool add);

/** Whether the process runs; its id if `/proc` tells, or else 0. */
bool watch_is_running(pid_t *pid_out, const char *home);

/**
 * Talk to the process: "status", "reload" (the registry changed) or "stop". CKPT_ENOTFOUND if none
 * runs, CKPT_ELOCKED if it does not answer within `patience` milliseconds. The caller frees the
 * answer.
 */
int watch_tell(json_t **out, const char *home, const char *word, int patience);

/** Wait until it has begun to answer, or has ended, at most `seconds`: false if it has not. */
bool watch_await(const char *home, bool running, int seconds);

#endif
