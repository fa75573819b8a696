/* SPDX-License-Identifier: MIT */
#ifndef CKPT_AGENTS_AGENT_JSON_INTERNAL_H
#define CKPT_AGENTS_AGENT_JSON_INTERNAL_H

#include "agents/agent_entry_internal.h"
#include "agents/agents.h"
#include "base/base.h"

/**
 * An agent's entry in the text of its settings. Error messages name line and
 * column; after an error the text is unchanged.
 */

/** Whether it is JSON whose top level is an object. */
int agent_json_check(const struct strbuf *text, const struct agent *agent);

/**
 * Insert the entry, unless it is already there: then `changed` is set to false. An entry
 * of an older version becomes one of this version, in its place. `extra` is noted as added, too.
 * CKPT_EREFUSED if agent_json_remove() could not restore every byte.
 */
int agent_json_insert(struct strbuf *text, const struct agent *agent, unsigned extra, bool *changed);

/** What the settings have: an error for what cannot be parsed. */
int agent_json_state(enum agents_state *out, const struct strbuf *text, const struct agent *agent);

/**
 * Remove all entries, and the parts around them that we added and that are now
 * empty. `changed` is set to false if there was none; `added` tells what we
 * added, of which the caller removes the file and its directory if `empty` is
 * set.
 */
int agent_json_remove(struct strbuf *text, const struct agent *agent, bool *changed,
		      unsigned *added, bool *empty);

#endif
