/* SPDX-License-Identifier: MIT */
/*
 * Texts of all kinds, compared with what `git config --list` makes of them. Only
 * white space within a value is left out: before 2.45, git made blanks of it.
 */
#include "git/configtext.h"

#include "base/error.h"
#include "unit.h"

static int add(const char *key, const char *value, void *payload)
{
	struct strbuf *out = payload;

	strbuf_addstr(out, key);
	if (value)
		strbuf_addf(out, "\n%s", value);
	strbuf_addch(out, '\0');
	return 0;
}

/* As git prints it; "malformed" if it cannot be read. */
static void read_text(struct strbuf *out, const char *text, size_t len)
{
	strbuf_reset(out);
	if (configtext_parse(text, len, add, out)) {
		strbuf_reset(out);
		strbuf_addstr(out, "malformed");
	}
}

static void compare(const char *text, size_t len)
{
	struct strbuf ours = STRBUF_INIT, gits = STRBUF_INIT;

	put_bytes(in_scratch("text"), text, len);
	ask(&gits, "git config --no-includes -f text --list -z >listed 2>/dev/null || "
		   "printf malformed >listed; cat listed");
	read_text(&ours, text, len);
	if (ours.len != gits.len || memcmp(ours.buf, gits.buf, gits.len)) {
		print_error("text:\n%.*s\n---\nours (%zu): %s\ngit's (%zu): %s\n", (int)len, text, ours.len,
			    ours.buf, gits.len, gits.buf);
		fail();
	}
	strbuf_release(&ours);
	strbuf_release(&gits);
}

static void test_configtext_forms(void **state)
{
	static const char *const texts[] = {
		"", "\n", "[core]\n", "[core]\n\tpager = less\n", "[core] pager = less", "[core]pager",
		"[Core \"A.b\"]Key=x", "[core.sub]key=x", "[a \"q\\\"\\\\x\"]\nk=1", "[a]\nk=\"x\ny\"",
		"[a]k=a\\\nb", "[a]k=a\\", "[a]\r\nk = 1\r\n", "[a]k = \"a \" b # c\n",
		"[a]k=a;b", "[a]k=\"a;b\"c\\td\\n", "[a]k=\\x", "[a]k\n=1", "[a] 1k=x", "[a]k-1=x",
		"[a]k_1=x", "\xef\xbb\xbf[a]k=1", "k=1", "[a", "[a\n]", "[a \"b\n\"]", "[ a]k=1",
		"[a]k= x  y ", "[a]k=\"\"", "[a]k=", "[a]k = # x", "# only\n; that", "[a \"\"]k=1",
		"[a]k=1\n[a]k=2\n[A]K=3", "[a]k=x\\\r\ny", "[a \"b\"] k = v ; c\n\tl\n", "[]k=1", "[.]k=1",
		"[.a]k=1", "[ \"x\"]k=1", "[a.]k=1", "[a..b]k=1", "[- \"x\"]k=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		compare(texts[i], strlen(texts[i]));
}

static void test_configtext_random(void **state)
{
	static const char *const pieces[] = {
		"[core]", "[a \"b\"]", "[a.c]", "\n", "\n\t", "\r\n", "key", "k2", " = ", "=", "value", "\"",
		"\\\n", "\\", "\\t", "#", ";", " ", "x y", "]", "[", "\"q \"", "\\\"", "-", "1", ".",
	};

	(void)state;
	for (int i = 0; i < rounds(300); i++) {
		struct strbuf text = STRBUF_INIT;
		unsigned nr = rnd(20);

		if (rnd(2))
			strbuf_addstr(&text, "[core]\n\tkey = ");
		while (nr--)
			strbuf_addstr(&text, pieces[rnd(sizeof(pieces) / sizeof(*pieces))]);
		compare(text.buf, text.len);
		strbuf_release(&text);
	}
}

static void test_configtext_any_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < rounds(20000); i++) {
		struct strbuf out = STRBUF_INIT;
		char bytes[64];
		size_t len = rnd(sizeof(bytes));

		rnd_bytes(bytes, len);
		if (len && rnd(2))
			bytes[0] = '[';
		read_text(&out, bytes, len);
		strbuf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_configtext_forms),
		cmocka_unit_test(test_configtext_random),
		cmocka_unit_test(test_configtext_any_bytes),
	};

	return cmocka_run_group_tests_name("configtext", tests, unit_setup, unit_teardown);
}
