/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include "base/alloc.h"
#include "base/path.h"
#include "base/strlist.h"
#include "unit.h"

/* ---- strbuf ---- */

static void check_invariants(const struct strbuf *sb)
{
	assert_non_null(sb->buf);
	assert_int_equal(sb->buf[sb->len], 0);
	assert_true(!sb->alloc || sb->len < sb->alloc);
}

/* Any sequence of calls gives what the same calls on a plain array give. */
static void test_strbuf_equals_a_plain_array(void **state)
{
	static char model[1 << 17];
	struct strbuf sb = STRBUF_INIT;
	size_t len = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char data[300];
		size_t n = rnd(sizeof(data)), from, to;

		rnd_bytes(data, n);
		switch (rnd(8)) {
		case 0:
		case 1:
			strbuf_add(&sb, data, n);
			memcpy(model + len, data, n);
			len += n;
			break;
		case 2:
			strbuf_addch(&sb, data[0]);
			model[len++] = data[0];
			break;
		case 3:
			strbuf_addf(&sb, "%*d|%s", (int)n, 42, "text");
			len += (size_t)sprintf(model + len, "%*d|%s", (int)n, 42, "text");
			break;
		case 4:
			len = len ? rnd((unsigned)len) : 0;
			strbuf_setlen(&sb, len);
			break;
		case 5:
			strbuf_grow(&sb, n);
			break;
		case 6:
			to = rnd((unsigned)len + 1);
			from = rnd((unsigned)to + 1);
			strbuf_splice(&sb, from, to, data, n);
			memmove(model + from + n, model + to, len - to);
			memcpy(model + from, data, n);
			len += n - (to - from);
			break;
		default:
			if (rnd(20))
				break;
			strbuf_release(&sb);
			len = 0;
		}
		check_invariants(&sb);
		assert_int_equal(sb.len, len);
		assert_memory_equal(sb.buf, model, len);
		if (len > sizeof(model) - 1000) {
			strbuf_reset(&sb);
			len = 0;
		}
	}
	strbuf_release(&sb);
	check_invariants(&sb);
}

static void test_strbuf_detach_gives_the_bytes_away(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	size_t len = 99;
	char *bytes;

	(void)state;
	bytes = strbuf_detach(&sb, &len);
	assert_string_equal(bytes, "");
	assert_int_equal(len, 0);
	free(bytes);

	strbuf_add(&sb, "a\0b", 3);
	bytes = strbuf_detach(&sb, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	assert_int_equal(sb.len, 0);
	strbuf_addstr(&sb, "again");
	assert_memory_equal(bytes, "a\0b", 4);
	assert_string_equal(sb.buf, "again");
	free(bytes);
	strbuf_release(&sb);
}

/* The shared empty string must stay empty whatever is done to strbufs that point at it. */
static void test_strbuf_empty_ones_share_nothing(void **state)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	(void)state;
	strbuf_add(&a, "", 0);
	strbuf_setlen(&a, 0);
	strbuf_trim(&a);
	strbuf_addstr(&a, "x");
	assert_string_equal(b.buf, "");
	assert_string_equal(strbuf_empty, "");
	strbuf_release(&a);
	strbuf_release(&b);
}

static void test_strbuf_equal_sees_every_byte(void **state)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	(void)state;
	assert_true(strbuf_equal(&a, &b));
	strbuf_add(&a, "x\0y", 3);
	assert_false(strbuf_equal(&a, &b));
	strbuf_add(&b, "x\0z", 3);
	assert_false(strbuf_equal(&a, &b));
	strbuf_splice(&b, 2, 3, "y", 1);
	assert_true(strbuf_equal(&a, &b));
	strbuf_addch(&b, '\0');
	assert_false(strbuf_equal(&b, &a));
	strbuf_release(&a);
	strbuf_release(&b);
}

