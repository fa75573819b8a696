/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_INVENTORY_H
#define CKPT_SESSION_INVENTORY_H

#include "base/base.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct repo;
struct store;

/**
 * All stores below the home. Nothing is written here, and no store is opened
 * as one is for work: what is wrong with one is said about that one and hides
 * none of the others.
 */
enum inventory_state {
	INVENTORY_PRESENT,
	INVENTORY_MISSING,   /**< no such directory now; perhaps on a disk that is not plugged in */
	INVENTORY_MOVED,     /**< it is the current folder, under another path */
	INVENTORY_SET_ASIDE, /**< replaced by another one, see store/health.h and repair/relink.h */
	INVENTORY_DAMAGED,   /**< whose it is cannot be told */
};

const char *inventory_state_name(enum inventory_state state);

struct inventory_item {
	char *key;     /**< name of the directory: the key, for one set aside with more behind it */
	char *path;    /**< of the worktree; NULL: cannot be told */
	char *moved_to; /**< where its folder is now; NULL: not known to have moved */
	char *problem; /**< a sentence; NULL: nothing is known to be wrong */
	enum inventory_state state;
	bool exists; /**< `path` is a directory */
	uint64_t bytes;
	size_t checkpoints;
	int64_t last_used; /**< 0: never */
};

struct inventory_list {
	struct inventory_item *items; /**< newest use first */
	size_t nr, alloc;
};

/** With the current directory `cwd`, its worktree's repository or NULL. No home: an empty list. */
int inventory_read(struct inventory_list *out, const char *home, const char *cwd,
		   const struct repo *repo);
void inventory_release(struct inventory_list *list);

/** True if `name` is that of a store in use: 16 hex digits. */
bool inventory_valid_key(const char *name);

/**
 * Open the directory `key` of `home` for looking, locking and moving, whatever
 * worktree it belongs to: `worktree` of the result is what is recorded, ""
 * if that cannot be read. CKPT_ENOTFOUND if there is none.
 */
int inventory_open(struct store **out, const char *home, const char *key);

/**
 * The same for what a user typed: a key, or the path, relative to `cwd`, that the
 * store belongs to; that need not exist.
 */
int inventory_find(struct store **out, const char *home, const char *cwd, const char *name);

/** Read anew which worktree is recorded. */
void inventory_read_worktree(struct store *store);

/**
 * The directory, `dir` or, with `above`, one on the way up, that is the very
 * one of the store `recorded`, although its path is now another than `path`;
 * NULL if there is none, or if `path` still leads to it. The caller frees it.
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
 * typed, else its key: quoted for the shell, so no quotes belong around it.
 */
void inventory_relink_command(struct strbuf *out, const char *key, const char *path, bool force);

#endif
