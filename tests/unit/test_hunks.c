/* SPDX-License-Identifier: MIT */
/* Hunks: how they are cut, split and edited, and what some of them make of a content. */

#include "unit.h"

#include "base/base.h"
#include "restore/restore.h"
#include "ui/patch.h"

static void cut_between(struct hunks *out, const char *old, size_t old_len, const char *new,
			size_t new_len)
{
	const struct patch_opts opts = PATCH_OPTS_INIT;
	const struct patch_input in = {
		.old_path = "a", .new_path = "a", .old_mode = 0100644, .new_mode = 0100644,
		.old_data = old, .old_len = old_len, .new_data = new, .new_len = new_len,
	};
	struct strbuf text = STRBUF_INIT;
	const char *first;

	memset(out, 0, sizeof(*out));
	assert_int_equal(patch_print(&text, &in, &opts), 0);
	first = strstr(text.buf, "\n@@ ");
	first = first ? first + 1 : text.buf + text.len;
	assert_int_equal(hunks_cut(out, old, old_len, first, text.len - (size_t)(first - text.buf)), 0);
	strbuf_release(&text);
}

static void cut(struct hunks *out, const char *old, const char *new)
{
	cut_between(out, old, strlen(old), new, strlen(new));
}

static void use_all(struct hunks *hunks, enum hunk_use use)
{
	for (size_t i = 0; i < hunks->nr; i++)
		hunks->items[i].use = use;
}

static void check_result(const struct hunks *hunks, const char *text, size_t len)
{
	struct strbuf out = STRBUF_INIT;

	assert_int_equal(hunks_apply(&out, hunks), 0);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.buf, text, len);
	strbuf_release(&out);
}

static void check_text(const struct hunks *hunks, const char *text)
{
	check_result(hunks, text, strlen(text));
}

static void check_shown(const struct hunks *hunks, size_t at, const char *text)
{
	struct strbuf out = STRBUF_INIT;

	hunks_show(&out, &hunks->items[at]);
	assert_string_equal(out.buf, text);
	strbuf_release(&out);
}

static int edit(struct hunks *hunks, size_t at, const char *text)
{
	bool empty;
	int err = hunks_edit(hunks, at, text, strlen(text), &empty);

	assert_int_equal(empty, !*text || (*text == '#' && !strchr(text, '\n')));
	return err;
}

#define OLD "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
#define NEW "1\n2\nthree\n4\n5\nfive\n6\n7\n8\n"