static void test_strbuf_trim_cuts_both_ends_only(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		char text[12], expect[12];
		size_t len = rnd(sizeof(text) - 1), from = 0, to;

		for (size_t i = 0; i < len; i++)
			text[i] = " \t\nab"[rnd(5)];
		text[len] = '\0';
		for (to = len; to && strchr(" \t\n", text[to - 1]); to--)
			;
		while (from < to && strchr(" \t\n", text[from]))
			from++;
		memcpy(expect, text + from, to - from);
		expect[to - from] = '\0';
		strbuf_reset(&sb);
		strbuf_addstr(&sb, text);
		strbuf_trim(&sb);
		assert_string_equal(sb.buf, expect);
		assert_int_equal(sb.len, to - from);
	}
	strbuf_release(&sb);
}

/* ---- strlist ---- */

static void test_strlist_sorts_by_bytes_without_repetitions(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct strlist list = STRLIST_INIT, copy = STRLIST_INIT;
		size_t n = rnd(60);

		for (size_t i = 0; i < n; i++) {
			char text[4];

			rnd_text(text, rnd(sizeof(text)));
			strlist_add(&list, text);
		}
		strlist_extend(&copy, &list);
		assert_true(strlist_equal(&copy, &list));
		strlist_sort_unique(&list);
		for (size_t i = 1; i < list.nr; i++)
			assert_true(strcmp(list.items[i - 1], list.items[i]) < 0);
		for (size_t i = 0; i < copy.nr; i++) {
			size_t at = 0;

			while (at < list.nr && strcmp(list.items[at], copy.items[i]))
				at++;
			assert_true(at < list.nr);
		}
		assert_true(list.nr <= copy.nr);
		strlist_release(&list);
		strlist_release(&copy);
	}
}

static void test_strlist_equal_sees_every_difference(void **state)
{
	struct strlist a = STRLIST_INIT, b = STRLIST_INIT;

	(void)state;
	assert_true(strlist_equal(&a, &b));
	strlist_addf(&a, "%s-%d", "one", 1);
	assert_string_equal(a.items[0], "one-1");
	assert_false(strlist_equal(&a, &b));
	strlist_take(&b, xstrdup("one-1"));
	assert_true(strlist_equal(&a, &b));
	strlist_add(&a, "x");
	strlist_add(&b, "X");
	assert_false(strlist_equal(&a, &b));
	strlist_release(&a);
	assert_false(strlist_equal(&a, &b));
	strlist_release(&b);
	assert_int_equal(b.nr, 0);
}

/* ---- arena ---- */

/* Pieces of any size are aligned and never overlap: each keeps the bytes put into it. */
static void test_arena_pieces_do_not_overlap(void **state)
{
	enum { PIECES = 6000 };
	struct arena arena = ARENA_INIT;
	static struct {
		unsigned char *at;
		size_t len;
		unsigned char fill;
	} pieces[PIECES];

	(void)state;
	for (int i = 0; i < PIECES; i++) {
		size_t len = rnd(100) ? rnd(200) : rnd(600000);

		pieces[i].len = len;
		pieces[i].fill = (unsigned char)rnd(256);
		if (rnd(2)) {
			pieces[i].at = arena_alloc(&arena, len);
			assert_int_equal((uintptr_t)pieces[i].at % _Alignof(max_align_t), 0);
			memset(pieces[i].at, pieces[i].fill, len);
		} else {
			unsigned char *data = xmalloc(len + 1);

			memset(data, pieces[i].fill, len);
			pieces[i].at = (unsigned char *)arena_memdupz(&arena, data, len);
			assert_int_equal(pieces[i].at[len], 0);
			free(data);
		}
	}
	for (int i = 0; i < PIECES; i++)
		for (size_t j = 0; j < pieces[i].len; j++)
			if (pieces[i].at[j] != pieces[i].fill)
				fail_msg("piece %d was written over at %zu", i, j);
	arena_release(&arena);
	assert_null(arena.blocks);
	arena_release(&arena);
}

