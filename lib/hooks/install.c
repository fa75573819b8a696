/* SPDX-License-Identifier: MIT */
#include "hooks/hooks.h"

#include "git/git.h"
#include "hooks/install_internal.h"
#include "session/session.h"

/* What an install works on. */
struct install {
	const struct session *session;
	const struct repo *repo; /* NULL: for all repositories */
	struct install_where where;
	struct install_choice choice;
	struct hooks_report *report;
	const char *names[INSTALL_NAMES]; /* of the hooks wanted */
	bool config_hooks;		  /* they are named by the configuration, */
	bool template;			  /* or go into a template, */
	struct strbuf dir;		  /* or into this directory: */
	bool files;			  /* if they do */
	struct install_changes changes;
	struct strlist dirs; /* of the template */
};

static int find_where(struct install *install, bool global)
{
	if (global) {
		int err = install_where_global(&install->where);

		if (!err)
			install->where.worktree = xstrdup(install->session->worktree);
		return err;
	}
	if (!install->repo)
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' is not in a git worktree, so it has no hooks; "
				      "'--global' is for all repositories",
				      install->session->cwd);
	install_where_repo(&install->where, install->repo);
	return 0;
}

/* ---- choices ---- */

static int choose_events(struct strlist *events, const char *list)
{
	unsigned chosen = 0;
	const char *unknown = hook_events_parse(&chosen, list);

	if (unknown)
		return ckpt_error_set(CKPT_EUSAGE,
				      "unknown event '%.*s'; use rebase, merge, am, stash or bisect",
				      (int)strcspn(unknown, ","), unknown);
	strlist_release(events);
	for (size_t i = 0; hook_event_names[i]; i++)
		if (chosen & 1u << i)
			strlist_add(events, hook_event_names[i]);
	return 0;
}

/* The guard sees everything that the hook for refs does, and costs less. */
static void choose_guard(struct install *install, const struct hooks_opts *opts)
{
	struct install_choice *choice = &install->choice;
	bool wanted = choice->guard || opts->guard, daemon;
	const char *barred = install_config_barred(&install->where, install->session->gitconfig,
						   &daemon);

	if (opts->ref_transaction >= 0)
		choice->no_ref_transaction = !opts->ref_transaction;
	else if (opts->guard)
		choice->no_ref_transaction = !*barred;
	choice->guard = wanted && !*barred;
	if (!wanted || !*barred)
		return;
	/* Other worktrees may use an installed one. */
	choice->guard = !daemon && install_config_has_guard(&install->where,
								   install->session->gitconfig);
	strlist_addf(&install->report->notes, "the guard %s: %s",
		     choice->guard ? "stays, but git does not ask it here" : "is not installed",
		     barred);
	install->report->partial |= !choice->guard;
}

static int make_choice(struct install *install, const struct hooks_opts *opts)
{
	struct install_choice *choice = &install->choice;
	const char *list = opts->events;
	bool daemon;
	int err = 0;

	install_choice_read(choice, &install->where);
	if (!list && !choice->exists)
		list = "rebase,merge";
	if (list)
		err = choose_events(&choice->events, list);
	choose_guard(install, opts);
	install->config_hooks = install_config_supported();
	/* The guard sees all that a hook does, in every repository. */
	install->template = install->where.global && !install->config_hooks &&
			    !(choice->guard && !*install_config_barred(&install->where,
								       install->session->gitconfig,
								       &daemon));
	install_wanted(install->names, choice);
	if (install->where.global && !install->config_hooks && !install->template)
		install->names[0] = NULL;
	return err;
}

/* Where hook files go, if any do. */
static void find_directory(struct install *install)
{
	const char *barred;

	install->files = !install->config_hooks && !install->where.global && install->names[0];
	if (install->files && !install_directory(&install->dir, &barred, install->repo,
						 install->session->gitconfig)) {
		strlist_addf(&install->report->notes,
			     "hooks are not installed: git takes them from '%s', %s; use '--guard', which "
			     "needs no hooks, or set core.hooksPath in this repository",
			     install->dir.buf, barred);
		install->report->partial = true;
		install->files = false;
	}
}

/* ---- what should be there ---- */

static char *format_events(const struct install_choice *choice)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < choice->events.nr; i++)
		/* A rebase has its own hook. */
		if (strcmp(choice->events.items[i], "rebase"))
			strbuf_addf(&out, "%s%s", out.len ? "," : "", choice->events.items[i]);
	return strbuf_detach(&out, NULL);
}

