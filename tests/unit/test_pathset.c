/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "unit.h"

/* Few letters, so that one name often begins another; "-" sorts before "/", "0" after it. */
static void random_path(struct strbuf *out)
{
	static const char letters[] = "a-0";

	strbuf_reset(out);
	for (int parts = 1 + (int)rnd(3); parts; parts--) {
		if (out->len)
			strbuf_addch(out, '/');
		for (int len = 1 + (int)rnd(2); len; len--)
			strbuf_addch(out, letters[rnd(3)]);
	}
}

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static void test_pathset_equals_looking_at_all(void **state)
{
	struct strbuf path = STRBUF_INIT;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct strlist paths = STRLIST_INIT;
		bool has = false, covers = false, reaches = false;

		for (int i = (int)rnd(8); i; i--) {
			random_path(&path);
			strlist_add(&paths, path.buf);
		}
		strlist_sort_unique(&paths);
		random_path(&path);
		for (size_t i = 0; i < paths.nr; i++) {
			has |= !strcmp(paths.items[i], path.buf);
			covers |= !strcmp(paths.items[i], path.buf) || below(path.buf, paths.items[i]);
			reaches |= below(paths.items[i], path.buf);
		}
		assert_int_equal(pathset_has(&paths, path.buf), has);
		assert_int_equal(pathset_covers(&paths, path.buf), covers);
		assert_int_equal(pathset_reaches(&paths, path.buf), reaches);
		strlist_release(&paths);
	}
	strbuf_release(&path);
}

static void test_pathset_root_covers_all(void **state)
{
	struct strlist paths = STRLIST_INIT;

	(void)state;
	assert_false(pathset_covers(&paths, "a"));
	strlist_add(&paths, "");
	assert_true(pathset_covers(&paths, "a/b"));
	assert_true(pathset_covers(&paths, ""));
	assert_false(pathset_reaches(&paths, "a"));
	strlist_release(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pathset_equals_looking_at_all),
		cmocka_unit_test(test_pathset_root_covers_all),
	};

	return cmocka_run_group_tests_name("pathset", tests, NULL, NULL);
}
