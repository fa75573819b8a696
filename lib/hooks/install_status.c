/* SPDX-License-Identifier: MIT */
#include "hooks/hooks.h"

#include "git/git.h"
#include "hooks/install_internal.h"

/* What is looked at. */
struct look {
	struct hooks_report *report;
	struct install_where where;
	struct install_choice choice;
	const struct repo *repo; /* NULL: none, those for all repositories */
	struct gitconfig *config;
	struct strbuf dir;  /* of hook files */
	const char *barred; /* why nothing may be written there, or "" */
	const char *names[INSTALL_NAMES];
};

const char *hooks_state_name(enum hooks_state state)
{
	static const char *const names[] = { "installed", "displaced", "missing", "not run" };

	return names[state];
}

const char *install_again(const struct install_where *where)
{
	return where->global ? "'git checkpoint hooks install --global' puts it back"
			     : "'git checkpoint hooks install' puts it back";
}

static void add_item(const struct look *look, const char *name, enum hooks_state state,
		     const char *why, const char *advice)
{
	struct hooks_report *report = look->report;
	struct hooks_item *item = &report->items[report->nr++];

	item->name = name;
	item->state = state;
	if (state != HOOKS_RUNS)
		item->repair = xstrfmt("%s; %s", why, advice);
	else if (name == hook_names[HOOK_REFERENCE_TRANSACTION])
		report->ref_transaction = true;
}

/* ---- a hook file ---- */

bool install_has_line(const char *path, const struct install_where *where, const char *dir,
		      const char *name)
{
	struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;
	bool has;

	install_line(&line, where, dir, name);
	has = !fs_read_linked(&text, path) && strstr(text.buf, line.buf);
	strbuf_release(&line);
	strbuf_release(&text);
	return has;
}

/* pre-commit first runs the hook that it found there; our line is reached through it. */
static bool is_run_by_pre_commit(const struct look *look, const char *path, const char *name)
{
	char *legacy = xstrfmt("%s.legacy", path);
	struct strbuf text = STRBUF_INIT;
	bool is = install_has_line(legacy, &look->where, look->dir.buf, name) &&
		  !access(legacy, X_OK) && !fs_read_linked(&text, path) &&
		  strstr(text.buf, "pre-commit") && !access(path, X_OK);

	strbuf_release(&text);
	free(legacy);
	return is;
}

/* `dir`: that of the line, see install_line(). */
static enum hooks_state judge_file(const struct look *look, const char *path, const char *dir,
				   const char *name, const char **why_out)
{
	char *script = install_where_path(&look->where, name);
	enum hooks_state state = HOOKS_RUNS;
	struct stat st;

	*why_out = "";
	if (lstat(path, &st) < 0) {
		*why_out = !look->where.global ? "it was removed"
			   : look->repo	       ? "the repository is older than 'hooks install --global'"
					       : "it is gone from the template";
		state = HOOKS_MISSING;
	} else if (!install_has_line(path, &look->where, dir, name)) {
		*why_out = "another hook is in its place";
		state = HOOKS_DISPLACED;
	} else if (access(path, X_OK) < 0) {
		*why_out = "it is not executable";
		state = HOOKS_NOT_RUN;
	} else if (access(script, R_OK) < 0) {
		*why_out = "the script that it runs is gone";
		state = HOOKS_NOT_RUN;
	}
	if (dir && state == HOOKS_DISPLACED && is_run_by_pre_commit(look, path, name))
		state = HOOKS_RUNS;
	free(script);
	return state;
}

/* One of our files that is not where git looks now. */
static bool is_elsewhere(const struct look *look, const char *name, const char *path)
{
	struct strlist all = STRLIST_INIT;
	bool found = false;

	(void)install_list(&all, look->where.by);
	for (size_t i = 0; i < all.nr && !found; i++) {
		const char *slash = strrchr(all.items[i], '/');
		char *dir = xmemdupz(all.items[i], (size_t)(slash - all.items[i]));

		found = !strcmp(slash + 1, name) && strcmp(all.items[i], path) &&
			strcmp(dir, look->where.dir) &&
			install_has_line(all.items[i], &look->where, dir, name);
		free(dir);
	}
	strlist_release(&all);
	return found;
}

/* The repository's own, or the one that it got from the template. */
static void look_at_file(const struct look *look, const char *name)
{
	bool global = look->where.global;
	char *path = xstrfmt("%s/%s", look->dir.buf, name), *text = NULL;
	const char *why, *moved = gitconfig_get(look->config, "core.hookspath", GITCONFIG_COMMAND);
	const char *advice = global ? "'git checkpoint hooks install' adds it to this repository"
				    : install_again(&look->where);
	enum hooks_state state = judge_file(look, path, global ? NULL : look->dir.buf, name, &why);

	if (state != HOOKS_RUNS && *look->barred) {
		text = xstrfmt("git takes hooks from '%s', %s", look->dir.buf, look->barred);
		advice = global ? "use 'git checkpoint hooks install --global --guard', which needs "
				  "no hooks"
				: "use 'git checkpoint hooks install --guard', which needs no hooks, "
				  "or set core.hooksPath in this repository";
	} else if (moved && *moved && (state == HOOKS_MISSING || (!global && state != HOOKS_RUNS &&
								  is_elsewhere(look, name, path)))) {
		text = xstrfmt("git takes hooks from '%s' (core.hooksPath)", look->dir.buf);
	}
	add_item(look, name, text ? HOOKS_NOT_RUN : state, text ? text : why, advice);
	free(text);
	free(path);
}

