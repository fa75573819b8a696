/* SPDX-License-Identifier: MIT */
#include "hooks/install.h"

#include "base/base.h"
#include "git/git.h"
#include "hooks/hook_rules.h"
#include "hooks/install_config_internal.h"
#include "hooks/install_global_internal.h"
#include "hooks/install_internal.h"
#include "hooks/install_place_internal.h"
#include "hooks/install_record_internal.h"
#include "hooks/install_where_internal.h"

const char *hooks_state_name(enum hooks_state state)
{
	static const char *const names[] = { "installed", "displaced", "missing", "not run" };

	return names[state];
}

void install_wanted(const char *names[INSTALL_NAMES], const struct install_record *record)
{
	size_t nr = 0;

	if (strlist_has(&record->events, "rebase"))
		names[nr++] = hook_names[HOOK_PRE_REBASE];
	if (record->ref_transaction &&
	    (strlist_has(&record->events, "merge") || strlist_has(&record->events, "am") ||
	     strlist_has(&record->events, "stash") || strlist_has(&record->events, "bisect")))
		names[nr++] = hook_names[HOOK_REFERENCE_TRANSACTION];
	names[nr] = NULL;
}

/* The real path of a directory that need not exist yet. */
static char *real_dir(const char *path)
{
	char *dir = xstrdup(path), *real, *full;

	for (;;) {
		char *slash = strrchr(dir, '/');

		real = path_real(dir);
		if (real || slash == dir || !slash)
			break;
		*slash = '\0';
	}
	full = xstrfmt("%s%s", real ? real : "", path + strlen(dir));
	free(real);
	free(dir);
	return full;
}

/* Within the git directory, this worktree or the main one. */
static bool is_own(const char *dir, const struct repo *repo)
{
	char *main = install_main_worktree(repo->commondir);
	bool own = path_below(dir, repo->commondir) || path_below(dir, repo->worktree) ||
		   (main && path_below(dir, main));

	free(main);
	return own;
}

/*
 * Tracked files: with our lines in one of them git would refuse to rebase, and
 * a commit would pass paths of this machine to others.
 */
static bool is_tracked(const char **why_out, const char *dir, const struct repo *repo)
{
	const char *below = path_below(dir, repo->worktree);
	struct gitindex *index = NULL;
	bool tracked;

	if (path_below(dir, repo->commondir) || !below)
		return false;
	if (gitindex_open(&index, repo->worktree, repo->gitdir, repo->sha256)) {
		*why_out = "which may have tracked files: the index cannot be read";
		return true;
	}
	*why_out = "which has tracked files: a change would be committed";
	tracked = gitindex_has(index, below) || gitindex_has_below(index, below);
	gitindex_close(index);
	return tracked;
}

bool install_directory(struct strbuf *out, const char **why_out, const struct repo *repo,
		       const struct gitconfig *config)
{
	struct strbuf value = STRBUF_INIT;
	char *real;
	bool own, tracked;

	strbuf_reset(out);
	if (gitconfig_path(&value, config, "core.hookspath"))
		path_absolute(out, repo->worktree, value.buf);
	else
		strbuf_addf(out, "%s/hooks", repo->commondir);
	real = real_dir(out->buf);
	own = is_own(real, repo);
	*why_out = "which other repositories use, too";
	tracked = own && is_tracked(why_out, real, repo);
	if (own && !tracked)
		*why_out = "";
	strbuf_reset(out);
	strbuf_addstr(out, real);
	free(real);
	strbuf_release(&value);
	return own && !tracked;
}

const char *install_again(const struct install_where *where)
{
	return where->global ? "'git checkpoint hooks install --global' puts it back"
			     : "'git checkpoint hooks install' puts it back";
}

void install_report_add(struct hooks_report *report, const char *name, enum hooks_state state,
			const char *why, const char *advice)
{
	struct hooks_item *item = &report->items[report->nr++];

	item->name = name;
	item->state = state;
	if (state != HOOKS_RUNS)
		item->repair = xstrfmt("%s; %s", why, advice);
	else if (name == hook_names[HOOK_REFERENCE_TRANSACTION])
		report->ref_transaction = true;
}

void install_report_guard(struct hooks_report *report, const struct install_where *where,
			  const struct gitconfig *config)
{
	const char *why, *advice;
	enum hooks_state state = install_config_guard_state(where, config, &why, &advice);

	report->guard = true;
	install_report_add(report, hook_names[HOOK_FSMONITOR], state, why, advice);
}

