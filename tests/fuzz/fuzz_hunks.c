/* SPDX-License-Identifier: MIT */
/* Hunks of any contents, and what somebody may have left in an editor. */
#include "fuzz.h"

#include "base/base.h"
#include "restore/restore.h"
#include "ui/patch.h"

static void check_result(const struct hunks *hunks, const char *text, size_t len)
{
	struct strbuf out = STRBUF_INIT;

	FUZZ_CHECK(!hunks_apply(&out, hunks), "they exclude each other");
	FUZZ_CHECK(out.len == len && (!len || !memcmp(out.buf, text, len)), "another content");
	strbuf_release(&out);
}

static void use_all(struct hunks *hunks, enum hunk_use use)
{
	for (size_t i = 0; i < hunks->nr; i++)
		hunks->items[i].use = use;
}

/* Whatever is written into a hunk: it applies, or everything stays as it is. */
static void edit(struct hunks *hunks, size_t at, const char *text, size_t len)
{
	struct strbuf before = STRBUF_INIT, after = STRBUF_INIT, line = STRBUF_INIT;
	bool empty = false;
	int err;

	hunks_show(&before, &hunks->items[at]);
	err = hunks_edit(hunks, at, text, len, &empty);
	hunks_show(&after, &hunks->items[at]);
	if (err || empty)
		FUZZ_CHECK(strbuf_equal(&before, &after), "it was changed");
	hunks_summarize(&line, &hunks->items[at]);
	FUZZ_CHECK(line.len <= 81, "a long line");
	strbuf_reset(&after);
	FUZZ_CHECK(!hunks_apply(&after, hunks), "they exclude each other");
	hunks_split(hunks, at);
	strbuf_reset(&before);
	FUZZ_CHECK(!hunks_apply(&before, hunks), "the pieces exclude each other");
	FUZZ_CHECK(strbuf_equal(&before, &after), "pieces make something else of it");
	strbuf_release(&before);
	strbuf_release(&after);
	strbuf_release(&line);
}

/* False: one of them is binary, or nothing differs. */
static bool cut(struct hunks *out, const char *old, size_t old_len, const char *new, size_t new_len)
{
	const struct patch_opts opts = PATCH_OPTS_INIT;
	const struct patch_input in = {
		.old_path = "a",
		.new_path = "a",
		.old_mode = 0100644,
		.new_mode = 0100644,
		.old_data = old,
		.old_len = old_len,
		.new_data = new,
		.new_len = new_len,
	};
	struct strbuf text = STRBUF_INIT;
	const char *first;

	FUZZ_CHECK(!patch_print(&text, &in, &opts), "unable to compare");
	first = strstr(text.buf, "\n@@ ");
	if (first)
		FUZZ_CHECK(!hunks_cut(out, old, old_len, first + 1,
				      text.len - (size_t)(first + 1 - text.buf)),
			   "unable to cut");
	strbuf_release(&text);
	return first;
}

/* What is not a patch of these lines is refused, or does no harm. */
static void cut_anything(const char *old, size_t old_len, const char *text, size_t len)
{
	struct hunks hunks = HUNKS_INIT;
	struct strbuf out = STRBUF_INIT;

	if (!hunks_cut(&hunks, old, old_len, text, len)) {
		use_all(&hunks, HUNK_USE);
		(void)hunks_apply(&out, &hunks);
	}
	strbuf_release(&out);
	hunks_release(&hunks);
}

/* Two contents and the edited text, with 0x01 between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned choice = fuzz_byte(&in);
	size_t old_len, new_len, text_len;
	char *old = fuzz_until(&in, 1, &old_len), *new = fuzz_until(&in, 1, &new_len);
	char *text = fuzz_until(&in, 1, &text_len);
	struct hunks hunks = HUNKS_INIT;

	cut_anything(old, old_len, text, text_len);
	if (!cut(&hunks, old, old_len, new, new_len))
		goto out;
	if (choice & 1)
		for (size_t i = hunks.nr; i; i--)
			hunks_split(&hunks, i - 1);
	check_result(&hunks, old, old_len);
	use_all(&hunks, HUNK_USE);
	check_result(&hunks, new, new_len);
	if (hunks.nr)
		edit(&hunks, (choice >> 1) % hunks.nr, text, text_len);
	use_all(&hunks, HUNK_SKIP);
	check_result(&hunks, old, old_len);
out:
	hunks_release(&hunks);
	free(old);
	free(new);
	free(text);
	return 0;
}
