/* SPDX-License-Identifier: MIT */
#include "ui/patch.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "base/hash.h"

#include "unit.h"

static const struct patch_opts plain = PATCH_OPTS_INIT;
static const struct patch_opts in_color = { .context = 3, .color = true };

/*
 * Most of this compares with git itself: pairs of files are put into a scratch
 * repository as two states, and the patches of all of them, one after the
 * other in order of path, must be what `git diff` prints for the two.
 */
enum { MOST_PAIRS = 600, RANDOM_PAIRS = 250 };

struct blob {
	unsigned mode; /* 0: not there */
	char *data;
	size_t len;
};

struct pair {
	char *path;
	struct blob was, is;
};

static struct pair pairs[MOST_PAIRS];
static size_t pairs_nr;

static void set_pair(const char *path, unsigned old_mode, const void *old_data, size_t old_len,
		     unsigned new_mode, const void *new_data, size_t new_len)
{
	struct pair *pair = &pairs[pairs_nr++];

	assert_true(pairs_nr <= MOST_PAIRS);
	pair->path = xstrdup(path);
	pair->was = (struct blob){ old_mode, old_mode ? xmemdupz(old_data, old_len) : NULL,
				   old_len };
	pair->is = (struct blob){ new_mode, new_mode ? xmemdupz(new_data, new_len) : NULL,
				  new_len };
}

static void set_text(const char *path, unsigned old_mode, const char *was, unsigned new_mode,
		     const char *is)
{
	set_pair(path, old_mode, was, was ? strlen(was) : 0, new_mode, is, is ? strlen(is) : 0);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->path, ((const struct pair *)b)->path);
}

static void put_state(bool is)
{
	for (size_t i = 0; i < pairs_nr; i++) {
		const struct blob *blob = is ? &pairs[i].is : &pairs[i].was;
		const char *path = pairs[i].path;

		unlink(path);
		if (S_ISLNK(blob->mode))
			assert_int_equal(symlink(blob->data, path), 0);
		else if (blob->mode)
			assert_int_equal(fs_write_file(AT_FDCWD, path, blob->data, blob->len,
						       blob->mode & 07777, FS_FAST),
					 0);
	}
}

/* Both states into the repository: the old one as HEAD, the new one as the index. */
static void put_pairs(void)
{
	qsort(pairs, pairs_nr, sizeof(pairs[0]), by_path);
	put_state(false);
	sh("git add -A; git commit -q --allow-empty -m x");
	put_state(true);
	sh("git add -A");
}

static void input_of(struct patch_input *in, const struct pair *pair)
{
	struct digest *sha1 = hash_new(HASH_SHA1);

	memset(in, 0, sizeof(*in));
	if (pair->was.mode) {
		in->old_path = pair->path;
		hash_object(sha1, &in->old_oid, "blob", pair->was.data, pair->was.len);
	}
	if (pair->is.mode) {
		in->new_path = pair->path;
		hash_object(sha1, &in->new_oid, "blob", pair->is.data, pair->is.len);
	}
	in->old_mode = pair->was.mode;
	in->new_mode = pair->is.mode;
	in->old_data = pair->was.data;
	in->old_len = pair->was.len;
	in->new_data = pair->is.data;
	in->new_len = pair->is.len;
	hash_free(sha1);
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("git init -q; git config core.quotePath false; git config core.abbrev 7;"
	   "git config core.autocrlf false");
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < pairs_nr; i++) {
		free(pairs[i].path);
		free(pairs[i].was.data);
		free(pairs[i].is.data);
	}
	pairs_nr = 0;
	return unit_teardown(state);
}

/* Everything between ESC and "m". */
static void strip_colors(struct strbuf *sb)
{
	size_t kept = 0;

	for (size_t i = 0; i < sb->len; i++) {
		if (sb->buf[i] == '\x1b')
			while (i < sb->len && sb->buf[i] != 'm')
				i++;
		else
			sb->buf[kept++] = sb->buf[i];
	}
	strbuf_setlen(sb, kept);
}

static void expect_same(const struct strbuf *got, const struct strbuf *want)
{
	size_t at = 0, line = 0;

	while (at < got->len && at < want->len && got->buf[at] == want->buf[at])
		at++;
	if (at == got->len && at == want->len)
		return;
	for (line = at; line && want->buf[line - 1] != '\n'; line--)
		;
	print_error("differ at byte %zu\ngit:  %.300s\n---- ours: %.300s\n", at,
		    want->buf + (line < want->len ? line : want->len),
		    got->buf + (line < got->len ? line : got->len));
	fail();
}

