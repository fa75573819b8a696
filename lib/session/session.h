/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_SESSION_H
#define CKPT_SESSION_SESSION_H

#include "record/record.h"
#include "settings/settings.h"

/** What every command starts with: which worktree, which settings, which store. */
struct session {
	char *cwd;         /**< real path of the current directory */
	char *worktree;    /**< real path of the worktree's root */
	char *home;        /**< of all stores */
	struct repo *repo; /**< NULL outside git */
	struct gitconfig *gitconfig;
	struct ckpt_settings settings;
	struct store *store; /**< NULL: none yet */
	unsigned threads;
	bool read_whole; /**< nothing above was considered missing for lack of descriptors or memory */
	char *elsewhere; /**< a sentence about where this folder's checkpoints are instead, or NULL */
};

enum session_flags {
	SESSION_STORE = 1 << 0, /**< fail with CKPT_ENOTFOUND if there is no store */
	SESSION_SAVE = 1 << 1,  /**< set an unusable store aside, and create a new one */
	SESSION_ANY = 1 << 2,   /**< treat an unusable store as none */
	SESSION_NO_STORE = 1 << 3, /**< do not open it */
	/** Repair and write nothing, read no settings, and treat what cannot be read as missing. */
	SESSION_LOOK = 1 << 4,
};

/** After a failure there is nothing to close. */
int session_open(struct session *out, unsigned flags);
/** The same for a repository that was already found; the session takes it over. */
int session_open_repo(struct session *out, unsigned flags, struct repo *repo);
void session_close(struct session *session);

/**
 * From now on the current directory is the worktree, and nothing else is looked for: whoever has
 * started us knows, and no configuration and no repository above it can say otherwise.
 */
void session_stay(void);

/** True if an absolute path without links is the home of the stores, or below it. */
bool session_is_home(const struct session *session, const char *path);

/**
 * Turn a path that a user typed, relative to the current directory, into one
 * relative to the worktree's root ("" for the root itself). Fails if it is
 * outside, in a .git, or beyond a symbolic link.
 */
int session_path(struct strbuf *out, const struct session *session, const char *typed);

/** The other way round: append a path that leads there from the current directory. */
void session_from_here(struct strbuf *out, const struct session *session, const char *path);

/** By any name that people type, also one of a turn: see lookup_name() and turns_lookup(). */
int session_lookup(struct ckpt_record *out, struct store *store, const char *name);

/* --- inventory.c --- */

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
bool inventory_elsewhere(struct strbuf *out, const char *home, const char *dir, bool above);

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

/*
 * In this folder:
 *
 *   session                 what every command starts with
 *   inventory               all stores of this user; the last state of one that is gone
 */

#endif
