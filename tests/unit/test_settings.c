/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fsio.h"
#include "base/strbuf.h"
#include "git/gitconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The sources are set up by name, then a child (the environment is scrubbed
 * once per process) loads them and writes down all that it got:
 *
 *     <key>=<value>|<origin>
 *     warning: ...
 *     error: ...
 */

enum source { USER_FILE, STORE_FILE, GIT_GLOBAL, ENVIRONMENT, GIT_COMMAND, SOURCES };

static char root[512];
static char user_file[600], store_file[600], git_file[600], link_file[600];
static char report[65536];

static void write_bytes(const char *path, const char *text, size_t len)
{
	assert_int_equal(fs_write_file(AT_FDCWD, path, text, len, 0644, FS_FAST), 0);
}

static void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

static void load_and_tell(FILE *out)
{
	struct gitconfig *config = NULL;
	struct ckpt_settings settings;

	env_scrub();
	if (gitconfig_open(&config, NULL) || ckpt_settings_load(&settings, config, store_file, NULL)) {
		fprintf(out, "error: %s\n", ckpt_error_last());
		gitconfig_close(config);
		return;
	}
	for (unsigned i = 0; i < ckpt_setting_count; i++) {
		char *value = ckpt_setting_value(&settings, i);

		fprintf(out, "%s=%s|%s\n", ckpt_setting_table[i].key, value,
			ckpt_setting_origin(&settings, i));
		free(value);
	}
	for (size_t i = 0; i < settings.warnings.nr; i++)
		fprintf(out, "warning: %s\n", settings.warnings.items[i]);
	ckpt_settings_release(&settings);
	gitconfig_close(config);
}

static void load(void)
{
	int pipefd[2], status;
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	if (!pid) {
		FILE *out = fdopen(pipefd[1], "w");

		load_and_tell(out);
		_exit(fclose(out) ? 1 : 0);
	}
	close(pipefd[1]);
	len = fs_read_full(pipefd[0], report, sizeof(report) - 1);
	close(pipefd[0]);
	assert_true(len >= 0);
	report[len] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void has(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The report has this whole line. */
static void has(const char *fmt, ...)
{
	struct strbuf line = STRBUF_INIT, all = STRBUF_INIT;
	va_list ap;
	bool found;

	strbuf_addch(&line, '\n');
	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	strbuf_addch(&line, '\n');
	strbuf_addf(&all, "\n%s", report);
	found = strstr(all.buf, line.buf) != NULL;
	strbuf_release(&all);
	if (!found)
		fail_msg("no line '%s' in:\n%s", line.buf, report);
	strbuf_release(&line);
}

static void has_no(const char *text)
{
	if (strstr(report, text))
		fail_msg("'%s' in:\n%s", text, report);
}

static char *variable_of(const char *key)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_addstr(&name, "GIT_CHECKPOINT_");
	for (; *key; key++) {
		if (isupper((unsigned char)*key))
			strbuf_addch(&name, '_');
		strbuf_addch(&name, toupper((unsigned char)*key));
	}
	return strbuf_detach(&name, NULL);
}

static void reset(void)
{
	unlink(user_file);
	unlink(store_file);
	write_text(git_file, "");
	unsetenv("GIT_CONFIG_PARAMETERS");
	for (unsigned i = 0; i < ckpt_setting_count; i++) {
		char *name = variable_of(ckpt_setting_table[i].key);

		unsetenv(name);
		free(name);
	}
}

/* Give a key in one source; returns what that place is called. */
static const char *give(enum source source, const char *key, const char *value)
{
	static char origin[700];
	char *text = xstrfmt("# first\n  %s = %s\n", key, value), *name;

	switch (source) {
	case USER_FILE:
	case STORE_FILE:
		write_text(source == USER_FILE ? user_file : store_file, text);
		snprintf(origin, sizeof(origin), "%s:2",
			 source == USER_FILE ? user_file : store_file);
		break;
	case GIT_GLOBAL:
		free(text);
		text = xstrfmt("[checkpoint]\n%s = \"%s\"\n", key, value);
		write_text(git_file, text);
		snprintf(origin, sizeof(origin), "git config (global)");
		break;
	case ENVIRONMENT:
		name = variable_of(key);
		setenv(name, value, 1);
		snprintf(origin, sizeof(origin), "%s", name);
		free(name);
		break;
	default:
		free(text);
		text = xstrfmt("'checkpoint.%s'='%s'", key, value);
		setenv("GIT_CONFIG_PARAMETERS", text, 1);
		snprintf(origin, sizeof(origin), "git config (command)");
	}
	free(text);
	return origin;
}

static void test_settings_defaults(void **state)
{
	(void)state;
	reset();
	load();
	assert_int_equal(ckpt_setting_count, 20);
	for (unsigned i = 0; i < ckpt_setting_count; i++)
		has("%s=%s|default", ckpt_setting_table[i].key, ckpt_setting_table[i].fallback);
	has("maxCount=50|default");
	has("lockTimeout=30s|default");
	has_no("warning");
	has_no("error");
}

static void test_settings_table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ckpt_setting_count; i++) {
		const struct ckpt_setting_info *info = &ckpt_setting_table[i];

		assert_int_equal(info->runs_command, !strcmp(info->key, "verifyCommand"));
		assert_int_equal(info->runs_command, !strcmp(info->type, "command"));
		assert_true(strlen(info->help) > 10 && strlen(info->help) <= 70);
		assert_true(islower((unsigned char)info->help[0]));
		assert_int_not_equal(info->help[strlen(info->help) - 1], '.');
	}
}

