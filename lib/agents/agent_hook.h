/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_HOOK_H
#define CKPT_AGENTS_AGENT_HOOK_H

#include "base/base.h"

/**
 * What an entry in the settings of an agent runs: read the event, and take a checkpoint in the
 * directory that it names if something may change, or has changed.
 */

/** Begins the argument with which an entry remembers what was created for it; not an event. */
#define AGENT_HOOK_NOTE "added:"

struct agent_hook {
	const char *entry; /**< the agent whose settings have it */
	const char *event; /**< its name, where the agent does not tell it; or NULL */
	int input;	   /**< a descriptor */
};

enum agent_hook_outcome {
	AGENT_HOOK_NOTHING, /**< the event needs no checkpoint */
	AGENT_HOOK_SAVED,
	AGENT_HOOK_UNCHANGED,
	AGENT_HOOK_FAILED,
};

struct agent_hook_result {
	enum agent_hook_outcome outcome;
	bool late;    /**< AGENT_HOOK_FAILED: it took too long */
	bool again;   /**< AGENT_HOOK_FAILED: the user has heard the same in this session */
	char *why;    /**< AGENT_HOOK_FAILED: a sentence */
	char *answer; /**< for stdout, whole lines or empty; it never decides about a tool */
};

/** Never fails: problems are in `out`. The current directory may be another one afterwards. */
void agent_hook_run(struct agent_hook_result *out, const struct agent_hook *hook,
		    deadline_give_up_fn give_up);
void agent_hook_result_release(struct agent_hook_result *result);

/**
 * For `give_up`: the work goes on in the background. Returns what to say, or NULL if the user has
 * heard it in this session.
 */
char *agent_hook_give_up(const char *why);

/** What to print; `why` is what the user has to know, or NULL. The caller frees it. */
char *agent_hook_answer(const char *entry, const char *why);

#endif