/* ---- alloc ---- */

static void test_alloc_grow_always_suffices(void **state)
{
	int *array = NULL;
	size_t alloc = 0;

	(void)state;
	for (size_t need = 1; need < 5000; need += 1 + rnd(40)) {
		size_t before = alloc;

		ALLOC_GROW(array, need, alloc);
		assert_true(alloc >= need);
		assert_true(alloc >= before);
		array[need - 1] = 1;
	}
	free(array);
}

/* ---- path ---- */

/* The same by a stack of components. */
static void model_absolute(char *out, const char *base, const char *path)
{
	char joined[256], *parts[128], *part, *rest = NULL;
	size_t nr = 0;

	snprintf(joined, sizeof(joined), "%s/%s", path[0] == '/' ? "" : base, path);
	for (part = strtok_r(joined, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		if (!strcmp(part, ".."))
			nr -= nr > 0;
		else if (strcmp(part, "."))
			parts[nr++] = part;
	}
	strcpy(out, nr ? "" : "/");
	for (size_t i = 0; i < nr; i++)
		sprintf(out + strlen(out), "/%s", parts[i]);
}

static void test_path_absolute_equals_a_stack_of_components(void **state)
{
	static const char *const pieces[] = {
		"a", "bb", ".", "..", "...", "/", "//", ".a", "a.", ""
	};
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char path[128] = "", base[128] = "/", expect[512];

		for (unsigned n = rnd(10); n; n--)
			strcat(strcat(path, pieces[rnd(10)]), rnd(3) ? "/" : "");
		for (unsigned n = rnd(5); n; n--)
			strcat(strcat(base, pieces[rnd(10)]), rnd(3) ? "/" : "");
		model_absolute(expect, base, path);
		path_absolute(&out, base, path);
		assert_string_equal(out.buf, expect);
		/* Clean already: doing it again changes nothing. */
		path_absolute(&out, "/elsewhere", expect);
		assert_string_equal(out.buf, expect);
	}
	strbuf_release(&out);
}

static void test_path_below_is_about_components(void **state)
{
	(void)state;
	assert_string_equal(path_below("/a/b/c", "/a"), "b/c");
	assert_string_equal(path_below("/a", "/a"), "");
	assert_string_equal(path_below("/a/b", "/"), "a/b");
	assert_string_equal(path_below("/", "/"), "");
	assert_null(path_below("/ab", "/a"));
	assert_null(path_below("/a", "/a/b"));
	assert_null(path_below("/a-b/c", "/a"));
	assert_null(path_below("/b", "/a"));
	for (int round = 0; round < 2000; round++) {
		struct strbuf whole = STRBUF_INIT;
		char root[20] = "/", rest[20];

		rnd_name(root + 1, 1 + rnd(10));
		rnd_name(rest, 1 + rnd(10));
		strbuf_addstr(&whole, root);
		path_append(&whole, rest);
		assert_string_equal(path_below(whole.buf, root), rest);
		strbuf_release(&whole);
	}
}

static void test_path_append_puts_one_slash(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	path_append(&sb, "a");
	assert_string_equal(sb.buf, "a");
	path_append(&sb, "b");
	assert_string_equal(sb.buf, "a/b");
	strbuf_addch(&sb, '/');
	path_append(&sb, "c");
	assert_string_equal(sb.buf, "a/b/c");
	strbuf_release(&sb);
}

