/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_JSON_INTERNAL_H
#define CKPT_AGENTS_AGENT_JSON_INTERNAL_H

#include "agents/agent_entry_internal.h"
#include "base/base.h"

#include <stdbool.h>

/**
 * An agent's entry in the text of its settings. Failures name line and column,
 * and the text is then as it was.
 */

/** Whether it is JSON with an object around all. */
int agent_json_check(const struct strbuf *text, const struct agent *agent);

/**
 * Put the entry in, unless there is one already: then `changed` is set to false.
 * CKPT_EREFUSED if agent_json_remove() would not give back every byte.
 */
int agent_json_insert(struct strbuf *text, const struct agent *agent, bool *changed);

/**
 * Take all entries out, and around them what came with them and is empty now.
 * `changed` is set to false if there was none; `added` tells what came with
 * them, of which the file and its directory are for the caller to remove if
 * `empty` is set.
 */
int agent_json_remove(struct strbuf *text, const struct agent *agent, bool *changed,
		      unsigned *added, bool *empty);

#endif
