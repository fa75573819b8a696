/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_COVER_INTERNAL_H
#define CKPT_WATCH_WATCH_COVER_INTERNAL_H

#include "base/base.h"
#include "tree/tree.h"
#include "watch/watch_nodes_internal.h"

/**
 * All watches on one worktree, and what they told. Why the answers are right is in watch.h, whose
 * numbers the code cites.
 *
 * watch_cover.c puts watches where a stat cache has directories, watch_events.c reads what they
 * tell, watch_answer.c answers from it.
 */
struct watch_cover {
	char *root; /**< absolute path */
	dev_t dev;  /**< of the directory that is watched, wherever that path leads by now */
	ino_t ino;
	int inotify;
	int storefd;	   /**< not owned */
	uint64_t instance; /**< never 0 */
	uint64_t tick;
	struct watch_nodes nodes;
	struct statcache_id loaded; /**< whose directories the nodes are; size 0: none yet */
	uint32_t walks;	   /**< how many times a cache was loaded */
	int cookie;	   /**< a watch that is there to be removed; -1: none */
	bool lost;	   /**< events were lost: what the nodes say does not count */
	bool gone;	   /**< the root was moved, removed or unmounted */
	bool blind;	   /**< the owner knows of changes that give no events: answer nothing */
	uint64_t changes;  /**< how many events there were in the worktree */
	uint64_t armed;	   /**< how many times a directory got a watch; nobody saw what happened in
			    * it before */
};

enum watch_trouble {
	WATCH_NONE,
	WATCH_GONE,	    /**< the root is not there, or another directory is */
	WATCH_NO_WATCHES,   /**< fs.inotify.max_user_watches, or memory */
	WATCH_NO_INSTANCES, /**< fs.inotify.max_user_instances, or descriptors */
};

/** `root` is a real path. After trouble there is nothing to close. */
enum watch_trouble watch_cover_open(struct watch_cover *out, const char *root, int storefd);
void watch_cover_close(struct watch_cover *cover);

/**
 * Put watches on all directories of the store's stat cache that have none, and remove those of
 * others. Without a cache only the root is watched. After trouble the cover is of no use.
 */
enum watch_trouble watch_cover_load(struct watch_cover *cover);

/** A new watch on a directory of the store that nobody else watches here (6). -1 with errno. */
int watch_cover_add_cookie(const struct watch_cover *cover);

/** Read what has happened; does not block. */
void watch_cover_read(struct watch_cover *cover);

/** Read everything that happened before this call (6). False if that is not possible. */
bool watch_cover_sync(struct watch_cover *cover);

/** Events were lost (7). */
void watch_cover_lose(struct watch_cover *cover);

/** What changed since then; the caller releases it. `trouble_out` is that of loading a new cache. */
void watch_cover_answer(struct watched *out, enum watch_trouble *trouble_out,
			struct watch_cover *cover, const struct watched_question *question,
			const struct watched_view *view);

#endif
