/* SPDX-License-Identifier: MIT */
#include "base/quote.h"

#include "base/alloc.h"
#include "unit.h"

/* ---- UTF-8 ---- */

static size_t encode(char out[4], unsigned long cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 63));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 63));
		out[2] = (char)(0x80 | (cp & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 63));
	out[2] = (char)(0x80 | (cp >> 6 & 63));
	out[3] = (char)(0x80 | (cp & 63));
	return 4;
}

/* Exactly the encodings of all code points but surrogates are sequences. */
static void test_utf8_takes_every_code_point_and_nothing_else(void **state)
{
	unsigned long valid[5] = { 0 };

	(void)state;
	for (unsigned long cp = 0; cp < 0x200000; cp++) {
		bool good = cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);
		char bytes[4];
		size_t len = encode(bytes, cp);

		if (utf8_sequence(bytes, len) != (good ? len : 0))
			fail_msg("U+%lX", cp);
		valid[len] += good;
		/* Cut off it is none. */
		if (len > 1 && utf8_sequence(bytes, len - 1))
			fail_msg("U+%lX without its end", cp);
	}
	/* As many strings of one, two and three bytes are sequences as there are code points. */
	for (unsigned a = 0; a < 256; a++) {
		char s[3] = { (char)a, 0, 0 };

		valid[1] -= utf8_sequence(s, 1) == 1;
		for (unsigned b = 0; b < 256; b++) {
			s[1] = (char)b;
			valid[2] -= utf8_sequence(s, 2) == 2;
			for (unsigned c = 0; c < 256; c++) {
				s[2] = (char)c;
				valid[3] -= utf8_sequence(s, 3) == 3;
			}
		}
	}
	assert_int_equal(valid[1], 0);
	assert_int_equal(valid[2], 0);
	assert_int_equal(valid[3], 0);
	assert_int_equal(utf8_sequence("", 0), 0);
}

static void test_utf8_sanitize_keeps_what_is_valid(void **state)
{
	struct strbuf out = STRBUF_INIT, again = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		size_t len = rnd(sizeof(text));

		rnd_bytes(text, len);
		strbuf_reset(&out);
		utf8_sanitize(&out, text, len);
		assert_true(utf8_valid(out.buf, out.len));
		strbuf_reset(&again);
		utf8_sanitize(&again, out.buf, out.len);
		assert_int_equal(again.len, out.len);
		assert_memory_equal(again.buf, out.buf, out.len);
		if (utf8_valid(text, len)) {
			assert_int_equal(out.len, len);
			assert_memory_equal(out.buf, text, len);
		}
	}
	strbuf_reset(&out);
	utf8_sanitize(&out, "a\xff\xe2\x82z", 5);
	assert_string_equal(out.buf, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	strbuf_release(&out);
	strbuf_release(&again);
}

/* ---- C quotes ---- */

static void test_quote_c_round_trip(void **state)
{
	struct strbuf quoted = STRBUF_INIT, back = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		unsigned char bytes[40];
		size_t len = rnd(sizeof(bytes));
		const char *end = NULL;

		rnd_bytes(bytes, len);
		strbuf_reset(&quoted);
		strbuf_reset(&back);
		quote_c(&quoted, (char *)bytes, len);
		for (size_t i = 0; i < quoted.len; i++)
			assert_in_range(quoted.buf[i], 0x20, 0x7e);
		strbuf_addstr(&quoted, "tail");
		assert_true(quote_undo_c(&back, quoted.buf, &end));
		assert_string_equal(end, "tail");
		assert_int_equal(back.len, len);
		assert_memory_equal(back.buf, bytes, len);
	}
	strbuf_release(&quoted);
	strbuf_release(&back);
}

/* Any bytes are either taken or refused; nothing is read past their end. */
static void test_unquote_c_refuses_what_is_malformed(void **state)
{
	static const char *const bad[] = { "",	       "x",	    "\"",	 "\"abc",
					   "\"\\",     "\"\\\"",    "\"\\x41\"", "\"\\4",
					   "\"\\40\"", "\"\\477\"", "\"\\08 \"", "\"\\1\"" };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (quote_undo_c(&out, bad[i], NULL))
			fail_msg("%s was taken", bad[i]);
	for (int round = 0; round < 50000; round++) {
		size_t len = rnd(10);
		char *text = xmalloc(len + 2); /* exact, so that the sanitizer sees overreads */

		text[0] = '"';
		for (size_t i = 1; i <= len; i++)
			text[i] = "\\\"0137nax"[rnd(9)];
		text[len + 1] = '\0';
		strbuf_reset(&out);
		quote_undo_c(&out, text, NULL);
		free(text);
	}
	strbuf_release(&out);
}

