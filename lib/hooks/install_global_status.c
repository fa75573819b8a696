/* SPDX-License-Identifier: MIT */
#include "hooks/install_global_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/hook_rules.h"
#include "hooks/install_config_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_template_internal.h"
#include "hooks/install_where_internal.h"

/* Whether new repositories get the hook. */
static void look_at_template(struct hooks_report *report, const struct install_where *where,
			     const struct gitconfig *config, const char *name)
{
	const char *value = gitconfig_get(config, "init.templatedir", GITCONFIG_GLOBAL), *why;
	char *dir = install_record_path(where, INSTALL_TEMPLATE);
	char *path = xstrfmt("%s/hooks/%s", dir, name);
	enum hooks_state state = install_template_state(path, where, name, &why);

	if (!value || strcmp(value, dir))
		install_report_add(report, name, HOOKS_DISPLACED,
				   "init.templateDir no longer names our template",
				   install_again(where));
	else
		install_report_add(report, name, state,
				   state == HOOKS_MISSING ? "it is gone from the template" : why,
				   install_again(where));
	free(path);
	free(dir);
}

/* Whether this repository got it, and git runs it here. */
static void look_at_hook(struct hooks_report *report, const struct install_where *where,
			 const struct repo *repo, const struct gitconfig *config, const char *name)
{
	const char *advice = "'git checkpoint hooks install' adds it to this repository", *why,
		   *barred;
	struct strbuf dir = STRBUF_INIT;
	bool usable = install_directory(&dir, &barred, repo, config);
	char *path = xstrfmt("%s/%s", dir.buf, name), *text = NULL;
	enum hooks_state state = install_template_state(path, where, name, &why);
	const char *value = gitconfig_get(config, "core.hookspath", GITCONFIG_COMMAND);

	if (state != HOOKS_RUNS && !usable) {
		text = xstrfmt("git takes hooks from '%s', %s", dir.buf, barred);
		advice =
			"use 'git checkpoint hooks install --global --guard', which needs no hooks";
		state = HOOKS_NOT_RUN;
	} else if (state == HOOKS_MISSING && value && *value) {
		text = xstrfmt("git takes hooks from '%s' (core.hooksPath)", dir.buf);
		state = HOOKS_NOT_RUN;
	}
	install_report_add(report, name, state, text ? text : why, advice);
	free(text);
	free(path);
	strbuf_release(&dir);
}

static void look(struct hooks_report *report, const struct install_record *record,
		 const struct install_where *where, const struct repo *repo,
		 const struct gitconfig *config)
{
	const char *names[INSTALL_NAMES], *why, *advice;
	enum hooks_state state;

	report->installed = true;
	report->config_hooks = record->config_hooks;
	report->template = record->template;
	strlist_extend(&report->events, &record->events);
	install_global_wanted(names, record);
	for (size_t i = 0; names[i]; i++) {
		if (record->config_hooks) {
			state = install_config_hook_state(where, config, names[i], &why, &advice);
			install_report_add(report, names[i], state, why, advice);
		} else if (repo) {
			look_at_hook(report, where, repo, config, names[i]);
		} else {
			look_at_template(report, where, config, names[i]);
		}
	}
	if (record->guard)
		install_report_guard(report, where, config);
	if (record->template && install_template_outdated(record))
		strlist_addf(&report->notes,
			     "'%s' was changed since; 'git checkpoint hooks install --global' "
			     "takes that over into our template",
			     record->template_from);
}

/* `*out` stays as it is if nothing is installed. */
static int read_global(struct hooks_report *out, const struct repo *repo)
{
	struct install_record record = { 0 };
	struct gitconfig *config = NULL;
	struct install_where where;
	int err;

	if (install_where_global(&where))
		return 0;
	err = install_record_read(&record, &where);
	if (!err && record.exists)
		err = gitconfig_open(&config, repo);
	if (!err && record.exists)
		look(out, &record, &where, repo, config);
	gitconfig_close(config);
	install_record_release(&record);
	install_where_release(&where);
	return err;
}

int hooks_global_status(struct hooks_report *report)
{
	return read_global(report, NULL);
}

/* Where the repository's own runs, it stands in for the one for all. */
static void count_own(struct hooks_report *global, const struct hooks_report *own)
{
	for (size_t i = 0; i < global->nr; i++) {
		for (size_t j = 0; j < own->nr; j++) {
			if (strcmp(global->items[i].name, own->items[j].name) ||
			    own->items[j].state != HOOKS_RUNS)
				continue;
			global->items[i].state = HOOKS_RUNS;
			free(global->items[i].repair);
			global->items[i].repair = NULL;
		}
	}
}

int install_global_look(struct hooks_report *report, const struct repo *repo)
{
	struct hooks_report global = { 0 };
	int err = read_global(&global, repo);

	if (err || !global.installed) {
		hooks_report_release(&global);
		return err;
	}
	count_own(&global, report);
	report->global = xmalloc(sizeof(global));
	*report->global = global;
	return 0;
}
