/* SPDX-License-Identifier: MIT */
/* What a coding agent tells its hook: whatever it is, labels are short lines of UTF-8. */
#include "fuzz.h"

#include "agents/agents_internal.h"

static void check_label(const char *label)
{
	if (!label)
		return;
	FUZZ_CHECK(*label && strlen(label) <= 200, "a label of %zu bytes", strlen(label));
	FUZZ_CHECK(utf8_valid(label, strlen(label)), "a label that is not UTF-8");
	for (const char *p = label; *p; p++)
		FUZZ_CHECK((unsigned char)*p >= 0x20, "a control character in a label");
}

static void try_event(const struct strbuf *text, const char *entry, const char *name)
{
	struct agent_event event;

	agent_event_read(&event, text, entry, name);
	FUZZ_CHECK(event.labels.name, "nobody");
	FUZZ_CHECK(event.readable || (!event.cwd && !event.labels.tool), "read after all");
	check_label(event.labels.session);
	check_label(event.labels.turn_id);
	check_label(event.labels.tool);
	check_label(event.labels.tool_call);
	check_label(event.labels.sub_agent);
	check_label(event.labels.prompt);
	(void)agent_event_saves(&event);
	agent_event_release(&event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, data, size);
	try_event(&text, "claude-code", NULL);
	try_event(&text, "copilot", "preToolUse");
	strbuf_release(&text);
	return 0;
}
