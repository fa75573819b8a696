/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_SETTINGSPROBE_H
#define CKPT_TESTS_SETTINGSPROBE_H

/*
 * What the settings come to, for tests. After unit.h.
 *
 * The sources are set up by name, then a child (the environment is scrubbed
 * once per process) loads them and writes down all that it got:
 *
 *     <key>=<value>|<origin>
 *     warning: ...
 *     error: ...
 */

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "git/gitconfig.h"
#include "settings/settings.h"

#include <ctype.h>

static char user_file[2 * PATH_MAX], store_file[2 * PATH_MAX], git_file[2 * PATH_MAX];
static struct strbuf report = STRBUF_INIT;

static void load_and_tell(FILE *out, const void *arg)
{
	struct gitconfig *config = NULL;
	struct ckpt_settings settings;

	(void)arg;
	env_scrub();
	if (gitconfig_open(&config, NULL) || settings_load(&settings, config, store_file, NULL)) {
		fprintf(out, "error: %s\n", ckpt_error_last());
		gitconfig_close(config);
		return;
	}
	for (unsigned i = 0; i < setting_count; i++) {
		char *value = setting_value(&settings, i);

		fprintf(out, "%s=%s|%s\n", setting_table[i].key, value,
			settings_origin(&settings, i));
		free(value);
	}
	for (size_t i = 0; i < settings.warnings.nr; i++)
		fprintf(out, "warning: %s\n", settings.warnings.items[i]);
	settings_release(&settings);
	gitconfig_close(config);
}

static void load(void)
{
	strbuf_reset(&report);
	in_child(&report, load_and_tell, NULL);
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
	strbuf_addf(&all, "\n%s", report.buf);
	found = strstr(all.buf, line.buf) != NULL;
	strbuf_release(&all);
	if (!found)
		fail_msg("no line '%s' in:\n%s", line.buf, report.buf);
	strbuf_release(&line);
}

UNUSED static void has_no(const char *text)
{
	if (strstr(report.buf, text))
		fail_msg("'%s' in:\n%s", text, report.buf);
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
	put_text(git_file, "");
	unsetenv("GIT_CONFIG_PARAMETERS");
	for (unsigned i = 0; i < setting_count; i++) {
		char *name = variable_of(setting_table[i].key);

		unsetenv(name);
		free(name);
	}
}

/* For cmocka_run_group_tests(), before unit_teardown(). */
static int settings_setup(void **state)
{
	if (unit_setup(state))
		return -1;
	sh("mkdir -p xdg/git-checkpoint .config/git-checkpoint");
	snprintf(user_file, sizeof(user_file), "%s", in_scratch("xdg/git-checkpoint/config"));
	snprintf(store_file, sizeof(store_file), "%s", in_scratch("store-config"));
	snprintf(git_file, sizeof(git_file), "%s", in_scratch("gitconfig"));
	setenv("XDG_CONFIG_HOME", in_scratch("xdg"), 1);
	setenv("GIT_CONFIG_GLOBAL", git_file, 1);
	return 0;
}

#endif
