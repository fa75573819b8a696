/* SPDX-License-Identifier: MIT */
/* What a revert does with one path: every combination of three sides. */
#include "restore/restore.h"
#include "restore/revert_internal.h"

#include "unit.h"

/* 'a' to 'c': files with these contents; 'A' to 'C': the same with another mode; '1' to '3': links. */
static const struct wt_entry *entry(struct wt_entry *out, char c)
{
	memset(out, 0, sizeof(*out));
	out->kind = c >= '1' && c <= '3' ? WT_LINK : WT_FILE;
	out->mode = c >= 'A' && c <= 'C' ? 0600 : 0644;
	out->oid.id[0] = (unsigned char)(c >= 'A' && c <= 'C' ? c + 'a' - 'A' : c);
	return c == '-' ? NULL : out;
}

static enum revert_do decide(const char **why, const char *three)
{
	struct wt_entry e[3];
	struct revert_sides sides = { entry(&e[0], three[0]), entry(&e[1], three[1]),
				      entry(&e[2], three[2]) };

	*why = NULL;
	return revert_decide(why, &sides);
}

static void test_revert_decide(void **state)
{
	/* base, now, then */
	static const struct {
		const char *sides;
		enum revert_do what;
		const char *why;
	} rows[] = {
		{ "a-b", REVERT_CONFLICT, "modify/delete" },
		{ "a--", REVERT_NOTHING, NULL },
		{ "--a", REVERT_TAKE, NULL },
		{ "aa-", REVERT_REMOVE, NULL },
		{ "ab-", REVERT_CONFLICT, "modify/delete" },
		{ "aA-", REVERT_CONFLICT, "modify/delete" },
		{ "-aa", REVERT_NOTHING, NULL },
		{ "-ab", REVERT_CONFLICT, "add/add" },
		{ "-aA", REVERT_CONFLICT, "add/add" },
		{ "-1a", REVERT_CONFLICT, "add/add" },
		{ "aab", REVERT_TAKE, NULL },
		{ "aba", REVERT_NOTHING, NULL },
		{ "abb", REVERT_NOTHING, NULL },
		{ "abc", REVERT_MERGE, NULL },
		{ "aAb", REVERT_MERGE, NULL },
		{ "abA", REVERT_MERGE, NULL },
		{ "aa1", REVERT_TAKE, NULL },
		{ "ab1", REVERT_CONFLICT, "kind" },
		{ "a1b", REVERT_CONFLICT, "kind" },
		{ "a12", REVERT_CONFLICT, "kind" },
		{ "1ab", REVERT_CONFLICT, "kind" },
		{ "11a", REVERT_TAKE, NULL },
		{ "1a1", REVERT_NOTHING, NULL },
		{ "112", REVERT_TAKE, NULL },
		{ "121", REVERT_NOTHING, NULL },
		{ "123", REVERT_CONFLICT, "symlink" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *why;
		enum revert_do what = decide(&why, rows[i].sides);

		if (what != rows[i].what)
			fail_msg("%s: %d", rows[i].sides, (int)what);
		if (rows[i].why ? !why || strncmp(why, rows[i].why, strlen(rows[i].why))
				: why != NULL)
			fail_msg("%s: '%s'", rows[i].sides, why ? why : "nothing");
	}
}

/* Whatever it is: only what is unchanged since goes or is replaced. */
static void test_revert_decide_is_careful(void **state)
{
	static const char all[] = "-abcABC123";
	char three[4] = "";
	const char *why;

	(void)state;
	for (const char *x = all; *x; x++)
		for (const char *y = all; *y; y++)
			for (const char *z = all; *z; z++) {
				enum revert_do what;

				three[0] = *x, three[1] = *y, three[2] = *z;
				what = decide(&why, three);
				if (what == REVERT_REMOVE || what == REVERT_TAKE)
					assert_true(*x == *y && *y != *z);
				if (*y == *z || (*x == *z && *y != '-' && *x != '-'))
					assert_int_equal(what, REVERT_NOTHING);
				assert_int_equal(what == REVERT_CONFLICT, why != NULL);
			}
}

static void test_revert_modes(void **state)
{
	unsigned mode;

	(void)state;
	assert_true(revert_merge_mode(&mode, 0644, 0644, 04755) && mode == 04755);
	assert_true(revert_merge_mode(&mode, 0644, 0600, 0644) && mode == 0600);
	assert_true(revert_merge_mode(&mode, 0644, 0600, 0600) && mode == 0600);
	assert_false(revert_merge_mode(&mode, 0644, 0600, 0755));
}

static void merged(const char *base, const char *now, const char *then, bool clean,
		   const char *expected)
{
	struct strbuf three[3] = { STRBUF_INIT, STRBUF_INIT, STRBUF_INIT };
	struct revert_text out = { .text = STRBUF_INIT };

	strbuf_addstr(&three[0], base);
	strbuf_addstr(&three[1], now);
	strbuf_addstr(&three[2], then);
	assert_int_equal(revert_merge_text(&out, three, "chk_x"), 0);
	assert_false(out.binary);
	assert_int_equal(out.clean, clean);
	assert_string_equal(out.text.buf, expected);
	strbuf_release(&out.text);
	for (size_t i = 0; i < ARRAY_SIZE(three); i++)
		strbuf_release(&three[i]);
}

static void test_revert_merge_text(void **state)
{
	(void)state;
	merged("1\n2\n3\n4\n", "1\n2\n3\nx\n", "y\n2\n3\n4\n", true, "y\n2\n3\nx\n");
	merged("a", "b", "c", false, "<<<<<<< now\nb\n=======\nc\n>>>>>>> chk_x\n");
	merged("a\n", "", "b\n", false, "<<<<<<< now\n=======\nb\n>>>>>>> chk_x\n");
	merged("a\n", "a\n", "", true, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_revert_decide),
		cmocka_unit_test(test_revert_decide_is_careful),
		cmocka_unit_test(test_revert_modes),
		cmocka_unit_test(test_revert_merge_text),
	};

	return cmocka_run_group_tests_name("revert", tests, NULL, NULL);
}
