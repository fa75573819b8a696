/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_SESSION_H
#define CKPT_SESSION_SESSION_H

#include "base/base.h"
#include "session/inventory.h"
#include "settings/settings.h"

struct gitconfig;
struct repo;
struct store;

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
	char *hint; /**< a sentence about where this folder's checkpoints are instead, or NULL */
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

/*
 * In this folder:
 *
 *   session                 what every command starts with
 *   inventory inventory_whole  all stores of this user; the last state of one that is gone
 */

#endif
