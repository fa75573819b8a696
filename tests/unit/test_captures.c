/* SPDX-License-Identifier: MIT */
#include "captures/captures.h"

#include "base/error.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The user's file; the store's is a path of its own. */
static char user_file[4096], store_file[4096];

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int load(struct capture_defs *out, const char *user, const char *store)
{
	write_text(user_file, user);
	write_text(store_file, store);
	return capture_defs_load(out, store_file, NULL);
}

static void test_all_keys(void **state)
{
	struct capture_defs defs;
	const struct capture_def *def;

	(void)state;
	assert_int_equal(load(&defs,
			      "maxCount = 3\n"
			      "[capture \"db\"]\n"
			      "\ttype    = database_savepoint\n"
			      "\tsave    = pg_dump -Fc app          ; its stdout is stored\n"
			      "\trestore = pg_restore -d app; true\n"
			      "\tauto    = true\n"
			      "\ttimeout = 2m\n"
			      "[hooks]\nsave = not ours\n"
			      "[Capture \"x.y_z-1\"]\nSave = true\n",
			      ""),
			 0);
	assert_int_equal(defs.nr, 2);
	assert_int_equal(defs.warnings.nr, 0);
	def = capture_defs_find(&defs, "db");
	assert_non_null(def);
	assert_string_equal(def->type, CAPTURE_DATABASE);
	assert_string_equal(def->save, "pg_dump -Fc app");
	assert_string_equal(def->restore, "pg_restore -d app; true");
	assert_true(def->automatic);
	assert_int_equal(def->timeout, 120);
	def = capture_defs_find(&defs, "x.y_z-1");
	assert_non_null(def);
	assert_string_equal(def->type, "state_snapshot");
	assert_string_equal(def->save, "true");
	assert_null(def->restore);
	assert_false(def->automatic);
	assert_int_equal(def->timeout, 0);
	assert_null(capture_defs_find(&defs, "DB"));
	capture_defs_release(&defs);
}

static void test_the_store_adds_and_overrides(void **state)
{
	struct capture_defs defs;

	(void)state;
	assert_int_equal(load(&defs,
			      "[capture \"b\"]\nsave = 1\nrestore = 1\nauto = on\ntimeout = 5s\n",
			      "[capture \"a\"]\nsave = 2\n"
			      "[capture \"b\"]\nsave = 3\nauto = no\nrestore =\ntimeout = none\n"),
			 0);
	assert_int_equal(defs.nr, 2);
	assert_string_equal(defs.items[0].name, "b");
	assert_string_equal(defs.items[0].save, "3");
	assert_null(defs.items[0].restore);
	assert_false(defs.items[0].automatic);
	assert_int_equal(defs.items[0].timeout, 0);
	assert_string_equal(defs.items[1].name, "a");
	capture_defs_release(&defs);
}

static void test_bad_ones(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "[capture \"a\"]\ntype = databse_savepoint\n", ":2: " },
		{ "[capture \"a\"]\nsave = x\n\nauto = maybe\n", ":4: " },
		{ "[capture \"a\"]\ntimeout = 10\n", ":2: " },
		{ "[capture \"a\"]\ntimeout = 0s\n", ":2: " },
		{ "[capture \"\"]\nsave = x\n", ":2: " },
		{ "[capture \"a/b\"]\nsave = x\n", ":2: " },
		{ "[capture \"../x\"]\nsave = x\n", ":2: " },
		{ "[capture \".git\"]\nsave = x\n", ":2: " },
		{ "[capture \"a b\"]\nsave = x\n", ":2: " },
	};
	struct capture_defs defs;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(load(&defs, bad[i].text, ""), CKPT_ERROR);
		assert_non_null(strstr(ckpt_error_last(), user_file));
		assert_non_null(strstr(ckpt_error_last(), bad[i].place));
		assert_int_equal(load(&defs, "", bad[i].text), CKPT_ERROR);
		assert_non_null(strstr(ckpt_error_last(), store_file));
	}
	assert_int_equal(load(&defs, "[capture \"a\"]\nshave = x\n", ""), 0);
	assert_int_equal(defs.warnings.nr, 1);
	assert_non_null(strstr(defs.warnings.items[0], ":2: unknown key 'shave'"));
	capture_defs_release(&defs);
}

static void test_no_files(void **state)
{
	struct capture_defs defs;

	(void)state;
	remove(user_file);
	remove(store_file);
	assert_int_equal(capture_defs_load(&defs, store_file, NULL), 0);
	assert_int_equal(defs.nr, 0);
	assert_int_equal(capture_defs_load(&defs, NULL, NULL), 0);
	/* A relative place would be one in the worktree. */
	write_text(user_file, "[capture \"a\"]\nsave = x\n");
	assert_int_equal(capture_defs_load(&defs, NULL, NULL), 0);
	assert_int_equal(defs.nr, 1);
	capture_defs_release(&defs);
	setenv("XDG_CONFIG_HOME", ".", 1);
	unsetenv("HOME");
	assert_int_equal(capture_defs_load(&defs, NULL, NULL), 0);
	assert_int_equal(defs.nr, 0);
}

static void test_names(void **state)
{
	char longest[102];

	(void)state;
	memset(longest, 'a', 101);
	longest[101] = '\0';
	assert_false(record_capture_name_valid(longest));
	longest[100] = '\0';
	assert_true(record_capture_name_valid(longest));
	assert_true(record_capture_name_valid("0.b_c-D"));
	assert_false(record_capture_name_valid("-a"));
	assert_false(record_capture_name_valid("_a"));
	assert_false(record_capture_name_valid("a\n"));
	assert_false(record_capture_name_valid(""));
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	snprintf(store_file, sizeof(store_file), "%s", in_scratch("store-config"));
	setenv("XDG_CONFIG_HOME", in_scratch("xdg"), 1);
	if (mkdir(in_scratch("xdg"), 0700) || mkdir(in_scratch("xdg/git-checkpoint"), 0700))
		return -1;
	snprintf(user_file, sizeof(user_file), "%s", in_scratch("xdg/git-checkpoint/config"));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_keys), cmocka_unit_test(test_the_store_adds_and_overrides),
		cmocka_unit_test(test_bad_ones), cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_files),
	};

	return cmocka_run_group_tests_name("capture_settings", tests, setup, unit_teardown);
}
