/* SPDX-License-Identifier: MIT */
/*
 * A text of the state of a repository: a byte for which one, then the text. What is
 * read is written again as it was read, and what passes the check leads nowhere.
 */
#include "fuzz.h"

#include "gitstate/gitrecord.h"

static void check_paths(const struct gitstate *state)
{
	for (size_t i = 0; i < state->files_nr; i++)
		FUZZ_CHECK(state->files[i].path[0] != '/' && !strstr(state->files[i].path, "/../") &&
				   strncmp(state->files[i].path, "hooks", 5) != 0,
			   "the file %s", state->files[i].path);
	for (size_t i = 0; i < state->entries_nr; i++)
		FUZZ_CHECK(state->entries[i].path[0] != '/' &&
				   strncmp(state->entries[i].path, ".git/", 5) != 0,
			   "the entry %s", state->entries[i].path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gitstate state = GITSTATE_INIT, again = GITSTATE_INIT;
	struct strbuf text = STRBUF_INIT, first = STRBUF_INIT, second = STRBUF_INIT;
	enum gitrecord_text which;

	if (!size)
		return 0;
	which = data[0] % GITRECORD_TEXTS;
	strbuf_add(&text, data + 1, size - 1);
	if (!gitrecord_decode(&state, &text, which)) {
		gitrecord_encode(&first, &state, which);
		FUZZ_CHECK(!gitrecord_decode(&again, &first, which), "our own text is not read");
		gitrecord_encode(&second, &again, which);
		FUZZ_CHECK(strbuf_equal(&first, &second), "read again, it is another");
		if (!gitstate_check(&state))
			check_paths(&state);
	}
	gitstate_release(&state);
	gitstate_release(&again);
	strbuf_release(&text);
	strbuf_release(&first);
	strbuf_release(&second);
	return 0;
}