/* The program that core.fsmonitor named before us. */
static char *find_chain(const struct install *install)
{
	const char *before = install_config_before(install->session->gitconfig, "core.fsmonitor",
						   &install->where);
	bool ignored;

	return before && !gitconfig_parse_bool(&ignored, before) ? install_expand_home(before)
								 : xstrdup("");
}

static void add_script(struct install *install, const char *name, const struct install_values *values)
{
	char *path = install_where_path(&install->where, name);
	struct strbuf text = STRBUF_INIT;
	struct install_change *change;

	install_script(&text, name, values);
	change = install_changes_add(&install->changes, &install->where, INSTALL_FILE, path);
	change->ours = INSTALL_SIGNATURE;
	change->text = install_changes_keep(&install->changes, strbuf_detach(&text, NULL));
	free(path);
}

static void add_scripts(struct install *install)
{
	struct strbuf chosen = STRBUF_INIT;
	char *answer = install_where_path(&install->where, INSTALL_ANSWER);
	char *events = format_events(&install->choice), *chain = find_chain(install);
	struct install_values values = {
		.events = events,
		.chain = chain,
		.answer = answer,
		/* The program gives up in time; this is for one that cannot. */
		.seconds = install->session->settings.hook_timeout + 2,
	};

	install_choice_format(&chosen, &install->choice);
	values.chosen = chosen.buf;
	for (size_t i = 0; install->names[i]; i++)
		add_script(install, install->names[i], &values);
	if (install->choice.guard)
		add_script(install, hook_names[HOOK_FSMONITOR], &values);
	strbuf_release(&chosen);
	free(chain);
	free(events);
	free(answer);
}

static int add_all(struct install *install)
{
	int err = 0;

	add_scripts(install);
	if (install->template)
		err = install_template_add(&install->changes, &install->dirs, &install->where,
					   install->names, install->session->gitconfig);
	for (size_t i = 0; !err && install->files && install->names[i]; i++) {
		char *path = xstrfmt("%s/%s", install->dir.buf, install->names[i]);

		install_changes_hook(&install->changes, &install->where, path, install->names[i]);
		free(path);
	}
	if (!err)
		install_config_add(&install->changes, &install->where, install->session->gitconfig,
				   install->config_hooks ? install->names : NULL,
				   install->choice.guard, install->template);
	return err;
}

/* ---- what there may be ---- */

/* Our hook, also where a hook manager renamed it to. These come last, so they are listed first. */
static void add_hook(struct install_changes *out, const struct install_where *where,
		     const char *path, const char *name)
{
	static const char *const suffixes[] = { ".legacy", ".old", "" };
	char *dir = xmemdupz(path, (size_t)(strrchr(path, '/') - path)), *real = path_resolve(dir);
	bool own = false;

	/* A link may lead to those of somebody else. */
	for (size_t i = 0; i < where->roots.nr; i++)
		own = own || path_below(real, where->roots.items[i]);
	free(real);
	free(dir);
	if (!own)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char *parked = xstrfmt("%s%s", path, suffixes[i]);

		if (!install_changes_have(out, parked))
			install_changes_hook(out, where, parked, name);
		free(parked);
	}
}

static void add_recorded(struct install_changes *out, const struct install_where *where,
			 const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	enum hook_name name = hook_name_of(base);
	struct stat st;

	if (install_changes_have(out, path) || !strcmp(path, where->config))
		return;
	if (path_below(path, where->dir))
		install_changes_add(out, where,
				    !lstat(path, &st) && S_ISLNK(st.st_mode) ? INSTALL_LINK
									    : INSTALL_FILE,
				    path);
	else if (name < HOOK_FSMONITOR)
		add_hook(out, where, path, hook_names[name]);
}

/* Everything that an install may have put somewhere. In the reverse order it is taken back. */
static int add_known(struct install_changes *out, const struct install_where *where,
		     const struct session *session)
{
	struct strbuf dir = STRBUF_INIT;
	struct strlist recorded = STRLIST_INIT;
	const char *ignored;
	int err = install_list(&recorded, where->by);

	for (enum hook_name i = 0; i < HOOK_UNKNOWN; i++) {
		char *path = install_where_path(where, hook_names[i]);

		install_changes_add(out, where, INSTALL_FILE, path)->ours = INSTALL_SIGNATURE;
		free(path);
	}
	for (size_t i = 0; i < recorded.nr; i++)
		add_recorded(out, where, recorded.items[i]);
	for (enum hook_name i = 0; i < HOOK_FSMONITOR && !where->global; i++) {
		char *usual = xstrfmt("%s/hooks/%s", session->repo->commondir, hook_names[i]), *path;
		bool own = install_directory(&dir, &ignored, session->repo, session->gitconfig);

		add_hook(out, where, usual, hook_names[i]);
		path = xstrfmt("%s/%s", dir.buf, hook_names[i]);
		if (own)
			add_hook(out, where, path, hook_names[i]);
		free(path);
		free(usual);
	}
	install_config_add(out, where, session->gitconfig, NULL, false, false);
	strlist_release(&recorded);
	strbuf_release(&dir);
	return err;
}