/* ---- those for all repositories ---- */

/* Whether new repositories get the hook. */
static void look_at_template(const struct look *look, const char *name)
{
	const char *value = gitconfig_get(look->config, "init.templatedir", GITCONFIG_GLOBAL), *why;
	char *dir = install_where_path(&look->where, INSTALL_TEMPLATE);
	char *path = xstrfmt("%s/hooks/%s", dir, name);
	enum hooks_state state = judge_file(look, path, NULL, name, &why);

	if (!value || strcmp(value, dir)) {
		state = HOOKS_DISPLACED;
		why = "init.templateDir no longer names our template";
	}
	add_item(look, name, state, why, install_again(&look->where));
	free(path);
	free(dir);
}

static void note_outdated(const struct look *look)
{
	char *from = install_template_from(&look->where, look->config);

	if (install_template_outdated(&look->where, look->names, look->config))
		strlist_addf(&look->report->notes,
			     "'%s' was changed since; 'git checkpoint hooks install --global' "
			     "takes that over into our template",
			     from);
	free(from);
}

/* ---- all ---- */

static void look_at_hook(const struct look *look, const char *name)
{
	const char *why, *advice;
	enum hooks_state state;

	if (install_config_has_hook(&look->where, look->config, name)) {
		state = install_config_hook_state(&look->where, look->config, name, &why, &advice);
		add_item(look, name, state, why, advice);
		look->report->config_hooks = true;
	} else if (!look->where.global || (look->report->template && look->repo)) {
		look_at_file(look, name);
	} else if (look->report->template) {
		look_at_template(look, name);
	}
}

/* Whether hooks come from a template: the directory or the value may be gone. */
static bool has_template(const struct look *look)
{
	const char *value = gitconfig_get(look->config, "init.templatedir", GITCONFIG_GLOBAL);
	char *dir = install_where_path(&look->where, INSTALL_TEMPLATE);
	bool has = look->where.global && (fs_is_dir(dir) || (value && !strcmp(value, dir)));

	free(dir);
	return has;
}

static void look_at_all(struct look *look)
{
	struct hooks_report *report = look->report;
	const char *why, *advice;
	enum hooks_state state;

	look->barred = "";
	if (look->repo)
		(void)install_directory(&look->dir, &look->barred, look->repo, look->config);
	report->template = has_template(look);
	install_wanted(look->names, &look->choice);
	for (size_t i = 0; look->names[i]; i++)
		look_at_hook(look, look->names[i]);
	if (look->choice.guard) {
		state = install_config_guard_state(&look->where, look->config, &why, &advice);
		report->guard = true;
		add_item(look, hook_names[HOOK_FSMONITOR], state, why, advice);
	}
	if (report->template)
		note_outdated(look);
}

/* Releases what is in `look`. */
static int fill_report(struct look *look)
{
	struct hooks_report *report = look->report;
	int err = 0;

	install_choice_read(&look->choice, &look->where);
	report->installed = look->choice.exists;
	strlist_release(&report->events);
	strlist_extend(&report->events, &look->choice.events);
	if (report->installed)
		err = gitconfig_open(&look->config, look->repo);
	if (!err && report->installed)
		look_at_all(look);
	gitconfig_close(look->config);
	install_choice_release(&look->choice);
	install_where_release(&look->where);
	strbuf_release(&look->dir);
	return err;
}

static int look_for_all(struct hooks_report *report, const struct repo *repo)
{
	struct look look = { .report = report, .repo = repo, .dir = STRBUF_INIT };

	return install_where_global(&look.where) ? 0 : fill_report(&look);
}

int hooks_global_status(struct hooks_report *report)
{
	return look_for_all(report, NULL);
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
	struct look look = { .report = report, .repo = repo, .dir = STRBUF_INIT };
	struct hooks_report global = { 0 };
	int err;

	install_where_repo(&look.where, repo);
	err = fill_report(&look);
	report->submodules = report->installed && has_submodules(repo);
	if (!err)
		err = look_for_all(&global, repo);
	if (err || !global.installed) {
		hooks_report_release(&global);
		return err;
	}
	count_own(&global, report);
	report->global = xmalloc(sizeof(global));
	*report->global = global;
	return 0;
}

bool hooks_all_run(const struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++)
		if (report->items[i].state != HOOKS_RUNS)
			return false;
	return true;
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

const struct hooks_report *hooks_in_force(const struct hooks_report *report)
{
	return report->installed || !report->global ? report : report->global;
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

void hooks_check(struct strlist *problems, const struct hooks_report *report)
{
	report = hooks_in_force(report);
	for (size_t i = 0; i < report->nr; i++)
		if (report->items[i].state != HOOKS_RUNS)
			strlist_addf(problems, "hook %s: %s: %s",
				     hooks_state_name(report->items[i].state),
				     report->items[i].name, report->items[i].repair);
}