static void expect_as_git(void)
{
	struct strbuf ours = STRBUF_INIT, colored = STRBUF_INIT, theirs = STRBUF_INIT;
	struct strbuf numbers = STRBUF_INIT, want_numbers = STRBUF_INIT;

	put_pairs();
	for (size_t i = 0; i < pairs_nr; i++) {
		size_t added = 99, removed = 99;
		bool binary = false;
		struct patch_input in;

		input_of(&in, &pairs[i]);
		assert_int_equal(patch_print(&ours, &in, &plain), 0);
		assert_int_equal(patch_print(&colored, &in, &in_color), 0);
		assert_int_equal(patch_count(&added, &removed, &binary, &in, &plain), 0);
		if (binary)
			strbuf_addf(&numbers, "\n-\t-\t%s\n", pairs[i].path);
		else
			strbuf_addf(&numbers, "\n%zu\t%zu\t%s\n", added, removed, pairs[i].path);
	}
	ask(&theirs, "git diff --cached --no-renames HEAD");
	assert_true(theirs.len > 0);
	expect_same(&ours, &theirs);
	strip_colors(&colored);
	expect_same(&colored, &theirs);

	strbuf_reset(&theirs);
	ask(&theirs, "git diff-index --cached --numstat HEAD");
	/* Names in quotes have been compared above. */
	for (const char *p = theirs.buf; *p; p = strchr(p, '\n') + 1)
		if (!memchr(p, '"', strcspn(p, "\n")))
			strbuf_add(&want_numbers, p, strcspn(p, "\n") + 1);
	for (const char *p = want_numbers.buf; *p; p = strchr(p, '\n') + 1) {
		char *one = xstrfmt("\n%.*s\n", (int)strcspn(p, "\n"), p);

		if (!strstr(numbers.buf, one))
			print_error("git counts: %s", one);
		assert_non_null(strstr(numbers.buf, one));
		free(one);
	}
	strbuf_release(&want_numbers);
	strbuf_release(&numbers);
	strbuf_release(&theirs);
	strbuf_release(&colored);
	strbuf_release(&ours);
}

static void test_patch_text(void **state)
{
	(void)state;
	set_text("edit", 0100644, "one\ntwo\nthree\n", 0100644, "one\n2\nthree\n");
	set_text("grow", 0100644, "one\n", 0100644, "one\ntwo\n");
	set_text("shrink", 0100644, "one\ntwo\n", 0100644, "two\n");
	set_text("new", 0, NULL, 0100644, "hello\nworld\n");
	set_text("new-exec", 0, NULL, 0100755, "#!/bin/sh\n");
	set_text("gone", 0100755, "bye\n", 0, NULL);
	set_text("context", 0100644, "int main(void)\n{\n\ta;\n\tb;\n\tc;\n\td;\n\te;\n}\n", 0100644,
		 "int main(void)\n{\n\ta;\n\tb;\n\tc;\n\td;\n\tf;\n}\n");
	set_text("crlf", 0100644, "a\r\nb\r\nc\r\n", 0100644, "a\r\nB\r\nc\n");
	set_text("long", 0100644,
		 "x: a line of a hundred bytes and more that begins a function, to see where its "
		 "text is cut off in a header\n1\n2\n3\n4\n5\n6\n7\n",
		 0100644,
		 "x: a line of a hundred bytes and more that begins a function, to see where its "
		 "text is cut off in a header\n1\n2\n3\n4\n5\n6\n8\n");
	expect_as_git();
}

static void test_patch_no_newline(void **state)
{
	(void)state;
	set_text("both", 0100644, "a\nb", 0100644, "a\nc");
	set_text("context", 0100644, "a\nb\nc", 0100644, "A\nb\nc");
	set_text("lost", 0100644, "a\nb\n", 0100644, "a\nb");
	set_text("found", 0100644, "a\nb", 0100644, "a\nb\n");
	set_text("new", 0, NULL, 0100644, "x");
	set_text("gone", 0100644, "x", 0, NULL);
	set_text("cr", 0100644, "x\r", 0100644, "y\r");
	expect_as_git();
}

static void test_patch_empty(void **state)
{
	(void)state;
	set_text("new", 0, NULL, 0100644, "");
	set_text("gone", 0100644, "", 0, NULL);
	set_text("filled", 0100644, "", 0100644, "a\n");
	set_text("emptied", 0100644, "a\nb\n", 0100644, "");
	set_text("same", 0100644, "", 0100644, "");
	expect_as_git();
}

