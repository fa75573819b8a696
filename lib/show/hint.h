/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SHOW_HINT_H
#define CKPT_SHOW_HINT_H

#include "base/base.h"

struct session;

/**
 * Hints about the next command, like git's advice: "hint: ..." on stderr, to a
 * person at a terminal, each once ever. The file `hints` in the home of all
 * stores remembers which were shown. The setting `advice` turns them off.
 */
enum hint {
	HINT_SAVED,  /**< the first checkpoint was taken */
	HINT_HOOKS,  /**< another one, without hooks installed */
	HINT_LISTED, /**< checkpoints were listed */
	HINT_PIN,    /**< from now on each new one evicts an old one */
};

/** True if it would be shown now; for callers that need work to find out. */
bool hint_due(const struct session *session, enum hint hint);

/** Show it if it is due. */
void hint_say(const struct session *session, enum hint hint);

/**
 * Say, once per store and wherever stderr leads, that a save evicted something that was asked for.
 * `evicted` is as in struct save_result; NULL: nothing.
 */
void hint_evicted(const struct session *session, const char *evicted);

/** True the first time that it is asked about `what` in this worktree; the same file remembers. */
bool hint_first(const struct session *session, const char *what);

#endif