static const struct {
	const char *key, *value, *shown;
} good[] = {
	{ "maxCount", "7", "7" },	     { "maxCount", "0", "none" },
	{ "maxCount", "none", "none" },      { "maxAge", "36h", "36h" },
	{ "maxAge", "2w", "14d" },	     { "maxAge", "Never", "never" },
	{ "maxSize", "500m", "500m" },       { "maxSize", "2GB", "2g" },
	{ "maxSize", "1025", "1025" },       { "maxSize", "none", "none" },
	{ "keepHourly", "24", "24" },	     { "keepDaily", "none", "0" },
	{ "keepDaily", "7", "7" },	     { "keepWeekly", "0", "0" },
	{ "maxFiles", "5", "5" },	     { "maxFiles", "none", "none" },
	{ "maxFileSize", "1k", "1k" },       { "maxFileSize", "never", "none" },
	{ "lockTimeout", "0s", "0s" },       { "lockTimeout", "2m", "2m" },
	{ "threads", "1", "1" },	     { "threads", "64", "64" },
	{ "threads", "auto", "auto" },       { "compression", "0", "0" },
	{ "compression", "9", "9" },	     { "exclude", "*.o", "*.o" },
	{ "sensitive", "my key", "my key" }, { "color", "ALWAYS", "always" },
	{ "color", "true", "auto" },	     { "color", "no", "never" },
	{ "progress", "never", "never" },    { "hookTimeout", "1s", "1s" },
	{ "hookQuiet", "true", "true" },     { "hookQuiet", "On", "true" },
	{ "hookQuiet", "0", "false" },       { "flowStaleAfter", "1h", "1h" },
};

static void test_settings_good_values_everywhere(void **state)
{
	(void)state;
	for (int source = 0; source < SOURCES; source++)
		for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
			const char *origin;

			reset();
			origin = give((enum source)source, good[i].key, good[i].value);
			load();
			has("%s=%s|%s", good[i].key, good[i].shown, origin);
			has_no("warning");
		}
}

static const struct {
	const char *key, *value;
} bad[] = {
	{ "maxCount", "-1" },	  { "maxCount", "many" },   { "maxAge", "7" },
	{ "maxAge", "7x" },	  { "maxSize", "big" },	    { "maxSize", "1.5g" },
	{ "maxFiles", "1e6" },	  { "maxFileSize", "-3k" }, { "lockTimeout", "30" },
	{ "lockTimeout", "never" }, { "threads", "0" },	    { "threads", "65" },
	{ "compression", "10" },  { "compression", "fast" }, { "color", "sometimes" },
	{ "progress", "2" },	  { "hookTimeout", "x" },   { "hookQuiet", "perhaps" },
	{ "flowStaleAfter", "1y" }, { "keepHourly", "-1" }, { "keepDaily", "7d" },
	{ "keepWeekly", "many" },
};

static void test_settings_bad_values_everywhere(void **state)
{
	(void)state;
	for (int source = 0; source < SOURCES; source++)
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			char start[1024];
			const char *origin;

			reset();
			origin = give((enum source)source, bad[i].key, bad[i].value);
			load();
			snprintf(start, sizeof(start), "error: %s: bad value '%s' for '%s': ", origin,
				 bad[i].value, bad[i].key);
			assert_int_equal(strncmp(report, start, strlen(start)), 0);
		}
	reset();
	write_text(store_file, "maxCount =\n");
	load();
	assert_non_null(strstr(report, ":1: bad value '' for 'maxCount'"));
}

