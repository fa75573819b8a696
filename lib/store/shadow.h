/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_SHADOW_H
#define CKPT_STORE_SHADOW_H

#include "tree/tree.h"

struct git_odb;
struct git_repository;
struct packed_refs;
struct packs;
struct state;

/**
 * A store: the GIT_DIR, one for each worktree, that holds its checkpoints.
 *
 *     <home>/<key>/   objects/ refs/ HEAD config info/  what stock git reads
 *                     checkpoint-manifest.md            the list for people
 *                     checkpoint/                       private: see layout.h
 *
 * <key> is the beginning of the SHA-256 of the worktree's real path; the full
 * path is compared, so two worktrees never share a store.
 *
 * A store is made under a temporary name and renamed, so that it is there
 * whole or not at all, whoever else makes it at the same time.
 */
struct store {
	char *path;     /**< absolute */
	char *worktree; /**< absolute, real */
	int dirfd;
	int lockfd; /**< -1: not locked */
	bool briefs_wrong; /**< see brief_forget() in record/brief.h */
	unsigned nested; /**< how many more times this process has locked it */
	struct strlist damage;      /**< a sentence about each thing that was wrong when it was opened */
	bool no_settings;           /**< they are damaged, or were and are not set again */
	struct loose_refs *loose;   /**< refs as last read, see refs.c */
	struct packed_refs *packed; /**< packed-refs as last read, see refs_internal.h */
	struct keepers *keepers;    /**< as they were last read, see keepers.h */
	struct state *state;	    /**< as last read, see state.h */
	struct packs *packs;        /**< these three are opened on first use, see objects.h */
	progress_fn progress;	    /**< told of long work on packs; NULL: nobody looks */
	struct git_repository *git;
	struct git_odb *odb;
};

enum { STORE_KEY_SIZE = 17 };

/** The home of all stores; the caller frees it. Does not create it. */
int store_home(char **out);

/**
 * Make sure that it is there. CKPT_ERROR, with what to do, if it belongs to somebody else or others
 * may write in it: it is left as it is.
 */
int store_make_home(const char *home);

/** The name of a worktree's store. */
void store_key(char out[STORE_KEY_SIZE], const char *worktree);

/** True if `worktree` has a store with a checkpoint in it, without opening it. */
bool store_exists(const char *home, const char *worktree);

/**
 * Open the store of `worktree`; CKPT_ENOTFOUND if it has none, CKPT_ECORRUPT if
 * there is a file in its place. Nothing is written: what is wrong with its own
 * files is noted, and repaired by whoever locks it, see health.h.
 */
int store_open(struct store **out, const char *worktree);

/** The same, but create it if there is none; a file in its place is renamed. */
int store_open_or_create(struct store **out, const char *worktree);

/** CKPT_ERROR if a checkpoint could not be taken now: it may not be written, or no space is left. */
int store_check_writable(const struct store *store);

/** Open one that has another name, or whose state does not matter, for reading only. */
int store_open_aside(struct store **out, const char *path, const char *worktree);

void store_close(struct store *store);

/**
 * Wait for the store's lock, at most `timeout` seconds: CKPT_ELOCKED, naming
 * the process that holds it. A lock ends with its process. Repairs what was found
 * wrong, and removes what dead processes left half-made. If this process already holds it, it is locked
 * once more, and free for others when it was unlocked as often.
 */
int store_lock(struct store *store, int64_t timeout);
void store_unlock(struct store *store);

/**
 * For readers, which write nothing: a descriptor that keeps others from changing the
 * store until it is closed, or -1 if one is changing it now.
 */
int store_hold_still(const struct store *store);

#endif
