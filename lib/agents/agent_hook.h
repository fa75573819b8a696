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
	char *why;    /**< AGENT_HOOK_FAILED: a sentence */
	char *answer; /**< for stdout, whole lines or empty; it never decides about a tool */
};

/** Never fails: problems are in `out`. The current directory may be another one afterwards. */
void agent_hook_run(struct agent_hook_result *out, const struct agent_hook *hook,
		    deadline_give_up_fn give_up);
void agent_hook_result_release(struct agent_hook_result *result);

/** What to print where the work was given up; the caller frees it. */
char *agent_hook_answer(const char *entry, const char *why);

#endif
