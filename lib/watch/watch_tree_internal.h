/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WATCH_WATCH_TREE_INTERNAL_H
#define CKPT_WATCH_WATCH_TREE_INTERNAL_H

#include "store/store.h"
#include "watch/watch_cover_internal.h"

/* --- when to save: watch_pace.c --- */

/**
 * Decides when a worktree is saved, from its arguments alone. All times are those of
 * clock_monotonic().
 */
struct watch_pace {
	double quiet, max;	/**< seconds: watchQuiet and watchMax */
	double first, last;	/**< of the changes that are not saved yet; `first` 0: there are none */
	double not_before;	/**< after a failure, or while something is in the way */
	unsigned failures;	/**< in a row */
	unsigned holds;		/**< in a row */
};

/** Something changed. */
void watch_pace_changed(struct watch_pace *pace, double now);

/** Nobody can tell whether something changed: save after `max`, unless changes are known. */
void watch_pace_blind(struct watch_pace *pace, double now);

/** A save begins; what changes from now on is not in it. */
void watch_pace_began(struct watch_pace *pace);

/** It failed: the changes are still not saved. After each failure the next try comes later. */
void watch_pace_failed(struct watch_pace *pace, double now);

/** A git command or a restore is at work: look again, after a longer and longer while. */
void watch_pace_hold(struct watch_pace *pace, double now);

/** When to save; INFINITY: there is nothing to save. */
double watch_pace_due(const struct watch_pace *pace);

/** Whether it is due although changes go on. */
bool watch_pace_is_busy(const struct watch_pace *pace, double now);

/* --- one worktree: watch_tree.c; its saves: watch_save.c --- */

/**
 * Looking at a worktree that cannot be watched: the times of its directories tell that a name was
 * made, renamed or removed, and that is what most editors and tools do to write a file. Whoever
 * writes into a file that stays in place changes no directory; only a save finds that.
 */
struct watch_poll {
	uint64_t seen; /**< what the directories were like at the last look; 0: none yet */
	double next;   /**< when to look again, by clock_monotonic(); INFINITY: not at all */
};

/**
 * A save in a child process: whatever goes wrong in it, watching goes on; and this process is free
 * to answer when the save asks what changed.
 */
struct watch_child {
	pid_t pid; /**< 0: none runs */
	int pidfd; /**< readable when it has ended */
	int out;   /**< what it printed */
};

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

/** Tell a save to stop, and wait for that. */
void watch_save_stop(struct watch_child *child);

/** What is mounted may have changed. */
void watch_tree_look_at_mounts(struct watch_tree *tree);

/** Append the answer to a question of a save. */
void watch_tree_answer(struct strbuf *out, struct watch_tree *tree,
		       const struct watched_question *question);

/** For `watch status`. */
json_t *watch_tree_status(const struct watch_tree *tree);

/* --- all of them: watch_trees.c --- */

/** A directory that is registered, and the repository that it was last found to belong to. */
struct watch_root {
	char *path;
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
	struct watch_root *roots;
	size_t roots_nr;
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