static void test_patch_modes(void **state)
{
	(void)state;
	set_text("exec", 0100644, "a\n", 0100755, "a\n");
	set_text("unexec-edit", 0100755, "a\n", 0100644, "b\n");
	set_text("empty-exec", 0100644, "", 0100755, "");
	set_pair("binary-exec", 0100644, "\0a", 2, 0100755, "\0a", 2);
	set_pair("binary-edit", 0100644, "\0a", 2, 0100755, "\0b", 2);
	expect_as_git();
}

static void test_patch_binary(void **state)
{
	char *late = xcalloc(1, 9000);

	(void)state;
	/* git looks at the first 8000 bytes. */
	memset(late, 'x', 9000);
	late[8000] = '\0';
	set_pair("late", 0100644, "a", 1, 0100644, late, 9000);
	late[8000] = 'x';
	late[7999] = '\0';
	set_pair("early", 0100644, "a", 1, 0100644, late, 9000);
	set_pair("edit", 0100644, "\0one", 4, 0100644, "\0two", 4);
	set_pair("new", 0, NULL, 0, 0100755, "\0", 1);
	set_pair("gone", 0100644, "\0", 1, 0, NULL, 0);
	set_pair("from-text", 0100644, "a\n", 2, 0100644, "\0", 1);
	set_pair("to-empty", 0100644, "\0", 1, 0100644, "", 0);
	set_pair("name with\ttab", 0100644, "\0", 1, 0100644, "\1\0", 2);
	set_pair("latin", 0100644, "\xe4\xf6\n", 3, 0100644, "\xe4\xfc\n", 3);
	free(late);
	expect_as_git();
}

static void test_patch_links(void **state)
{
	(void)state;
	set_text("link", 0120000, "old/target", 0120000, "new target");
	set_text("new", 0, NULL, 0120000, "somewhere");
	set_text("gone", 0120000, "somewhere", 0, NULL);
	set_text("file-to-link", 0100644, "text\n", 0120000, "target");
	set_text("link-to-file", 0120000, "target", 0100755, "text\nmore\n");
	set_text("link-to-its-target", 0120000, "target", 0100644, "target");
	expect_as_git();
}

static void expect_names_as_git(const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		set_text(names[i], i % 3 == 1 ? 0 : 0100644, "a\n", i % 3 == 2 ? 0 : 0100644,
			 "b\n");
	expect_as_git();
}

static void test_patch_names(void **state)
{
	static const char *const names[] = {
		"with space",	" lead",      "tab\there",
		"new\nline",	"quote\"d",   "back\\slash",
		"\x01\x1b[31m", "del\x7f",    "\xc3\xa4\xe2\x82\xac",
		"-dash",	":colon",     "a b\tc",
		"trail ",	"\a\b\v\f\r", "single'",
		"#hash",
	};

	(void)state;
	expect_names_as_git(names, ARRAY_SIZE(names));
}

/* What a terminal may obey is never left as it is: there we are as git by default. */
static void test_patch_names_with_control_characters(void **state)
{
	static const char *const names[] = {
		"bad\xff\xfe", "bad\xff\n",	   "csi\xc2\x9b[31m",
		"raw\x9b[31m", "\xe2\x80\xae.txt", "\xc3\xa4\tb",
	};

	(void)state;
	sh("git config core.quotePath true");
	expect_names_as_git(names, ARRAY_SIZE(names));
}

static void random_line(struct strbuf *out)
{
	static const char *const lines[] = {
		"int main(void)", "{",	"}",	     "\treturn 0;", "\t\tif (x)",  "",
		"\t\tbreak;",	  "def f():", "    pass", "  ",	  "_private:", "$dollar",
		"end",		  "\tfor (;;) {", "\t}", "word\r",	  "/* why */", "#include <x>",
	};

	if (rnd(4))
		strbuf_addstr(out, lines[rnd(ARRAY_SIZE(lines))]);
	else
		strbuf_addf(out, "%*sline %u", (int)rnd(9), "", rnd(50));
	strbuf_addch(out, '\n');
}

/* Some lines kept, some changed, some put in, some left out. */
static void random_edit(struct strbuf *out, const struct strbuf *text)
{
	uint32_t rate = 2 + rnd(30);

	for (const char *p = text->buf; *p;) {
		size_t len = strcspn(p, "\n") + 1;
		uint32_t dice = rnd(rate * 3);

		if (dice == 0)
			random_line(out);
		if (dice == 1)
			for (uint32_t n = rnd(6); n; n--)
				random_line(out);
		if (dice != 0 && dice != 2)
			strbuf_add(out, p, len);
		p += len;
	}
}