static void test_settings_precedence(void **state)
{
	(void)state;
	reset();
	give(USER_FILE, "maxCount", "1");
	load();
	has("maxCount=1|%s:2", user_file);
	give(GIT_GLOBAL, "maxCount", "2");
	load();
	has("maxCount=2|git config (global)");
	give(STORE_FILE, "maxCount", "3");
	load();
	has("maxCount=3|%s:2", store_file);
	give(ENVIRONMENT, "maxCount", "4");
	load();
	has("maxCount=4|GIT_CHECKPOINT_MAX_COUNT");
	give(GIT_COMMAND, "maxCount", "5");
	load();
	has("maxCount=5|git config (command)");
	/* Within one source the later one wins, and the case of a key is free. */
	reset();
	write_text(store_file, "maxcount=1\nMAXCOUNT = 2\n");
	load();
	has("maxCount=2|%s:2", store_file);
	setenv("GIT_CHECKPOINT_MAX_COUNT", "", 1);
	load();
	has("maxCount=2|%s:2", store_file);
}

static void test_settings_patterns_add_up(void **state)
{
	(void)state;
	reset();
	write_text(user_file, "exclude = a b\nexclude = c ; comment\nexclude =\n");
	write_text(git_file, "[checkpoint]\nexclude = d\n\texclude = \"e # f\"\n");
	write_text(store_file, "exclude = !g\n");
	setenv("GIT_CHECKPOINT_EXCLUDE", "h\n\ni j\n", 1);
	setenv("GIT_CONFIG_PARAMETERS", "'checkpoint.exclude'='k'", 1);
	load();
	has("exclude=a b\nc\nd\ne # f\n!g\nh\ni j\nk|%s:1, %s:2, %s:3, git config (global), "
	    "git config (global), %s:1, GIT_CHECKPOINT_EXCLUDE, git config (command)",
	    user_file, user_file, user_file, store_file);
	has("sensitive=|default");
}

static void test_settings_commands_need_a_file(void **state)
{
	(void)state;
	for (int source = 0; source < SOURCES; source++) {
		const char *origin;

		reset();
		origin = give((enum source)source, "verifyCommand", "make check");
		load();
		if (source == USER_FILE || source == STORE_FILE) {
			has("verifyCommand=make check|%s", origin);
			has_no("warning");
			continue;
		}
		has("verifyCommand=|default");
		has("warning: %s: 'verifyCommand' runs a command and is ignored here; it is honoured "
		    "only in $XDG_CONFIG_HOME/git-checkpoint/config and in checkpoint/config of the "
		    "store", origin);
	}
	reset();
	write_text(user_file, "verifyCommand = make\n");
	write_text(store_file, "verifyCommand =\n");
	load();
	has("verifyCommand=|%s:1", store_file);
}

static void test_settings_unknown_keys(void **state)
{
	(void)state;
	reset();
	write_text(user_file, "\n\nmaxcuont = 3\n[checkpoint]\n\tmaxCount = 4\n");
	write_text(store_file, "[hooks]\nevents = x\nmaxCount = 1\n[capture \"db\"]\n"
			       "command = dump\n[Capture \"x y\"]\nz=1\n[capture]\nname=1\n");
	write_text(git_file, "[checkpoint]\nfoo = 1\n[checkpoint \"Sub\"]\nmaxCount = 2\n");
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
	write_text(user_file, "\xef\xbb\xbf  maxCount = 3\r\n\r\n\tmaxAge: 2d ; two\r\n"
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
		write_text(user_file, text.buf);
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
	char start[700];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		reset();
		strbuf_reset(&text);
		strbuf_addf(&text, "maxCount = 1\n\n\t%s\nmaxAge = 1d\n", lines[i]);
		write_text(store_file, text.buf);
		load();
		snprintf(start, sizeof(start), "error: %s:3: ", store_file);
		assert_int_equal(strncmp(report, start, strlen(start)), 0);
	}
	for (size_t len = 150; len < 6000; len += len < 250 ? 1 : 1000) {
		strbuf_reset(&text);
		strbuf_addstr(&text, "\n\n[");
		add_repeated(&text, 's', len);
		write_text(store_file, text.buf);
		load();
		assert_int_equal(strncmp(report, start, strlen(start)), 0);
		text.buf[2] = 'k';
		write_text(store_file, text.buf);
		load();
		assert_int_equal(strncmp(report, start, strlen(start)), 0);
	}
	write_bytes(store_file, "a\0b\n", 4);
	load();
	snprintf(start, sizeof(start), "error: %s:1: ", store_file);
	assert_int_equal(strncmp(report, start, strlen(start)), 0);
	strbuf_release(&text);
}

