/* SPDX-License-Identifier: MIT */
/* Quoting: what is quoted comes back and what is shown is UTF-8. */
#include "fuzz.h"

#include "base/quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct strbuf out = STRBUF_INIT, back = STRBUF_INIT;
	char *text = fuzz_text(&in);
	const char *p = text;

	quote_c(&out, (const char *)data, size);
	FUZZ_CHECK(utf8_valid(out.buf, out.len), "quoted text is not UTF-8");
	FUZZ_CHECK(quote_undo_c(&back, out.buf, NULL) && back.len == size &&
			   (!size || !memcmp(back.buf, data, size)),
		   "other bytes come back from %s", out.buf);
	strbuf_reset(&back);
	(void)quote_undo_c(&back, text, &p);
	strbuf_reset(&out);
	utf8_sanitize(&out, (const char *)data, size);
	FUZZ_CHECK(utf8_valid(out.buf, out.len), "not UTF-8");
	strbuf_reset(&out);
	utf8_printable(&out, (const char *)data, size, "\n", '?');
	FUZZ_CHECK(utf8_valid(out.buf, out.len) && !memchr(out.buf, 27, out.len), "not printable");
	strbuf_reset(&out);
	quote_path(&out, text);
	FUZZ_CHECK(utf8_valid(out.buf, out.len), "not UTF-8");
	for (p = text; *p && (strbuf_reset(&back), quote_undo_shell(&back, &p)) && *p == ' ';)
		p++;
	strbuf_reset(&out);
	quote_shell(&out, text);
	free(text);
	strbuf_release(&out);
	strbuf_release(&back);
	return 0;
}
