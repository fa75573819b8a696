/* SPDX-License-Identifier: MIT */
/* Files with settings: where they are, how they are written, and what is wrong with them. */
#include "settings/settings.h"

#include "base/alloc.h"

#include "unit.h"

#include "settingsprobe.h"

static void test_settings_unknown_keys(void **state)
{
	(void)state;
	reset();
	put_text(user_file, "\n\nmaxcuont = 3\n[checkpoint]\n\tmaxCount = 4\n");
	put_text(store_file, "[hooks]\nevents = x\nmaxCount = 1\n[capture \"db\"]\n"
			       "command = dump\n[Capture \"x y\"]\nz=1\n[capture]\nname=1\n");
	put_text(git_file, "[checkpoint]\nfoo = 1\n[checkpoint \"Sub\"]\nmaxCount = 2\n");
	setenv("GIT_CONFIG_PARAMETERS", "'checkpoint.bar'='1'", 1);
	load();
	has("warning: %s:3: unknown key 'maxcuont'", user_file);
	has("warning: %s:5: unknown key 'checkpoint.maxCount'", user_file);
	has("warning: %s:9: unknown key 'capture.name'", store_file);
	has("warning: git config (global): unknown key 'checkpoint.foo'");
	has("warning: git config (global): unknown key 'checkpoint.Sub.maxcount'");
	has("warning: git config (command): unknown key 'checkpoint.bar'");
	has("maxCount=50|default");
	has_no("hooks");
	has_no("z'");
	has_no("command'");
}

static void test_settings_form_of_files(void **state)
{
	(void)state;
	reset();
	/* A mark at the start, CRLF, indentation, comments, no newline at the end. */
	put_text(user_file, "\xef\xbb\xbf  maxCount = 3\r\n\r\n\tmaxAge: 2d ; two\r\n"
			      "   lockTimeout=5s\t# five\r\n ; maxFiles = 1\r\n  # threads = 1\r\n"
			      "exclude = a;b#c\r\ncompression =\t4  ");
	load();
	has("maxCount=3|%s:1", user_file);
	has("maxAge=2d|%s:3", user_file);
	has("lockTimeout=5s|%s:4", user_file);
	has("maxFiles=1000000|default");
	has("threads=auto|default");
	has("exclude=a;b#c|%s:7", user_file);
	has("compression=4|%s:8", user_file);
	has_no("warning");
}

static void add_repeated(struct strbuf *sb, char c, size_t count)
{
	strbuf_grow(sb, count);
	while (count--)
		strbuf_addch(sb, c);
}

static void test_settings_long_lines(void **state)
{
	/* Around the limits of inih's buffers, and far beyond. */
	static const size_t lengths[] = { 40, 48, 49, 50, 51, 180, 184, 185, 186, 187, 188, 189,
					  190, 191, 195, 198, 199, 200, 201, 399, 5000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct strbuf text = STRBUF_INIT, value = STRBUF_INIT;

		reset();
		strbuf_addstr(&text, "# ");
		add_repeated(&text, 'c', lengths[i]);
		strbuf_addstr(&value, "a=b:");
		add_repeated(&value, 'x', lengths[i]);
		strbuf_addf(&text, "\n\texclude = %s   ; ", value.buf);
		add_repeated(&text, 'c', lengths[i]);
		strbuf_addstr(&text, "\nsensitive =");
		add_repeated(&text, ' ', lengths[i]);
		strbuf_addstr(&text, "y\n[capture \"");
		add_repeated(&text, 'n', lengths[i]);
		strbuf_addstr(&text, "\"]  ; ");
		add_repeated(&text, 'c', lengths[i]);
		strbuf_addstr(&text, "\ncommand = x\n[");
		add_repeated(&text, 's', lengths[i]);
		strbuf_addstr(&text, "]\nkey = 1\n");
		put_text(user_file, text.buf);
		load();
		has("exclude=%s|%s:2", value.buf, user_file);
		has("sensitive=y|%s:3", user_file);
		strbuf_reset(&text);
		add_repeated(&text, 's', lengths[i]);
		has("warning: %s:7: unknown key '%s.key'", user_file, text.buf);
		has_no("command'");
		strbuf_release(&text);
		strbuf_release(&value);
	}
}

static void test_settings_malformed_lines(void **state)
{
	static const char *const lines[] = { "nonsense", "[open", " = 3", "[open\nmaxCount=x",
					     "maxCount" };
	struct strbuf text = STRBUF_INIT;
	char start[2 * PATH_MAX + 16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		reset();
		strbuf_reset(&text);
		strbuf_addf(&text, "maxCount = 1\n\n\t%s\nmaxAge = 1d\n", lines[i]);
		put_text(store_file, text.buf);
		load();
		snprintf(start, sizeof(start), "error: %s:3: ", store_file);
		assert_int_equal(strncmp(report.buf, start, strlen(start)), 0);
	}
	for (size_t len = 150; len < 6000; len += len < 250 ? 1 : 1000) {
		strbuf_reset(&text);
		strbuf_addstr(&text, "\n\n[");
		add_repeated(&text, 's', len);
		put_text(store_file, text.buf);
		load();
		assert_int_equal(strncmp(report.buf, start, strlen(start)), 0);
		text.buf[2] = 'k';
		put_text(store_file, text.buf);
		load();
		assert_int_equal(strncmp(report.buf, start, strlen(start)), 0);
	}
	put_bytes(store_file, "a\0b\n", 4);
	load();
	snprintf(start, sizeof(start), "error: %s:1: ", store_file);
	assert_int_equal(strncmp(report.buf, start, strlen(start)), 0);
	strbuf_release(&text);
}

static void test_settings_places_of_the_user_file(void **state)
{
	const char *path = in_scratch(".config/git-checkpoint/config");

	(void)state;
	reset();
	put_text(user_file, "maxCount = 1\n");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	load();
	has("maxCount=50|default");
	put_text(path, "maxCount = 2\n");
	load();
	has("maxCount=2|%s:1", path);
	unsetenv("XDG_CONFIG_HOME");
	load();
	has("maxCount=2|%s:1", path);
	unsetenv("HOME");
	load();
	has("maxCount=50|default");
	setenv("HOME", scratch, 1);
	/* Where people keep their configuration elsewhere, it is a link. */
	unlink(path);
	put_text("linked", "maxCount = 3\n");
	assert_int_equal(symlink(in_scratch("linked"), path), 0);
	load();
	has("maxCount=3|%s:1", path);
	unlink(path);
	setenv("XDG_CONFIG_HOME", in_scratch("xdg"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_unknown_keys),
		cmocka_unit_test(test_settings_form_of_files),
		cmocka_unit_test(test_settings_long_lines),
		cmocka_unit_test(test_settings_malformed_lines),
		cmocka_unit_test(test_settings_places_of_the_user_file),
	};

	return cmocka_run_group_tests_name("settings files", tests, settings_setup, unit_teardown);
}
