/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_TROUBLE_INTERNAL_H
#define CKPT_AGENTS_AGENT_TROUBLE_INTERNAL_H

#include "base/base.h"

struct store;

/**
 * Remember that an agent's hook could not save, for agents_trouble(). True if the user has to be
 * told: not yet in this session, or nothing can be remembered. `session` may be NULL: not known.
 */
bool agent_trouble_note(struct store *store, const char *agent, const char *session,
			const char *why);

#endif
