/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CMD_HINT_INTERNAL_H
#define CKPT_CMD_HINT_INTERNAL_H

#include <stdbool.h>

struct session;

/**
 * Sentences that teach the next command, as git's advice does: "hint: ..." on
 * stderr, to a person at a terminal, each once in a life. What was said is
 * remembered in the file `hints` of the home of all stores. The setting
 * `advice` turns them off.
 */
enum hint {
	HINT_SAVED,  /**< the first checkpoint was taken */
	HINT_HOOKS,  /**< a further one, where no hooks are installed */
	HINT_LISTED, /**< checkpoints were listed */
	HINT_PIN,    /**< from now on each new one evicts an old one */
};

/** True if somebody would hear it, and has not yet; for those that take work to find out. */
bool hint_due(const struct session *session, enum hint hint);

/** Say it if it is due. */
void hint_say(const struct session *session, enum hint hint);

#endif
