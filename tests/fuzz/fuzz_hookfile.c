/* SPDX-License-Identifier: MIT */
/* Our lines in a hook of somebody else: they are found, and leave no trace when they go. */
#include "fuzz.h"

#include "hooks/hook_file_internal.h"

static const char lines[] = HOOK_FILE_BEGIN "_ckpt_program=''\ngit checkpoint hook y\n" HOOK_FILE_END;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct strbuf with = STRBUF_INIT, without = STRBUF_INIT;
	bool ours = hook_file_is_ours(text, size);

	(void)hook_file_is_dispatcher(text, size);
	(void)hook_file_remove(&without, text, size);
	strbuf_reset(&without);
	(void)hook_file_lines(&without, text, size);
	strbuf_reset(&without);
	if (hook_file_is_shell(text, size) && !ours) {
		hook_file_insert(&with, text, size, lines);
		FUZZ_CHECK(hook_file_is_shell(with.buf, with.len), "it is no longer a script");
		FUZZ_CHECK(hook_file_is_ours(with.buf, with.len), "our lines are not found");
		FUZZ_CHECK(hook_file_remove(&without, with.buf, with.len), "our lines do not go");
		FUZZ_CHECK(without.len == size && !memcmp(without.buf, data, size),
			   "other bytes than before:\n%s", without.buf);
	}
	strbuf_release(&with);
	strbuf_release(&without);
	return 0;
}