/* Names of all kinds, as git itself prints them. */
static void test_quote_equals_git(void **state)
{
	struct strbuf listed = STRBUF_INIT, plain = STRBUF_INIT, zero = STRBUF_INIT;
	struct strbuf expect = STRBUF_INIT;
	char *line, *rest = NULL, *name;
	unsigned quoted = 0;

	(void)state;
	sh("git init -q names");
	for (int i = 0; i < 400; i++) {
		char file[40];

		rnd_name(file, 1 + rnd(sizeof(file) - 1));
		put_text(in_scratch("names/%s", file), "");
	}
	for (int c = 1; c < 256; c++)
		if (c != '/' && c != '.')
			put_text(in_scratch("names/%c", c), "");
	sh("cd names; git add -A");
	ask(&listed, "cd names; git -c core.quotePath=true ls-files");
	ask(&plain, "cd names; git -c core.quotePath=false ls-files -z");
	strbuf_add(&zero, plain.buf, plain.len);

	name = zero.buf;
	for (line = strtok_r(listed.buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_true(name < zero.buf + zero.len);
		strbuf_reset(&expect);
		if (*line == '"') {
			quote_c(&expect, name, strlen(name));
			quoted++;
		} else {
			quote_path(&expect, name);
		}
		assert_string_equal(expect.buf, line);
		if (*line == '"') {
			strbuf_reset(&expect);
			assert_true(quote_undo_c(&expect, line, NULL));
			assert_string_equal(expect.buf, name);
		}
		name += strlen(name) + 1;
	}
	assert_ptr_equal(name, zero.buf + zero.len);
	assert_true(quoted > 100);
	strbuf_release(&listed);
	strbuf_release(&plain);
	strbuf_release(&zero);
	strbuf_release(&expect);
}

/* What is shown is one line, valid UTF-8, and tells every name from every other. */
static void test_quote_path_is_harmless_and_reversible(void **state)
{
	struct strbuf shown = STRBUF_INIT, back = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char name[20];

		rnd_name(name, rnd(sizeof(name)));
		strbuf_reset(&shown);
		strbuf_reset(&back);
		quote_path(&shown, name);
		assert_true(utf8_valid(shown.buf, shown.len));
		for (size_t i = 0; i < shown.len; i++)
			assert_true((unsigned char)shown.buf[i] >= 0x20 && shown.buf[i] != 0x7f);
		if (shown.buf[0] == '"')
			assert_true(quote_undo_c(&back, shown.buf, NULL));
		else
			strbuf_addstr(&back, shown.buf);
		assert_string_equal(back.buf, name);
	}
	strbuf_reset(&shown);
	quote_path(&shown, "gr\xc3\xbc\xc3\x9f"
			   "e und so.txt");
	assert_string_equal(shown.buf, "gr\xc3\xbc\xc3\x9f"
				       "e und so.txt");
	/* What introduces a sequence that a terminal obeys, in one character. */
	strbuf_reset(&shown);
	quote_path(&shown, "a\xc2\x9b"
			   "31mb");
	assert_string_equal(shown.buf, "\"a\\302\\23331mb\"");
	strbuf_release(&shown);
	strbuf_release(&back);
}

static void test_what_is_printable_holds_nothing_that_is_obeyed(void **state)
{
	static const char text[] =
		"a\x1b[1m\0\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xc2\xa0\xff\tb\nc";
	struct strbuf out = STRBUF_INIT;

	(void)state;
	utf8_printable(&out, text, sizeof(text) - 1, "\n\t", '?');
	assert_string_equal(out.buf, "a?[1m?????\xc2\xa0\xef\xbf\xbd\tb\nc");
	strbuf_reset(&out);
	utf8_printable(&out, text, sizeof(text) - 1, "", ' ');
	assert_string_equal(out.buf, "a [1m     \xc2\xa0\xef\xbf\xbd b c");
	strbuf_release(&out);
}

/* ---- the shell ---- */

