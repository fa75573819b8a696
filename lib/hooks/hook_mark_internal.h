/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_MARK_INTERNAL_H
#define CKPT_HOOKS_HOOK_MARK_INTERNAL_H

#include "base/base.h"

struct hook_decision;

/**
 * The result of the hooks of one git command: a small file named after its
 * topmost process.
 *
 * It is locked while a hook runs; a hook that finds it locked waits, and a
 * hook that finds it done, given up, or left by a killed hook does nothing.
 * Marks are in the store, in checkpoint/hooks/; if that cannot be written, or
 * does not exist yet, in a private directory in $XDG_RUNTIME_DIR or $TMPDIR.
 * Those of dead processes are removed when a new one is made.
 */
enum hook_mark_state {
	HOOK_MARK_NONE,  /**< a checkpoint must be taken, or one with more in it */
	HOOK_MARK_OTHER, /**< there is one, for another of the commands that belong together */
	HOOK_MARK_DONE,
};

struct hook_mark {
	enum hook_mark_state state;
	double spent; /**< seconds, by earlier hooks */
	double start;
	int fd;       /**< -1: none is possible */
	char *home;   /**< of all stores; NULL: there is none */
};

/** Call this first. Release it in any case. */
void hook_mark_init(struct hook_mark *mark);
void hook_mark_release(struct hook_mark *mark);

/**
 * True in the usual case, a hundred times in a long rebase: everything was done. Opens nothing
 * else.
 */
bool hook_mark_settled(struct hook_mark *mark, const struct hook_decision *decision);

/** Find or create the mark and lock it, until it is released. */
void hook_mark_enter(struct hook_mark *mark, const struct hook_decision *decision,
		     const char *worktree);
/** Record the result, unless that was done before. */
void hook_mark_leave(const struct hook_mark *mark, const struct hook_decision *decision,
		     bool taken);

#endif