/* One of our files that is not where git looks now. */
static bool elsewhere(const struct install_record *record, const char *name, const char *path)
{
	const char *why;

	for (size_t i = 0; i < record->nr; i++) {
		const struct install_entry *entry = &record->entries[i];

		if (!strcmp(entry->name, name) && strcmp(entry->path, path) &&
		    install_place_state(entry->path, &why) == HOOKS_RUNS)
			return true;
	}
	return false;
}

static void look_at_file(struct hooks_report *report, const struct install_record *record,
			 const struct install_where *where, const char *dir, const char *barred,
			 const char *name)
{
	char *path = xstrfmt("%s/%s", dir, name), *text = NULL;
	const char *why;
	enum hooks_state state = install_place_state(path, &why);

	if (state != HOOKS_RUNS && *barred) {
		text = xstrfmt("git takes hooks from '%s', %s", dir, barred);
		install_report_add(
			report, name, HOOKS_NOT_RUN, text,
			"use 'git checkpoint hooks install --guard', which needs no hooks, or set "
			"core.hooksPath in this repository");
	} else if (state != HOOKS_RUNS && elsewhere(record, name, path)) {
		text = xstrfmt("git takes hooks from '%s' now (core.hooksPath)", dir);
		install_report_add(report, name, HOOKS_NOT_RUN, text, install_again(where));
	} else {
		install_report_add(report, name, state, why, install_again(where));
	}
	free(text);
	free(path);
}

static void look(struct hooks_report *report, const struct install_record *record,
		 const struct install_where *where, const struct repo *repo,
		 const struct gitconfig *config)
{
	struct strbuf dir = STRBUF_INIT;
	const char *names[INSTALL_NAMES], *why, *advice, *barred;
	enum hooks_state state;

	(void)install_directory(&dir, &barred, repo, config);
	install_wanted(names, record);
	for (size_t i = 0; names[i]; i++) {
		if (record->config_hooks) {
			state = install_config_hook_state(where, config, names[i], &why, &advice);
			install_report_add(report, names[i], state, why, advice);
		} else {
			look_at_file(report, record, where, dir.buf, barred, names[i]);
		}
	}
	if (record->guard)
		install_report_guard(report, where, config);
	strbuf_release(&dir);
}

static bool has_submodules(const struct repo *repo)
{
	char *modules = xstrfmt("%s/modules", repo->commondir);
	char *list = xstrfmt("%s/.gitmodules", repo->worktree);
	bool has = fs_is_dir(modules) || !access(list, F_OK);

	free(modules);
	free(list);
	return has;
}

int hooks_status(struct hooks_report *report, const struct repo *repo)
{
	struct gitconfig *config = NULL;
	struct install_record record;
	struct install_where where;
	int err;

	install_where_repo(&where, repo);
	err = install_record_read(&record, &where);
	if (err)
		goto out;
	report->installed = record.exists;
	report->config_hooks = record.config_hooks;
	report->submodules = record.exists && has_submodules(repo);
	strlist_extend(&report->events, &record.events);
	if (record.exists)
		err = gitconfig_open(&config, repo);
	if (!err && record.exists)
		look(report, &record, &where, repo, config);
	gitconfig_close(config);
	install_record_release(&record);
	if (!err)
		err = install_global_look(report, repo);
out:
	install_where_release(&where);
	return err;
}

bool hooks_any_runs(const struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++)
		if (report->items[i].state == HOOKS_RUNS)
			return true;
	return false;
}

bool hooks_protected(const struct hooks_report *report)
{
	return hooks_any_runs(report) || (report->global && hooks_any_runs(report->global));
}

void hooks_report_release(struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++)
		free(report->items[i].repair);
	strlist_release(&report->events);
	strlist_release(&report->notes);
	if (report->global)
		hooks_report_release(report->global);
	free(report->global);
	memset(report, 0, sizeof(*report));
}

static void add_problems(struct strlist *problems, const struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++)
		if (report->items[i].state != HOOKS_RUNS)
			strlist_addf(problems, "hook %s: %s: %s",
				     hooks_state_name(report->items[i].state),
				     report->items[i].name, report->items[i].repair);
}

void hooks_check(struct strlist *problems, const struct repo *repo)
{
	struct hooks_report report = { 0 };

	if (repo && !hooks_status(&report, repo)) {
		add_problems(problems, &report);
		if (!report.installed && report.global)
			add_problems(problems, report.global);
	}
	hooks_report_release(&report);
}
