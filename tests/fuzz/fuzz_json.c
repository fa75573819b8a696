/* SPDX-License-Identifier: MIT */
/* Editing JSON: what we take for JSON jansson takes too, and an entry that goes leaves no trace. */
#include "fuzz.h"

#include "agents/agent_entry_internal.h"
#include "agents/agent_json_internal.h"
#include "agents/jsonedit_internal.h"
#include "base/error.h"

static void round_trip(const struct agent *agent, const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;
	bool changed = true, removed = true, empty = false;
	unsigned added = 0;

	strbuf_add(&text, data, size);
	if (agent_json_check(&text, agent) || agent_json_insert(&text, agent, 0, &changed)) {
		FUZZ_CHECK(text.len == size && (!size || !memcmp(text.buf, data, size)),
			   "a refused text was changed");
	} else if (changed) {
		FUZZ_CHECK(!agent_json_check(&text, agent), "it is not JSON any more: %s\n%s",
			   ckpt_error_last(), text.buf);
		FUZZ_CHECK(!agent_json_remove(&text, agent, &removed, &added, &empty) && removed,
			   "%s: our entry is not found", agent->name);
		FUZZ_CHECK(text.len == size && !memcmp(text.buf, data, size),
			   "%s: other bytes than before:\n%s", agent->name, text.buf);
	}
	strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, data, size);
	(void)jsonedit_check(&text, JSONEDIT_COMMENTS);
	strbuf_release(&text);
	for (const struct agent *agent = agent_table; agent->name; agent++)
		if (agent->dir && agent->format != AGENT_OWN)
			round_trip(agent, data, size);
	return 0;
}
