/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_INVENTORY_H
#define CKPT_SESSION_INVENTORY_H

#include "base/base.h"
#include "record/record.h"

struct repo;
struct store;

/**
 * All stores below the home. Nothing is written here, and no store is opened
 * the way it is for work: a problem with one store is reported for that store
 * and hides none of the others.
 */
enum inventory_state {
	INVENTORY_PRESENT,
	INVENTORY_MISSING,   /**< no such directory now; perhaps on a disk that is not plugged in */
	INVENTORY_MOVED,     /**< it is the current folder, under another path */
	INVENTORY_SET_ASIDE, /**< replaced by another one, see store/health.h and repair/repair.h */
	INVENTORY_DAMAGED,   /**< its worktree is unknown */
};

const char *inventory_state_name(enum inventory_state state);

struct inventory_item {
	char *key;     /**< name of the directory: the key, followed by more if it was set aside */
	char *path;    /**< of the worktree; NULL: unknown */
	char *moved_to; /**< where its folder is now; NULL: not known to have moved */
	char *problem; /**< a sentence; NULL: nothing is known to be wrong */
	enum inventory_state state;
	bool exists; /**< `path` is a directory */
	bool lost;   /**< gone, and the current repository still has it as a linked worktree */
	uint64_t bytes;
	size_t checkpoints;
	char last_whole[CKPT_ID_SIZE]; /**< if it is gone, and its newest one is not its
				       * last state: that; else "" */
	int64_t last_used; /**< 0: never */
};

struct inventory_list {
	struct inventory_item *items; /**< most recently used first */
	size_t nr, alloc;
};

/**
 * `cwd` is the current directory, `repo` the repository of its worktree or NULL. Without a home the
 * list is empty.
 */
int inventory_read(struct inventory_list *out, const char *home, const char *cwd,
		   const struct repo *repo);
void inventory_release(struct inventory_list *list);

/**
 * Open the directory `key` of `home` for reading, locking and moving, whatever
 * worktree it belongs to: `worktree` of the result is the recorded one, "" if
 * that cannot be read. CKPT_ENOTFOUND if it does not exist.
 */
int inventory_open(struct store **out, const char *home, const char *key);

/**
 * The same for what a user typed: a key, or the path, relative to `cwd`, to which
 * the store belongs; the path need not exist.
 */
int inventory_find(struct store **out, const char *home, const char *cwd, const char *name);

/** Read the recorded worktree again. */
void inventory_read_worktree(struct store *store);

/**
 * The directory, `dir` or, with `above`, one of its parents, that is the one
 * of the store `recorded` although its path is no longer `path`; NULL if there
 * is none, or if `path` still leads to it. The caller frees it.
 */
char *inventory_moved_to(const struct identity *recorded, const char *path, const char *dir,
			 bool above);

/**
 * Look for a store of `dir` (see inventory_moved_to()) under another path, and
 * append a sentence about how to adopt it. False if there is none.
 */
bool inventory_hint(struct strbuf *out, const char *home, const char *dir, bool above);

/**
 * Append "git checkpoint relink ..." for a store, with its path if that can be
 * typed, otherwise its key: already quoted for the shell.
 */
void inventory_relink_command(struct strbuf *out, const char *key, const char *path, bool force);

/**
 * If the worktree is gone but its checkpoints are not, append the command that
 * brings it back, quoted for the shell; else false.
 */
bool inventory_way_back(struct strbuf *out, const struct inventory_item *item);

#endif
