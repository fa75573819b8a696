/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SESSION_SESSION_H
#define CKPT_SESSION_SESSION_H

#include "base/base.h"
#include "session/inventory.h"
#include "session/newid.h"
#include "settings/settings.h"

#include <stdbool.h>

struct gitconfig;
struct repo;
struct store;

/**
 * What every command begins with: which worktree, which settings, which store.
 */
struct session {
	char *cwd;         /**< real path of the current directory */
	char *worktree;    /**< real path of the worktree's root */
	char *home;        /**< of all stores */
	struct repo *repo; /**< NULL outside of git */
	struct gitconfig *gitconfig;
	struct ckpt_settings settings;
	struct store *store; /**< NULL: there is none yet */
	unsigned threads;
	bool read_whole; /**< nothing above was taken for not there for lack of descriptors or memory */
	char *hint; /**< a sentence about where this folder's checkpoints are instead, or NULL */
};

enum session_flags {
	SESSION_STORE = 1 << 0, /**< fail with CKPT_ENOTFOUND if there is none */
	SESSION_SAVE = 1 << 1,  /**< one that cannot be used is set aside, and a new one made */
	SESSION_ANY = 1 << 2,   /**< one that cannot be used is none */
	SESSION_NO_STORE = 1 << 3, /**< do not open it */
	/** Nothing is mended or written, no settings are read, what cannot be read is not there. */
	SESSION_LOOK = 1 << 4,
};

/** On failure nothing is left to be closed. */
int session_open(struct session *out, unsigned flags);
/** The same for a repository that was found already, and is the session's from now on. */
int session_open_repo(struct session *out, unsigned flags, struct repo *repo);
void session_close(struct session *session);

/** True if an absolute path without links is where stores are kept, or below it. */
bool session_is_home(const struct session *session, const char *path);

/**
 * Turn a path that a user typed, relative to the current directory, into one
 * relative to the worktree's root ("" for the root itself). Fails if it lies
 * outside, in a .git, or beyond a symbolic link.
 */
int session_path(struct strbuf *out, const struct session *session, const char *typed);

#endif
