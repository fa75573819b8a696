/* SPDX-License-Identifier: MIT */
#ifndef CKPT_HOOKS_HOOK_ONCE_INTERNAL_H
#define CKPT_HOOKS_HOOK_ONCE_INTERNAL_H

#include "base/base.h"
#include "hooks/hook_checkpoint.h"

struct hook_decision;

/**
 * One checkpoint for each git command, however many hooks it calls.
 *
 * What the hooks of one command have done is in a small file named after its
 * topmost process. It is locked while a hook runs; a hook that finds it locked
 * waits, and a hook that finds it done, given up, or left by a killed hook does
 * nothing. The files are in the store, in checkpoint/hooks/; if that cannot be
 * written, or does not exist yet, in a private directory in $XDG_RUNTIME_DIR or
 * $TMPDIR. Those of dead processes are removed when a new one is made.
 *
 * For most of these calls the program is not even started: it leaves an answer
 * (see hook_answer_write()) that the shims understand.
 */
enum hook_once_state {
	HOOK_ONCE_NONE,  /**< a checkpoint must be taken, or one with more in it */
	HOOK_ONCE_OTHER, /**< there is one, for another of the commands that belong together */
	HOOK_ONCE_DONE,
};

struct hook_once {
	enum hook_once_state state;
	double spent; /**< seconds, by earlier hooks */
	double start;
	int fd;       /**< -1: no file is possible */
	char *home;   /**< of all stores; NULL: there is none */
	struct hook_answer answer; /**< what is settled now */
};

/** Call this first. Release it in any case. */
void hook_once_init(struct hook_once *once);
void hook_once_release(struct hook_once *once);

/**
 * True in the usual case, a hundred times in a long rebase: everything was done. Opens nothing
 * else.
 */
bool hook_once_settled(struct hook_once *once, const struct hook_decision *decision);

/** Find or create the file and lock it, until it is released. */
void hook_once_enter(struct hook_once *once, const struct hook_decision *decision,
		     const char *worktree);
/** Record the result, unless that was done before. */
void hook_once_leave(struct hook_once *once, const struct hook_decision *decision, bool taken);

#endif