static void test_patch_random(void **state)
{
	(void)state;
	for (int i = 0; i < RANDOM_PAIRS; i++) {
		struct strbuf was = STRBUF_INIT, is = STRBUF_INIT;
		char path[32];

		for (uint32_t n = rnd(i % 10 ? 60 : 600); n; n--)
			random_line(&was);
		random_edit(&is, &was);
		if (was.len && !rnd(8))
			strbuf_setlen(&was, was.len - 1);
		if (is.len && !rnd(8))
			strbuf_setlen(&is, is.len - 1);
		snprintf(path, sizeof(path), "file%03d", i);
		set_pair(path, rnd(20) ? 0100644 : 0, was.buf, was.len,
			 rnd(20) ? (rnd(20) ? 0100644 : 0100755) : 0, is.buf, is.len);
		strbuf_release(&was);
		strbuf_release(&is);
	}
	expect_as_git();
}

static void expect_patch(const struct patch_input *in, bool color, const char *want)
{
	struct strbuf out = STRBUF_INIT;

	assert_int_equal(patch_print(&out, in, color ? &in_color : &plain), 0);
	assert_string_equal(out.buf, want);
	strbuf_release(&out);
}

/* What git has no words for. */
static void test_patch_odd_modes(void **state)
{
	struct patch_input in = { .old_path = "x", .new_path = "x", .old_mode = 0100644,
				  .new_mode = 0100600, .old_data = "a\n", .new_data = "a\n",
				  .old_len = 2, .new_len = 2 };

	(void)state;
	expect_patch(&in, false, "diff --git a/x b/x\nold mode 100644\nnew mode 100600\n");
	in.old_mode = 0104755;
	in.new_mode = 0104755;
	expect_patch(&in, false, "");
	in.old_path = NULL;
	expect_patch(&in, false,
		     "diff --git a/x b/x\nnew file mode 100755\nindex 0000000..0000000\n"
		     "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
	in.old_path = "x";
	in.old_mode = in.new_mode = 0100600;
	in.old_data = "b\n";
	expect_patch(&in, false,
		     "diff --git a/x b/x\nindex 0000000..0000000 100644\n--- a/x\n+++ b/x\n"
		     "@@ -1 +1 @@\n-b\n+a\n");
}

static void test_patch_directories(void **state)
{
	struct patch_input in = { .old_path = "d", .new_path = "d", .old_mode = 040755,
				  .new_mode = 040700 };

	(void)state;
	expect_patch(&in, false, "diff --git a/d b/d\nold mode 040755\nnew mode 040700\n");
	in.old_path = NULL;
	expect_patch(&in, false, "");
	in.old_path = "d";
	in.new_mode = 0100644;
	in.new_data = "a\n";
	in.new_len = 2;
	expect_patch(&in, false,
		     "diff --git a/d b/d\nnew file mode 100644\nindex 0000000..0000000\n"
		     "--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+a\n");
}

static void test_patch_unread_content(void **state)
{
	struct patch_input in = { .old_path = "big", .new_path = "big", .old_mode = 0100644,
				  .new_mode = 0100644, .old_data = NULL, .new_data = NULL,
				  .old_len = 1 << 30, .new_len = 1 << 30 };
	size_t added = 9, removed = 9;
	bool binary = false;

	(void)state;
	expect_patch(&in, false, "");
	in.new_oid.id[0] = 0xab;
	expect_patch(&in, false,
		     "diff --git a/big b/big\nindex 0000000..ab00000 100644\n"
		     "Binary files a/big and b/big differ\n");
	assert_int_equal(patch_count(&added, &removed, &binary, &in, &plain), 0);
	assert_true(binary);
	assert_int_equal(added, 0);
	assert_int_equal(removed, 0);
}

static void test_patch_colors(void **state)
{
	struct patch_input in = { .old_path = "x", .new_path = "x", .old_mode = 0100644,
				  .new_mode = 0100644, .old_data = "a\nb\r\n", .new_data = "a\nc\r\n",
				  .old_len = 5, .new_len = 5 };

	(void)state;
	expect_patch(&in, true,
		     "\x1b[1mdiff --git a/x b/x\x1b[m\n"
		     "\x1b[1mindex 0000000..0000000 100644\x1b[m\n"
		     "\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n"
		     "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n a\n\x1b[31m-b\x1b[m\r\n\x1b[32m+c\x1b[m\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_patch_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_no_newline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_modes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_binary, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patch_names_with_control_characters, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_patch_random, setup, teardown),
		cmocka_unit_test(test_patch_odd_modes),
		cmocka_unit_test(test_patch_directories),
		cmocka_unit_test(test_patch_unread_content),
		cmocka_unit_test(test_patch_colors),
	};

	return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