static void test_context_and_numbers_are_as_git_has_them(void **state)
{
	struct hunks hunks;

	(void)state;
	cut(&hunks, "", "a\nb");
	assert_int_equal(hunks.nr, 1);
	check_shown(&hunks, 0, "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
	hunks_release(&hunks);
	cut(&hunks, "a\n", "");
	check_shown(&hunks, 0, "@@ -1 +0,0 @@\n-a\n");
	hunks_release(&hunks);
	cut(&hunks, "int f(void)\n{\n1\n2\n3\n4\n}\n", "int f(void)\n{\n1\n2\n3\nfour\n}\n");
	check_shown(&hunks, 0, "@@ -3,5 +3,5 @@ int f(void)\n 1\n 2\n 3\n-4\n+four\n }\n");
	hunks_release(&hunks);
	cut(&hunks, "same\n", "same\n");
	assert_int_equal(hunks.nr, 0);
	check_text(&hunks, "same\n");
	hunks_release(&hunks);
}

static void test_pieces_share_their_context(void **state)
{
	struct hunks hunks;
	struct strbuf line = STRBUF_INIT;

	(void)state;
	cut(&hunks, OLD, NEW);
	assert_int_equal(hunks.nr, 1);
	assert_int_equal(hunks_pieces(&hunks.items[0]), 3);
	hunks_split(&hunks, 0);
	assert_int_equal(hunks.nr, 3);
	check_shown(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+three\n 4\n 5\n");
	check_shown(&hunks, 1, "@@ -4,5 +4,6 @@\n 4\n 5\n+five\n 6\n 7\n 8\n");
	check_shown(&hunks, 2, "@@ -6,5 +7,3 @@\n 6\n 7\n 8\n-9\n-10\n");
	hunks_summarize(&line, &hunks.items[2]);
	assert_string_equal(line.buf, " -6,5 +7,3          -9\n");
	strbuf_release(&line);
	hunks.items[0].use = hunks.items[2].use = HUNK_USE;
	check_text(&hunks, "1\n2\nthree\n4\n5\n6\n7\n8\n");
	hunks.items[1].use = HUNK_USE;
	check_text(&hunks, NEW);
	assert_int_equal(hunks_pieces(&hunks.items[0]), 1);
	hunks_split(&hunks, 0);
	assert_int_equal(hunks.nr, 3);
	hunks_release(&hunks);
}

static void test_an_edited_hunk_is_applied(void **state)
{
	struct hunks hunks;

	(void)state;
	cut(&hunks, OLD, NEW);
	hunks_split(&hunks, 0);
	assert_int_equal(edit(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n+one and a half\n 2\n 3\n 4\n 5\n# no\n"), 0);
	check_shown(&hunks, 0, "@@ -1,5 +1,6 @@\n 1\n+one and a half\n 2\n 3\n 4\n 5\n");
	hunks.items[0].use = HUNK_USE;
	check_text(&hunks, "1\none and a half\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
	/* Without a header, and with less context. */
	assert_int_equal(edit(&hunks, 1, " 5\n+5.5\n 6"), 0);
	hunks.items[1].use = HUNK_USE;
	check_text(&hunks, "1\none and a half\n2\n3\n4\n5\n5.5\n6\n7\n8\n9\n10\n");
	/* An empty line is an empty line of context. */
	hunks_release(&hunks);
	cut(&hunks, "a\n\nb\n", "a\n\nc\n");
	assert_int_equal(edit(&hunks, 0, " a\n\n-b\n+d\n"), 0);
	use_all(&hunks, HUNK_USE);
	check_text(&hunks, "a\n\nd\n");
	hunks_release(&hunks);
}

static void test_an_edited_hunk_that_does_not_apply_stays(void **state)
{
	static const char *const bad[] = {
		" 1\n 2\n 3\n 4\n 5\n",		       /* nothing changes */
		" 1\n 2\n-nobody\n+three\n 4\n 5\n",    /* this is not in the file */
		"@@ -1 +x @@\n 1\n-2\n 3\n",	       /* no header */
		" 1\n-2\nx\n 3\n",		       /* no sign */
		"@@ -2 +2 @@\n-2\n",		       /* without context it must be the last line */
		" 1\n 2\n-3\n 4\n 5\n+4.5\n-6\n",      /* the same */
		" 1\n-2\n+x\n\\ No newline\n 3\n 4\n", /* a line without end in the middle */
		" 1\n 2\n-3\n-4\n-5\n-6\n-7\n-8\n-9\n 10\n", /* that changes what others change */
	};
	struct hunks hunks;

	(void)state;
	cut(&hunks, OLD, NEW);
	hunks_split(&hunks, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(edit(&hunks, 0, bad[i]), CKPT_ERROR);
		check_shown(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+three\n 4\n 5\n");
	}
	assert_int_equal(edit(&hunks, 0, "# nothing is left"), 0);
	assert_int_equal(edit(&hunks, 0, ""), 0);
	check_shown(&hunks, 0, "@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+three\n 4\n 5\n");
	use_all(&hunks, HUNK_USE);
	check_text(&hunks, NEW);
	hunks_release(&hunks);
}

static void random_content(struct strbuf *out, const struct strbuf *from)
{
	static const char *const lines[] = { "a\n", "b\n", "\n", "\r\n", "}\n", "\xff\xfe\n", "c\r\n", "-\n" };
	size_t at = 0;

	while (at < from->len) {
		const char *newline = memchr(from->buf + at, '\n', from->len - at);
		size_t next = newline ? (size_t)(newline + 1 - from->buf) : from->len;

		if (rnd(8))
			strbuf_add(out, from->buf + at, next - at);
		if (!rnd(8))
			strbuf_addstr(out, lines[rnd(ARRAY_SIZE(lines))]);
		at = next;
	}
	for (size_t i = rnd(4); i; i--)
		strbuf_addstr(out, lines[rnd(ARRAY_SIZE(lines))]);
	if (!rnd(4) && out->len)
		strbuf_setlen(out, out->len - 1);
}

/* All of them give the new content, none the old one, however they are split. */
static void test_all_or_nothing(void **state)
{
	(void)state;
	for (int round = 0; round < 500; round++) {
		struct strbuf seed = STRBUF_INIT, old = STRBUF_INIT, new = STRBUF_INIT;
		struct hunks hunks = HUNKS_INIT;

		for (size_t i = rnd(60); i; i--)
			strbuf_addf(&seed, "line %zu\n", i);
		random_content(&old, &seed);
		random_content(&new, &old);
		cut_between(&hunks, old.buf, old.len, new.buf, new.len);
		for (size_t i = 0; i < hunks.nr; i++)
			if (rnd(2))
				hunks_split(&hunks, i);
		check_result(&hunks, old.buf, old.len);
		use_all(&hunks, HUNK_USE);
		check_result(&hunks, new.buf, new.len);
		/* As if somebody had saved them unchanged in an editor. */
		for (size_t i = 0; i < hunks.nr; i++) {
			struct strbuf text = STRBUF_INIT;
			bool empty;

			hunks_show(&text, &hunks.items[i]);
			assert_int_equal(hunks_edit(&hunks, i, text.buf, text.len, &empty), 0);
			strbuf_release(&text);
		}
		check_result(&hunks, new.buf, new.len);
		hunks_release(&hunks);
		strbuf_release(&seed);
		strbuf_release(&old);
		strbuf_release(&new);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context_and_numbers_are_as_git_has_them),
		cmocka_unit_test(test_pieces_share_their_context),
		cmocka_unit_test(test_an_edited_hunk_is_applied),
		cmocka_unit_test(test_an_edited_hunk_that_does_not_apply_stays),
		cmocka_unit_test(test_all_or_nothing),
	};

	return cmocka_run_group_tests_name("hunks", tests, NULL, NULL);
}