/* Not what is wanted, nor hooks of that name elsewhere, which another worktree may use. */
static void drop_wanted(struct install_changes *known, const struct install *install)
{
	size_t nr = 0;

	for (size_t i = 0; i < known->nr; i++) {
		struct install_change *change = &known->items[i];
		char *path = xstrfmt("%s/%s", change->root, change->path);
		bool wanted = install_changes_have(&install->changes, path);

		for (size_t k = 0; install->files && install->names[k]; k++)
			wanted = wanted || (change->hook && !strcmp(change->hook, install->names[k]));
		if (!wanted)
			known->items[nr++] = *change;
		free(path);
	}
	known->nr = nr;
}

/* ---- doing it ---- */

static void tell_results(struct hooks_report *report, struct install_result *results, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		report->installed = report->installed || results[i].outcome != INSTALL_UNCHANGED;
		if (results[i].kept)
			strlist_addf(&report->notes,
				     "a hook was changed since; what is no longer in its place is "
				     "in '%s'",
				     results[i].kept);
		free(results[i].kept);
	}
}

static int change_all(struct hooks_report *report, const struct install_changes *changes, bool in)
{
	struct install_result *results = xcalloc(changes->nr + 1, sizeof(*results));
	int err = in ? install_put(results, changes->items, changes->nr)
		     : install_take_back(results, changes->items, changes->nr);

	tell_results(report, results, changes->nr);
	free(results);
	return err;
}

static int take_back(struct hooks_report *report, const struct install_where *where,
		     const struct session *session, const struct install *wanted)
{
	struct install_changes known = { 0 };
	int err = add_known(&known, where, session);

	if (!err && wanted)
		drop_wanted(&known, wanted);
	if (!err)
		err = change_all(report, &known, false);
	install_changes_release(&known);
	return err;
}

/* Also of a template, and of what a killed install made. */
static void remove_empty_dirs(const char *dir)
{
	struct strlist names = STRLIST_INIT;

	(void)fs_names(&names, AT_FDCWD, dir, O_NOFOLLOW, NULL);
	for (size_t i = 0; i < names.nr; i++) {
		char *path = xstrfmt("%s/%s", dir, names.items[i]);
		struct stat st;

		if (!lstat(path, &st) && S_ISDIR(st.st_mode))
			remove_empty_dirs(path);
		free(path);
	}
	if (!rmdir(dir))
		(void)fs_sync_holder(AT_FDCWD, dir);
	strlist_release(&names);
}

static int carry_out(struct install *install)
{
	int err = add_all(install);

	if (!err)
		err = change_all(install->report, &install->changes, true);
	if (!err)
		err = take_back(install->report, &install->where, install->session, install);
	if (install->where.global)
		remove_empty_dirs(install->where.dir);
	for (size_t i = 0; i < install->dirs.nr && !err; i++)
		err = fs_mkdir_p(install->dirs.items[i], 0755);
	return err;
}

static void note_global(const struct install *install)
{
	const struct gitconfig *config = install->session->gitconfig;
	const char *variable = env_git("GIT_TEMPLATE_DIR");
	const char *value = gitconfig_get(config, "core.hookspath", GITCONFIG_GLOBAL);
	struct strlist *notes = &install->report->notes;
	struct strlist lines = STRLIST_INIT;
	char *dir = value && *value ? install_expand_home(value) : NULL;

	if (variable)
		strlist_addf(notes,
			     "GIT_TEMPLATE_DIR is set: while it is, new repositories get their "
			     "hooks from '%s', not from init.templateDir",
			     variable);
	for (size_t i = 0; dir && install->names[i]; i++) {
		char *path = xstrfmt("%s/%s", dir, install->names[i]);
		struct strbuf line = STRBUF_INIT;

		install_line(&line, &install->where, NULL, install->names[i]);
		if (!install_has_line(path, &install->where, NULL, install->names[i]) ||
		    access(path, X_OK) < 0)
			strlist_addf(&lines, "%s: %.*s", path, (int)line.len - 1, line.buf);
		strbuf_release(&line);
		free(path);
	}
	if (lines.nr) {
		strlist_addf(notes,
			     "core.hooksPath is '%s' for all repositories: git runs the hooks in that "
			     "directory, and none that a new repository gets; use '--guard', or let "
			     "these hooks begin with these lines:",
			     dir);
		strlist_extend(notes, &lines);
		install->report->partial = true;
	}
	strlist_release(&lines);
	free(dir);
}

