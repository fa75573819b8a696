/* SPDX-License-Identifier: MIT */
/* Files read line by line: whatever is in them, each byte is given out once. */
#include "unit.h"

#include "base/base.h"

/* The lines of a file, put together again. */
static void assert_all_of(const char *text, size_t len)
{
	struct strbuf all = STRBUF_INIT;
	struct line_file lines;
	char *line;
	size_t line_len;

	put_bytes("file", text, len);
	assert_int_equal(lines_open(&lines, AT_FDCWD, "file"), 0);
	while (lines_next(&lines, &line, &line_len)) {
		assert_null(memchr(line, '\n', line_len));
		strbuf_add(&all, line, line_len);
		if (!lines.torn)
			strbuf_addch(&all, '\n');
	}
	assert_int_equal(lines.error, 0);
	assert_int_equal(all.len, len);
	assert_memory_equal(all.buf, text, len);
	lines_close(&lines);
	strbuf_release(&all);
}

static void test_lines_of_any_length(void **state)
{
	(void)state;
	assert_all_of("", 0);
	assert_all_of("\n", 1);
	assert_all_of("\n\n", 2);
	assert_all_of("torn", 4);
	assert_all_of("a\0b\n\0", 5);
	for (int round = 0; round < 60; round++) {
		/* as long as the buffer, a little shorter or longer, or several times as long */
		size_t len = 32768 * (1 + rnd(4)) - 3 + rnd(6);
		char *text = xmalloc(len);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)rnd(256);
		if (round % 2)
			for (size_t i = 0; i < len; i++)
				if (text[i] == '\n')
					text[i] = 'x';
		for (int n = round % 3; n; n--)
			text[rnd((unsigned)len)] = '\n';
		assert_all_of(text, len);
		free(text);
	}
}

static void test_lines_of_what_cannot_be_read(void **state)
{
	struct line_file lines;
	char *line;
	size_t len;

	(void)state;
	assert_int_equal(lines_open(&lines, AT_FDCWD, "none"), CKPT_ENOTFOUND);
	assert_int_equal(lines.error, ENOENT);
	assert_false(lines_next(&lines, &line, &len));
	lines_close(&lines);
	sh("mkdir dir; ln -s file link");
	assert_int_not_equal(lines_open(&lines, AT_FDCWD, "dir"), 0);
	lines_close(&lines);
	assert_int_not_equal(lines_open(&lines, AT_FDCWD, "link"), 0);
	lines_close(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_any_length),
		cmocka_unit_test(test_lines_of_what_cannot_be_read),
	};

	return cmocka_run_group_tests_name("lines", tests, unit_setup, unit_teardown);
}
