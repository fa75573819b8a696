/* SPDX-License-Identifier: MIT */
/* The values of settings, and which source wins; test_settings_files.c has the form of files. */
#include "settings/settings.h"

#include "base/alloc.h"

#include "unit.h"

#include "settingsprobe.h"

enum source { USER_FILE, STORE_FILE, GIT_GLOBAL, ENVIRONMENT, GIT_COMMAND, SOURCES };

/* Give a key in one source; returns what that place is called. */
static const char *give(enum source source, const char *key, const char *value)
{
	static char origin[2 * PATH_MAX + 16];
	char *text = xstrfmt("# first\n  %s = %s\n", key, value), *name;

	switch (source) {
	case USER_FILE:
	case STORE_FILE:
		put_text(source == USER_FILE ? user_file : store_file, text);
		snprintf(origin, sizeof(origin), "%s:2",
			 source == USER_FILE ? user_file : store_file);
		break;
	case GIT_GLOBAL:
		free(text);
		text = xstrfmt("[checkpoint]\n%s = \"%s\"\n", key, value);
		put_text(git_file, text);
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
	assert_int_equal(setting_count, 31);
	for (unsigned i = 0; i < setting_count; i++)
		has("%s=%s|default", setting_table[i].key, setting_table[i].fallback);
	has("maxCount=50|default");
	has("lockTimeout=30s|default");
	has_no("warning");
	has_no("error");
}

static void test_settings_table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < setting_count; i++) {
		const struct ckpt_setting_info *info = &setting_table[i];

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
	{ "maxAutomatic", "9", "9" },	     { "maxAutomatic", "none", "none" },
	{ "keepAllAutomatic", "0s", "0s" },  { "keepAllAutomatic", "14d", "14d" },
	{ "thinAutomatic", "none", "none" }, { "thinAutomatic", "1h:2w", "1h:14d" },
	{ "thinAutomatic", "10m:1d, 1h:7d,1w:4w", "10m:1d,1h:7d,7d:28d" },
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
	{ "keepWeekly", "many" }, { "maxAutomatic", "-1" }, { "keepAllAutomatic", "never" },
	{ "thinAutomatic", "1h" }, { "thinAutomatic", "1h:" },
	{ "thinAutomatic", "0s:1d" }, { "thinAutomatic", "1d:1h" }, { "thinAutomatic", "1h:1d," },
	{ "thinAutomatic", "1h:7d,1m:7d" }, { "thinAutomatic", "1h:1d:2d" },
	{ "thinAutomatic", "1s:1m,1s:2m,1s:3m,1s:4m,1s:5m,1s:6m,1s:7m,1s:8m,1s:9m" },
};

static void test_settings_bad_values_everywhere(void **state)
{
	(void)state;
	for (int source = 0; source < SOURCES; source++)
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			char start[3 * PATH_MAX];
			const char *origin;

			reset();
			origin = give((enum source)source, bad[i].key, bad[i].value);
			load();
			snprintf(start, sizeof(start), "error: %s: bad value '%s' for '%s': ", origin,
				 bad[i].value, bad[i].key);
			assert_int_equal(strncmp(report.buf, start, strlen(start)), 0);
		}
	reset();
	put_text(store_file, "maxCount =\n");
	load();
	assert_non_null(strstr(report.buf, ":1: bad value '' for 'maxCount'"));
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
	put_text(store_file, "maxcount=1\nMAXCOUNT = 2\n");
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
	put_text(user_file, "exclude = a b\nexclude = c ; comment\nexclude =\n");
	put_text(git_file, "[checkpoint]\nexclude = d\n\texclude = \"e # f\"\n");
	put_text(store_file, "exclude = !g\n");
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
	put_text(user_file, "verifyCommand = make\n");
	put_text(store_file, "verifyCommand =\n");
	load();
	has("verifyCommand=|%s:1", store_file);
}

static void test_settings_without_sources(void **state)
{
	struct ckpt_settings settings;

	(void)state;
	reset();
	assert_int_equal(settings_load(&settings, NULL, NULL, NULL), 0);
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
	settings_release(&settings);
	settings_release(&settings);
	put_text(store_file, "maxFiles = 0\n");
	assert_int_equal(settings_load(&settings, NULL, store_file, NULL), 0);
	assert_true(settings.max_files == UINT64_MAX);
	settings_release(&settings);
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
		cmocka_unit_test(test_settings_without_sources),
	};

	return cmocka_run_group_tests_name("settings", tests, settings_setup, unit_teardown);
}