static void test_path_dotgit_is_a_whole_component(void **state)
{
	static const char *const yes[] = { ".git",     "a/.git",  ".git/x",
					   "a/.git/b", "a//.git", ".git/" };
	static const char *const no[] = { "",	   ".gitignore", "a.git", "x/.gitt", "x.git/y",
					  ".gi/t", ".git2/a",	 "..git", "a/b/c",   ". git" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!path_has_dotgit(yes[i]))
			fail_msg("'%s' has a .git", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (path_has_dotgit(no[i]))
			fail_msg("'%s' has no .git", no[i]);
}

static void test_path_real_follows_links(void **state)
{
	char *real;

	(void)state;
	sh("mkdir -p d/e; ln -s d/e l");
	real = path_real(in_scratch("l/../e/."));
	assert_string_equal(real, in_scratch("d/e"));
	free(real);
	assert_null(path_real(in_scratch("none")));
}

/* A path of directories and links, absolute ones and ones that go up among them. */
static void random_path(struct strbuf *out, const char *root)
{
	static const char *const names[] = { "a", "b", "in", "l", "m", "n", "..", "." };

	strbuf_reset(out);
	strbuf_addstr(out, root);
	for (unsigned i = 0, nr = 1 + rnd(4); i < nr; i++)
		strbuf_addf(out, "%s%s", out->len ? "/" : "", names[rnd(ARRAY_SIZE(names))]);
}

/* Whether a path is another one, or none, without the directory is what it is about. */
static void test_path_visits_what_it_needs(void **state)
{
	char *dir = xstrdup(in_scratch("v/in"));
	struct strbuf path = STRBUF_INIT, link = STRBUF_INIT;
	unsigned yes = 0, no = 0;

	(void)state;
	for (int round = 0; round < 12; round++) {
		sh("rm -rf v; mkdir v; cd v; mkdir -p a/b b/a in/a in/b a/in");
		for (int i = 0; i < 12; i++) {
			static const char *const at[] = { "v", "v/a", "v/b", "v/in", "v/in/a" };

			random_path(&link, rnd(3) ? "" : in_scratch("v"));
			(void)symlink(link.buf, in_scratch("%s/%c", at[rnd(ARRAY_SIZE(at))],
							   "lmn"[rnd(3)]));
		}
		for (int i = 0; i < 200; i++) {
			char *real, *without;
			bool visits;

			random_path(&path, in_scratch("v"));
			real = path_real(path.buf);
			visits = path_visits(path.buf, dir);
			assert_int_equal(rename(dir, in_scratch("gone")), 0);
			without = path_real(path.buf);
			assert_int_equal(rename(in_scratch("gone"), dir), 0);
			if (real && visits != (!without || strcmp(real, without)))
				fail_msg("'%s' -> '%s', without it '%s'", path.buf, real, without);
			yes += real && visits;
			no += real && !visits;
			free(without);
			free(real);
		}
	}
	assert_true(yes > 100 && no > 100);
	/* A circle ends. */
	sh("rm -rf v; mkdir -p v/in; ln -s l/x v/l");
	(void)path_visits(in_scratch("v/l"), dir);
	strbuf_release(&link);
	strbuf_release(&path);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strbuf_equals_a_plain_array),
		cmocka_unit_test(test_strbuf_detach_gives_the_bytes_away),
		cmocka_unit_test(test_strbuf_empty_ones_share_nothing),
		cmocka_unit_test(test_strbuf_equal_sees_every_byte),
		cmocka_unit_test(test_strbuf_trim_cuts_both_ends_only),
		cmocka_unit_test(test_strlist_sorts_by_bytes_without_repetitions),
		cmocka_unit_test(test_strlist_equal_sees_every_difference),
		cmocka_unit_test(test_arena_pieces_do_not_overlap),
		cmocka_unit_test(test_alloc_grow_always_suffices),
		cmocka_unit_test(test_path_absolute_equals_a_stack_of_components),
		cmocka_unit_test(test_path_below_is_about_components),
		cmocka_unit_test(test_path_append_puts_one_slash),
		cmocka_unit_test(test_path_dotgit_is_a_whole_component),
		cmocka_unit_test(test_path_real_follows_links),
		cmocka_unit_test(test_path_visits_what_it_needs),
	};

	return cmocka_run_group_tests_name("strbuf", tests, unit_setup, unit_teardown);
}
