/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_TREE_INTERNAL_H
#define CKPT_WATCH_WATCH_TREE_INTERNAL_H

#include "base/base.h"
#include "store/store.h"
#include "watch/watch_child_internal.h"
#include "watch/watch_cover_internal.h"
#include "watch/watch_pace_internal.h"
#include "watch/watch_poll_internal.h"

struct repo;

/**
 * One worktree that is watched: its store, its watches, the socket on which saves ask, and the saves
 * that the watcher takes.
 */
struct watch_tree {
	char *root;
	bool linked; /**< not registered itself: a linked worktree of one that is */
	bool wanted; /**< for watch_trees.c: it was found again */
	bool missed; /**< for watch_trees.c: it is gone, and that is known */
	struct store *store;
	struct watch_cover cover; /**< `cover.root` NULL: there are no watches */
	int listener;		  /**< -1: nobody is answered */
	enum watch_trouble trouble;
	double retry;		/**< after trouble: when to try again to watch it */
	struct watch_poll poll; /**< while there are no watches */
	struct watch_pace pace;
	uint64_t heard; /**< changes and new watches that `pace` knows of */
	struct watch_child child;
	int64_t last_save;   /**< when a save last found everything saved, or saved it; 0: never */
	int64_t last_change; /**< when a save last found something to save */
	char *held;	     /**< why no save is taken now, or NULL */
	char *problem;	     /**< what went wrong with the last save, or NULL */
};

struct watch_tree *watch_tree_new(const char *root, bool linked);
void watch_tree_free(struct watch_tree *tree);

/** Open what is missing of store, watches and socket: at the beginning, or after a save. */
void watch_tree_open(struct watch_tree *tree);

/** Read the events of its watches. */
void watch_tree_read(struct watch_tree *tree);

/** Look at it if it is polled and start a save, if these are due and nothing is in the way. */
void watch_tree_save(struct watch_tree *tree);

/** When watch_tree_save() has something to do, by clock_monotonic(); INFINITY: not by itself. */
double watch_tree_due(const struct watch_tree *tree);

/** The save has ended. */
void watch_tree_saved(struct watch_tree *tree);

/** What is mounted may have changed. */
void watch_tree_look_at_mounts(struct watch_tree *tree);

/** Append the answer to a question of a save. */
void watch_tree_answer(struct strbuf *out, struct watch_tree *tree,
		       const struct watched_question *question);

/** For `watch status`. */
json_t *watch_tree_status(const struct watch_tree *tree);

#endif