static void test_settings_places_of_the_user_file(void **state)
{
	char path[800];

	(void)state;
	reset();
	write_text(user_file, "maxCount = 1\n");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	load();
	has("maxCount=50|default");
	snprintf(path, sizeof(path), "%s/.config/git-checkpoint/config", root);
	write_text(path, "maxCount = 2\n");
	load();
	has("maxCount=2|%s:1", path);
	unsetenv("XDG_CONFIG_HOME");
	load();
	has("maxCount=2|%s:1", path);
	unsetenv("HOME");
	load();
	has("maxCount=50|default");
	setenv("HOME", root, 1);
	/* Where people keep their configuration elsewhere, it is a link. */
	unlink(path);
	write_text(link_file, "maxCount = 3\n");
	assert_int_equal(symlink(link_file, path), 0);
	load();
	has("maxCount=3|%s:1", path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/xdg", root);
	setenv("XDG_CONFIG_HOME", path, 1);
}

static void test_settings_without_sources(void **state)
{
	struct ckpt_settings settings;

	(void)state;
	reset();
	assert_int_equal(ckpt_settings_load(&settings, NULL, NULL, NULL), 0);
	assert_int_equal(settings.max_count, 50);
	assert_int_equal(settings.max_age, 0);
	assert_int_equal(settings.max_size, 0);
	assert_int_equal(settings.max_files, 1000000);
	assert_int_equal(settings.max_file_size, 0);
	assert_int_equal(settings.lock_timeout, 30);
	assert_int_equal(settings.threads, 0);
	assert_int_equal(settings.compression, 1);
	assert_int_equal(settings.exclude.nr, 0);
	assert_string_equal(settings.color, "auto");
	assert_null(settings.verify_command);
	assert_int_equal(settings.hook_timeout, 10);
	assert_false(settings.hook_quiet);
	assert_int_equal(settings.flow_stale_after, 7 * 86400);
	ckpt_settings_release(&settings);
	ckpt_settings_release(&settings);
	write_text(store_file, "maxFiles = 0\n");
	assert_int_equal(ckpt_settings_load(&settings, NULL, store_file, NULL), 0);
	assert_true(settings.max_files == UINT64_MAX);
	ckpt_settings_release(&settings);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char pattern[400], path[600], *real;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/ckpt-settings-XXXXXX", tmp ? tmp : "/tmp");
	real = mkdtemp(pattern) ? realpath(pattern, NULL) : NULL;
	if (!real)
		return -1;
	snprintf(root, sizeof(root), "%s", real);
	free(real);
	snprintf(path, sizeof(path), "%s/xdg/git-checkpoint", root);
	if (fs_mkdir_p(path, 0755))
		return -1;
	snprintf(path, sizeof(path), "%s/.config/git-checkpoint", root);
	if (fs_mkdir_p(path, 0755))
		return -1;
	snprintf(user_file, sizeof(user_file), "%s/xdg/git-checkpoint/config", root);
	snprintf(store_file, sizeof(store_file), "%s/store-config", root);
	snprintf(git_file, sizeof(git_file), "%s/gitconfig", root);
	snprintf(link_file, sizeof(link_file), "%s/linked", root);
	snprintf(path, sizeof(path), "%s/xdg", root);
	env_scrub();
	setenv("HOME", root, 1);
	setenv("XDG_CONFIG_HOME", path, 1);
	setenv("GIT_CONFIG_GLOBAL", git_file, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fs_remove_tree(AT_FDCWD, root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_defaults),
		cmocka_unit_test(test_settings_table),
		cmocka_unit_test(test_settings_good_values_everywhere),
		cmocka_unit_test(test_settings_bad_values_everywhere),
		cmocka_unit_test(test_settings_precedence),
		cmocka_unit_test(test_settings_patterns_add_up),
		cmocka_unit_test(test_settings_commands_need_a_file),
		cmocka_unit_test(test_settings_unknown_keys),
		cmocka_unit_test(test_settings_form_of_files),
		cmocka_unit_test(test_settings_long_lines),
		cmocka_unit_test(test_settings_malformed_lines),
		cmocka_unit_test(test_settings_places_of_the_user_file),
		cmocka_unit_test(test_settings_without_sources),
	};

	return cmocka_run_group_tests_name("settings", tests, setup, teardown);
}
