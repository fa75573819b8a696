/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_TREES_INTERNAL_H
#define CKPT_WATCH_WATCH_TREES_INTERNAL_H

#include "base/base.h"
#include "watch/watch_tree_internal.h"

struct repo;

/** A directory that is registered, and the repository that it was last found to belong to. */
struct watch_place {
	char *root;
	struct repo *repo; /**< NULL: none */
};

/** A watch on a directory in which a name may appear, or go. */
struct watch_name {
	int watch;
	char *name; /**< NULL: any name */
};

/**
 * All worktrees that are watched: those that are registered, and the linked worktrees of their
 * repositories, which come and go.
 */
struct watch_trees {
	char *home;
	struct watch_place *places;
	size_t places_nr;
	struct watch_tree **items;
	size_t nr, alloc;
	int inotify; /**< tells that worktrees may have come or gone; -1: not possible */
	struct watch_name *names;
	size_t names_nr, names_alloc;
	double again;	   /**< when to look again, by clock_monotonic(); INFINITY: when told to */
	unsigned tries;	   /**< how many times that has been done since something was told */
	char *problem;	   /**< with the registry, or NULL */
	/** A tree is about to go. */
	void (*gone)(struct watch_tree *tree, void *payload);
	void *payload;
};

void watch_trees_init(struct watch_trees *out, const char *home);
void watch_trees_release(struct watch_trees *trees);

/** Read the registry again, and find what there is. */
void watch_trees_look(struct watch_trees *trees);

/** Read what `inotify` tells; sets `again`. */
void watch_trees_read(struct watch_trees *trees);

/** Set `again` if a tree has gone missing: its way has to be watched, so that it can come back. */
void watch_trees_miss(struct watch_trees *trees);

#endif
