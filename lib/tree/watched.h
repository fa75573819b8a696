/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TREE_WATCHED_H
#define CKPT_TREE_WATCHED_H

#include "tree/statcache.h"

/**
 * Asking a watcher (`git checkpoint watch`, lib/watch) which directories changed since the walk
 * that filled a stat cache. watch/watch.h says why its answer is right.
 *
 * A watcher is never needed, and is trusted with one thing only: which directories a walk may skip.
 * If there is none, if it does not answer within a moment, or if it sees another tree than we do,
 * the walk looks at everything.
 *
 * Two kinds of files change without an event that a watcher could see, so a walk looks at them in
 * any case: those with other names (hard links), because a write through another name is an event
 * elsewhere; and those that had a writer when they were read (WT_RACY), because a store to mapped
 * memory is an event only when the mapping ends.
 */
struct watched {
	bool all;              /**< nothing is known: look at everything */
	struct watch_mark now; /**< to be kept with the result of a walk that begins now; instance 0:
				* nobody watches */
	struct strlist dirs;   /**< directories in which names or files changed, or that themselves
				* changed: relative to the root, "" for the root; sorted */
	struct strlist trees;  /**< directories at or below which anything may have changed; sorted */
};

/** Where the watcher of a store listens. */
#define WATCHED_SOCKET "checkpoint/watch.sock"

/**
 * Ask the watcher of a store, right before a walk. `cache` is the one that the walk will use; if it
 * is NULL, or nobody watched when it was made, only `now` is of use. Never fails, and takes no more
 * than WATCHED_PATIENCE: if anything goes wrong, the answer is `all`.
 */
void watched_ask(struct watched *out, int storefd, const struct statcache *cache);
void watched_release(struct watched *watched);

/* --- for both ends of the connection --- */

/**
 * How a process sees the file system. In another mount namespace, or below another root, the same
 * path may lead to other files.
 */
struct watched_view {
	uint64_t mounts; /**< the mount namespace; 0: unknown, and then equal to no other */
	uint64_t root_dev, root_ino;
};

void watched_view_now(struct watched_view *out);
bool watched_view_equal(const struct watched_view *a, const struct watched_view *b);

struct watched_question {
	struct watch_mark since; /**< instance 0: never */
	struct statcache_id cache;
	struct watched_view view;
};

enum {
	WATCHED_PATIENCE = 200,	      /**< milliseconds for everything */
	WATCHED_QUESTION_MAX = 256,   /**< bytes */
	WATCHED_ANSWER_MAX = 1 << 20, /**< bytes; with more names, it is easier to look at everything */
};

/** A line; and back: false if it is not one. */
void watched_question_format(struct strbuf *out, const struct watched_question *question);
bool watched_question_parse(struct watched_question *out, const char *text, size_t len);

/**
 * A line, then the paths, each with a NUL; and back: false if it is not complete, or anything about
 * it is odd, and then `out` is empty. The lists must be sorted.
 */
void watched_answer_format(struct strbuf *out, const struct watched *answer);
bool watched_answer_parse(struct watched *out, const char *text, size_t len);

/**
 * Send one question to the socket `path` of `dirfd`, and append all that comes back until the end.
 * False, with errno, if nobody listens, somebody else's process does, or it does not answer within
 * `patience` milliseconds, or with more than `max` bytes.
 */
bool watched_talk(struct strbuf *out, int dirfd, const char *path, const struct strbuf *question,
		  int patience, size_t max);

/** Listen there, in the place of a process that is gone; -1 with errno. */
int watched_listen(int dirfd, const char *path);

/** True if the process at the other end is one of this user. */
bool watched_peer_is_us(int fd);

#endif