/* An install is looked at with what is in the configuration by then. */
static int look_again(struct install *install)
{
	struct hooks_report *report = install->report;
	int err = install->where.global ? hooks_global_status(report)
					: hooks_status(report, install->repo);

	if (!err && !report->events.nr)
		strlist_extend(&report->events, &install->choice.events);
	return err;
}

int hooks_install(struct hooks_report *report, const struct session *session,
		  const struct hooks_opts *opts)
{
	struct install install = { .session = session,
				   .report = report,
				   .dir = STRBUF_INIT,
				   .repo = opts->global ? NULL : session->repo };
	int err = find_where(&install, opts->global);

	if (!err)
		err = make_choice(&install, opts);
	if (!err) {
		find_directory(&install);
		err = carry_out(&install);
	}
	if (!err && install.template)
		note_global(&install);
	if (!err)
		err = look_again(&install);
	install_changes_release(&install.changes);
	install_choice_release(&install.choice);
	install_where_release(&install.where);
	strlist_release(&install.dirs);
	strbuf_release(&install.dir);
	return err;
}

/* ---- uninstalling ---- */

static bool has_template(const struct install_where *where)
{
	char *path = install_where_path(where, INSTALL_TEMPLATE);
	bool has = fs_is_dir(path);

	free(path);
	return has;
}

/* What the program left there, then the directories, if nobody else has a file in them. */
static void remove_dirs(struct hooks_report *report, const struct install_where *where)
{
	int fd = open(where->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char *template = install_where_path(where, INSTALL_TEMPLATE);

	if (fd >= 0) {
		(void)unlinkat(fd, INSTALL_ANSWER, 0);
		fs_sweep_temps(fd, ".");
		close(fd);
		remove_empty_dirs(where->dir);
	}
	if (fs_is_dir(template))
		strlist_addf(&report->notes,
			     "'%s' has later changes, so it stays; nothing uses it any more",
			     template);
	if (where->global)
		(void)rmdir(where->roots.items[0]);
	free(template);
}

/* If nothing is installed for all repositories any more, the hooks that a template left here go. */
static int remove_template_hooks(struct hooks_report *report, const struct session *session,
				 const struct install_where *here)
{
	struct install_changes changes = { 0 };
	struct install_choice choice;
	struct install_where where;
	int err = 0;

	if (install_where_global(&where))
		return 0;
	install_choice_read(&choice, &where);
	report->still_global = choice.exists;
	for (enum hook_name i = 0; i < HOOK_FSMONITOR && !choice.exists; i++) {
		char *path = xstrfmt("%s/hooks/%s", session->repo->commondir, hook_names[i]);
		struct install_change *change;
		struct strbuf text = STRBUF_INIT;

		install_hook(&text, &where, NULL, hook_names[i]);
		change = install_changes_add(&changes, here, INSTALL_HOOK, path);
		change->by = where.by;
		change->hook = hook_names[i];
		change->text = install_changes_keep(&changes, strbuf_detach(&text, NULL));
		free(path);
	}
	if (changes.nr)
		err = change_all(report, &changes, false);
	install_changes_release(&changes);
	install_choice_release(&choice);
	install_where_release(&where);
	return err;
}

int hooks_uninstall(struct hooks_report *report, const struct session *session, bool global)
{
	struct install_choice choice = { 0 };
	struct install install = { .session = session, .repo = session->repo };
	bool installed;
	int err = find_where(&install, global);

	if (err)
		return err;
	install_choice_read(&choice, &install.where);
	report->was_template = has_template(&install.where);
	err = take_back(report, &install.where, session, NULL);
	installed = report->installed || choice.exists;
	if (!err)
		remove_dirs(report, &install.where);
	if (!err && session->repo)
		err = remove_template_hooks(report, session, &install.where);
	report->installed = installed;
	install_choice_release(&choice);
	install_where_release(&install.where);
	return err;
}
