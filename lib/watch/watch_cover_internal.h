/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_COVER_INTERNAL_H
#define CKPT_WATCH_WATCH_COVER_INTERNAL_H

#include "tree/tree.h"

/* --- watch_nodes.c --- */

enum watch_key { WATCH_BY_NAME, WATCH_BY_WATCH, WATCH_KEYS };

/**
 * The directories of a worktree as the watcher knows them: which watch each has, and when it last
 * changed. Memory only; nothing here asks the kernel.
 *
 * A node is armed if it has a watch: a number that the kernel gave out, and no other node has. It
 * is loose if not: whatever is at or below it may have changed. A loose node has no nodes below it.
 * It costs about 130 bytes and its name.
 */
struct watch_node {
	struct watch_node *parent;     /**< NULL: the root */
	struct watch_node *child;      /**< one of those below, or NULL */
	struct watch_node *next, *prev; /**< the others with the same parent */
	struct watch_node *same[WATCH_KEYS]; /**< in a slot of each of the two tables */
	struct watch_node *newer, *older; /**< armed: by time of change; loose: the others */
	uint64_t changed;                 /**< the tick of its last change; loose: not used */
	uint32_t seen;	    /**< the number of the walk that last came here, see watch_cover.c */
	int watch;	    /**< -1: loose */
	bool loose_below;   /**< it is loose, or a node below it is */
	char name[];
};

struct watch_table {
	struct watch_node **slots;
	size_t nr, size; /**< a power of two, or 0 */
};

struct watch_nodes {
	struct watch_node *root; /**< NULL: there are none */
	struct watch_node *newest; /**< of those that are armed */
	struct watch_node *loose;  /**< the first of those that are not */
	size_t nr, loose_nr;
	struct watch_table tables[WATCH_KEYS];
	void (*gone)(int watch, void *payload); /**< called for each watch that has no node any more */
	void *payload;
};

/** The root is "", any other a name in `parent`, which is armed. The new node is loose. */
struct watch_node *watch_nodes_add(struct watch_nodes *nodes, struct watch_node *parent,
				   const char *name);

/** NULL if there is none. */
struct watch_node *watch_nodes_child(const struct watch_nodes *nodes,
				     const struct watch_node *parent, const char *name);
struct watch_node *watch_nodes_of(const struct watch_nodes *nodes, int watch);

/** Give a loose node a watch that no other has; it changed at `tick`. */
void watch_nodes_arm(struct watch_nodes *nodes, struct watch_node *node, int watch, uint64_t tick);

/** Forget everything below, and make it loose. */
void watch_nodes_loosen(struct watch_nodes *nodes, struct watch_node *node);

/** Remove it, with everything below. */
void watch_nodes_drop(struct watch_nodes *nodes, struct watch_node *node);

/** An armed node changed. Ticks never go back. */
void watch_nodes_touch(struct watch_nodes *nodes, struct watch_node *node, uint64_t tick);

/** After the nodes below were armed: whether some still are loose. */
void watch_nodes_settle(struct watch_node *node);

/** Append its path, relative to the root. */
void watch_nodes_path(struct strbuf *out, const struct watch_node *node);

/** Remove all, without telling. */
void watch_nodes_release(struct watch_nodes *nodes);

/* --- watch_cover.c --- */

/**
 * All watches on one worktree, and what they told. Why the answers are right is in watch.h, whose
 * numbers the code cites.
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

/** Read what has happened; does not block. */
void watch_cover_read(struct watch_cover *cover);

/** What changed since then; the caller releases it. `trouble_out` is that of loading a new cache. */
void watch_cover_answer(struct watched *out, enum watch_trouble *trouble_out,
			struct watch_cover *cover, const struct watched_question *question,
			const struct watched_view *view);

#endif
