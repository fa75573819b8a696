/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_MARK_INTERNAL_H
#define CKPT_HOOKS_HOOK_MARK_INTERNAL_H

#include <stdbool.h>

struct hook_decision;

/**
 * What came of the hooks of one git command: a small file named after its
 * topmost process.
 *
 * It is locked while a hook is at work; a hook that finds it locked waits, one
 * that finds it done, given up, or left by a hook that was killed,
 * leaves it at that. Marks lie in the store, in checkpoint/hooks/; where that
 * cannot be written, or is not there yet, in a private directory in
 * $XDG_RUNTIME_DIR or $TMPDIR. Those of processes that are gone are swept when
 * a new one is made.
 */
enum hook_mark_state {
	HOOK_MARK_NONE,  /**< a checkpoint has to be taken, or one with more in it */
	HOOK_MARK_OTHER, /**< there is one, for another of the commands that belong together */
	HOOK_MARK_DONE,
};

struct hook_mark {
	enum hook_mark_state state;
	double spent; /**< seconds, by hooks before this one */
	double start;
	int fd;       /**< -1: there can be none */
	char *home;   /**< of all stores; NULL: there is none */
};

/** Begins with this. To be released, whatever else is done with it. */
void hook_mark_init(struct hook_mark *mark);
void hook_mark_release(struct hook_mark *mark);

/** True in the usual case, a hundred times in a long rebase: all was done. Opens nothing else. */
bool hook_mark_settled(struct hook_mark *mark, const struct hook_decision *decision);

/** Find or make the mark and lock it, until it is released. */
void hook_mark_enter(struct hook_mark *mark, const struct hook_decision *decision,
		     const char *worktree);
/** Say what came of it, unless it was done before. */
void hook_mark_leave(const struct hook_mark *mark, const struct hook_decision *decision,
		     bool taken);

#endif
