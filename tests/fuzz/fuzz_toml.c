/* SPDX-License-Identifier: MIT */
/* Editing TOML: a block that is put in is TOML, is found, and leaves no trace when it goes. */
#include "fuzz.h"

#include "agents/tomledit_internal.h"
#include "base/error.h"

#define BODY "[[x]]\ny = 1\n"

static void seen(void *data, enum tomledit_kind kind, const struct strlist *path)
{
	(void)kind;
	FUZZ_CHECK(path->nr, "no path");
	++*(size_t *)data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;
	size_t before = 0, after = 0;

	strbuf_add(&text, data, size);
	if (!tomledit_scan(&text, seen, &before) && tomledit_add_block(&text, "block", BODY)) {
		FUZZ_CHECK(tomledit_has_block(&text, "block", BODY), "our block is not found:\n%s", text.buf);
		FUZZ_CHECK(!tomledit_scan(&text, seen, &after), "it is not TOML any more: %s\n%s",
			   ckpt_error_last(), text.buf);
		FUZZ_CHECK(after == before + 2, "other keys than before");
		FUZZ_CHECK(tomledit_remove_block(&text, "block", BODY), "our block does not go");
		FUZZ_CHECK(text.len == size && (!size || !memcmp(text.buf, data, size)),
			   "other bytes than before:\n%s", text.buf);
	}
	strbuf_release(&text);
	return 0;
}
