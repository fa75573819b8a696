/* SPDX-License-Identifier: MIT */
/*
 * Our keys in a configuration of somebody else: unless it is refused, what was set is read back, and
 * taking it back leaves every byte as it was.
 */
#include "fuzz.h"

#include "hooks/config_edit_internal.h"

static const struct {
	const char *section, *key, *value;
} edits[] = {
	{ "core", "fsmonitor", ".git/hooks/fsmonitor" },
	{ "core", "hooksPath", "a b;\"c\\" },
	{ "hook.git-checkpoint", "command", "true" },
	{ "hook.git-checkpoint", "event", "pre-rebase" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { EDITS = sizeof(edits) / sizeof(edits[0]) };
	struct config_edit done[EDITS] = { 0 };
	struct strbuf before = STRBUF_INIT, text = STRBUF_INIT, value = STRBUF_INIT;
	bool sound;

	if (size && memchr(data, '\0', size))
		return 0;
	strbuf_add(&before, data, size);
	strbuf_add(&text, data, size);
	for (size_t i = 0; i < EDITS; i++)
		config_edit_set(&text, &done[i], edits[i].section, edits[i].key, edits[i].value);
	sound = config_edit_check(&before, &text, done, EDITS);
	for (size_t i = 0; i < EDITS && sound; i++) {
		strbuf_reset(&value);
		FUZZ_CHECK(config_edit_get(&value, &text, edits[i].section, edits[i].key),
			   "%s.%s is not there", edits[i].section, edits[i].key);
		FUZZ_CHECK(!strcmp(value.buf, edits[i].value), "%s.%s is '%s'", edits[i].section,
			   edits[i].key, value.buf);
	}
	for (size_t i = EDITS; i-- > 0;) {
		bool undone = config_edit_undo(&text, &done[i]);

		FUZZ_CHECK(undone || !sound, "%s.%s is not taken back", edits[i].section, edits[i].key);
		config_edit_release(&done[i]);
	}
	FUZZ_CHECK(!sound || (text.len == size && (!size || !memcmp(text.buf, data, size))),
		   "other bytes than before");
	strbuf_release(&before);
	strbuf_release(&text);
	strbuf_release(&value);
	return 0;
}
