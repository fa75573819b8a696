/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_NODES_INTERNAL_H
#define CKPT_WATCH_WATCH_NODES_INTERNAL_H

#include "base/base.h"

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
	struct watch_node *same_name, *same_watch; /**< in a slot of the two tables */
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
	struct watch_table names, watches;
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

#endif