static void test_quote_shell_survives_the_shell(void **state)
{
	enum { WORDS = 600 };
	struct strbuf script = STRBUF_INIT, expect = STRBUF_INIT, got = STRBUF_INIT;
	static const char *const fixed[] = { "",     "~",   "~root", "a b", "-n", "$HOME",
					     "`id`", "*",   "a'b",   "'",   "''", "\n",
					     "!",    "a!b", "#x",    "a=b", "\\", "\"" };

	(void)state;
	strbuf_addstr(&script, "printf '%s\\0'");
	for (size_t i = 0; i < WORDS + ARRAY_SIZE(fixed); i++) {
		char word[30];

		if (i < ARRAY_SIZE(fixed))
			strcpy(word, fixed[i]);
		else
			rnd_text(word, rnd(sizeof(word)));
		strbuf_addch(&script, ' ');
		quote_shell(&script, word);
		strbuf_add(&expect, word, strlen(word) + 1);
	}
	strbuf_addch(&script, '\n');
	put_bytes(in_scratch("script"), script.buf, script.len);
	ask(&got, "/bin/sh script");
	assert_int_equal(got.len, expect.len);
	assert_memory_equal(got.buf, expect.buf, got.len);
	strbuf_release(&script);
	strbuf_release(&expect);
	strbuf_release(&got);
}

/* git hands `-c` on in its own quotes; a shell alias shows us the very text. */
static void test_unquote_shell_reads_what_git_writes(void **state)
{
	struct strbuf script = STRBUF_INIT, got = STRBUF_INIT, word = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 60; round++) {
		char value[24];
		const char *p;

		rnd_text(value, rnd(sizeof(value)));
		strbuf_reset(&script);
		strbuf_reset(&got);
		strbuf_reset(&word);
		strbuf_addstr(&script, "git -c alias.parms='!printenv GIT_CONFIG_PARAMETERS' -c ");
		{
			struct strbuf assignment = STRBUF_INIT;

			strbuf_addf(&assignment, "test.value=%s", value);
			quote_shell(&script, assignment.buf);
			strbuf_release(&assignment);
		}
		strbuf_addstr(&script, " parms\n");
		put_bytes(in_scratch("script"), script.buf, script.len);
		ask(&got, "/bin/sh script");
		assert_true(got.len && got.buf[got.len - 1] == '\n');
		strbuf_setlen(&got, got.len - 1);

		p = got.buf;
		while (*p && strncmp(p, "'test.value'=", 13)) {
			const char *before = p;

			strbuf_reset(&word);
			if (!quote_undo_shell(&word, &p))
				fail_msg("cannot read %s", before);
			p += *p == '=' || *p == ' ';
		}
		assert_true(*p);
		strbuf_reset(&word);
		assert_true(quote_undo_shell(&word, &p));
		assert_string_equal(word.buf, "test.value");
		p++;
		strbuf_reset(&word);
		assert_true(quote_undo_shell(&word, &p));
		assert_string_equal(word.buf, value);
		assert_string_equal(p, "");
	}
	strbuf_release(&script);
	strbuf_release(&got);
	strbuf_release(&word);
}

static void test_unquote_shell_refuses_what_is_malformed(void **state)
{
	static const char *const bad[] = { "", "a", "'", "'abc", "'a'\\''", "\"a\"", "\\'" };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *p = bad[i];

		if (quote_undo_shell(&out, &p))
			fail_msg("%s was taken", bad[i]);
		assert_ptr_equal(p, bad[i]);
	}
	for (int round = 0; round < 50000; round++) {
		size_t len = rnd(10);
		char *text = xmalloc(len + 2);
		const char *p = text;

		text[0] = '\'';
		for (size_t i = 1; i <= len; i++)
			text[i] = "'\\!a"[rnd(4)];
		text[len + 1] = '\0';
		strbuf_reset(&out);
		if (quote_undo_shell(&out, &p))
			assert_true(p > text && p <= text + len + 1);
		free(text);
	}
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_takes_every_code_point_and_nothing_else),
		cmocka_unit_test(test_utf8_sanitize_keeps_what_is_valid),
		cmocka_unit_test(test_quote_c_round_trip),
		cmocka_unit_test(test_unquote_c_refuses_what_is_malformed),
		cmocka_unit_test(test_quote_equals_git),
		cmocka_unit_test(test_quote_path_is_harmless_and_reversible),
		cmocka_unit_test(test_what_is_printable_holds_nothing_that_is_obeyed),
		cmocka_unit_test(test_quote_shell_survives_the_shell),
		cmocka_unit_test(test_unquote_shell_reads_what_git_writes),
		cmocka_unit_test(test_unquote_shell_refuses_what_is_malformed),
	};

	return cmocka_run_group_tests_name("quote", tests, unit_setup, unit_teardown);
}
