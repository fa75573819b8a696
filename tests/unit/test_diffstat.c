/* SPDX-License-Identifier: MIT */
#include "ui/patch.h"

#include "base/alloc.h"

#include "unit.h"

/* Files are put into a scratch repository as two states; `git diff --stat` is the measure. */
enum { MOST_FILES = 64 };

static struct diffstat_file files[MOST_FILES];
static size_t files_nr;

static int setup(void **state)
{
	files_nr = 0;
	if (unit_setup(state))
		return -1;
	sh("git init -q; git config core.quotePath false");
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < files_nr; i++)
		free((char *)files[i].path);
	return unit_teardown(state);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct diffstat_file *)a)->path,
		      ((const struct diffstat_file *)b)->path);
}

static void add_text(const char *path, size_t added, size_t removed)
{
	files[files_nr++] = (struct diffstat_file){ .path = xstrdup(path), .added = added,
						    .removed = removed };
}

static void add_binary(const char *path, size_t old_size, size_t new_size)
{
	files[files_nr++] = (struct diffstat_file){ .path = xstrdup(path), .binary = true,
						    .old_size = old_size, .new_size = new_size };
}

static void put_file(const struct diffstat_file *file, bool is)
{
	struct strbuf text = STRBUF_INIT;

	sh("mkdir -p \"$(dirname '%s')\"", file->path);
	if (file->binary) {
		for (size_t i = is ? file->new_size : file->old_size; i; i--)
			strbuf_addch(&text, is && text.len ? '\1' : '\0');
	} else {
		strbuf_addstr(&text, "common\n");
		for (size_t i = 0; i < (is ? file->added : file->removed); i++)
			strbuf_addf(&text, "%s %zu\n", is ? "new" : "old", i);
	}
	/* One with neither lines nor bytes to show differs by its mode. */
	put_bytes(file->path, text.buf, text.len);
	chmod(file->path, is && !file->added && !file->removed && !file->binary ? 0755 : 0644);
	strbuf_release(&text);
}

static void expect_as_git(void)
{
	static const unsigned widths[] = { 80, 10, 22, 30, 40, 61, 79, 100, 132, 200 };

	qsort(files, files_nr, sizeof(files[0]), by_path);
	for (int is = 0; is < 2; is++) {
		for (size_t i = 0; i < files_nr; i++)
			put_file(&files[i], is);
		sh("git add -A; %s", is ? ":" : "git commit -q --allow-empty -m x");
	}
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

		ask(&want, "git diff --cached --stat=%u --no-renames", widths[i]);
		assert_true(want.len > 0);
		diffstat_format(&got, files, files_nr, widths[i], false);
		assert_string_equal(got.buf, want.buf);
		strbuf_release(&got);
		strbuf_release(&want);
	}
}

static void test_diffstat_small(void **state)
{
	(void)state;
	add_text("a", 1, 0);
	add_text("dir/b", 3, 2);
	add_text("c", 0, 1);
	expect_as_git();
}

static void test_diffstat_scaled(void **state)
{
	(void)state;
	add_text("huge", 4000, 1200);
	add_text("tiny", 1, 1);
	add_text("only-removed", 0, 700);
	add_text("only-added", 90, 0);
	add_text("even", 333, 333);
	expect_as_git();
}

static void test_diffstat_long_names(void **state)
{
	(void)state;
	add_text("a/very/deep/directory/of/names/that/do/not/fit/into/any/terminal/at/all/x.c", 5, 2);
	add_text("one-single-name-without-any-slash-in-it-that-is-longer-than-most-lines-are", 70, 9);
	add_text("short", 1, 1);
	expect_as_git();
}

static void test_diffstat_wide_names(void **state)
{
	(void)state;
	add_text("\xe6\xbc\xa2\xe5\xad\x97", 12, 30);
	add_text("d\xc3\xa4", 1, 1);
	add_text("plain", 2, 0);
	expect_as_git();
}

/* Columns count, not bytes; git 2.39 still cuts by bytes, so it cannot be compared here. */
static void test_diffstat_wide_names_cut(void **state)
{
	struct diffstat_file some[] = {
		{ .path = "dir/\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97"
			  "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", .added = 1 },
		{ .path = "x", .removed = 1 },
	};
	struct strbuf out = STRBUF_INIT;

	(void)state;
	diffstat_format(&out, some, 2, 20, false);
	assert_string_equal(out.buf, " ...\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97"
				     "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2 | 1 +\n"
				     " x               | 1 -\n"
				     " 2 files changed, 1 insertion(+), 1 deletion(-)\n");
	strbuf_release(&out);
}

static void test_diffstat_binary(void **state)
{
	(void)state;
	add_binary("bin", 10, 123456);
	add_binary("emptied", 7, 0);
	add_text("text", 2, 1);
	expect_as_git();
}

static void test_diffstat_mode_only(void **state)
{
	(void)state;
	add_text("script", 0, 0);
	expect_as_git();
}

static void test_diffstat_single(void **state)
{
	(void)state;
	add_text("f", 1, 1);
	expect_as_git();
}

static void test_diffstat_many_shapes(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%.*sfile%02d", (int)rnd(24),
			 "some/dir/with/more/dirs/", i);
		add_text(path, rnd(97) + 1, rnd(61));
	}
	expect_as_git();
}

static void test_diffstat_mode_only_binary(void **state)
{
	struct diffstat_file file = { .path = "b", .binary = true };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	diffstat_format(&out, &file, 1, 80, false);
	assert_string_equal(out.buf,
			    " b | Bin\n 1 file changed, 0 insertions(+), 0 deletions(-)\n");
	strbuf_release(&out);
}

static void test_diffstat_colors(void **state)
{
	struct diffstat_file file = { .path = "f", .added = 2, .removed = 1 };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	diffstat_format(&out, &file, 1, 80, true);
	assert_string_equal(out.buf, " f | 3 \x1b[32m++\x1b[m\x1b[31m-\x1b[m\n"
				     " 1 file changed, 2 insertions(+), 1 deletion(-)\n");
	strbuf_release(&out);
}

static void test_diffstat_nothing(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	diffstat_format(&out, NULL, 0, 80, false);
	assert_string_equal(out.buf, " 0 files changed\n");
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_diffstat_small, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_scaled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_long_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_wide_names, setup, teardown),
		cmocka_unit_test(test_diffstat_wide_names_cut),
		cmocka_unit_test_setup_teardown(test_diffstat_binary, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_mode_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_single, setup, teardown),
		cmocka_unit_test_setup_teardown(test_diffstat_many_shapes, setup, teardown),
		cmocka_unit_test(test_diffstat_mode_only_binary),
		cmocka_unit_test(test_diffstat_colors),
		cmocka_unit_test(test_diffstat_nothing),
	};

	return cmocka_run_group_tests_name("diffstat", tests, NULL, NULL);
}
