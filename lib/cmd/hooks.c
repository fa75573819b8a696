/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "hooks/hooks.h"

#define SENSITIVE "hookSensitive"

static const char *events;
static bool guard, ref_transaction, no_ref_transaction, user, print, global;
static struct strlist agents;

static bool offer_names(struct complete *complete, const char *what)
{
	const char *const *names = !strcmp(what, "--events")  ? hook_event_names
				   : !strcmp(what, "--agent") ? agents_names()
							      : NULL;

	for (size_t i = 0; names && names[i]; i++)
		complete_add(complete, names[i], NULL);
	return names != NULL;
}

/* What no hook and no guard can see. */
static const char *const blind_spots[] = {
	"git apply without --index or --3way",
	"git merge-file",
	"git worktree remove --force",
	"programs that do not use git (rm, editors, libgit2, JGit)",
};

static bool has_guard(const struct hooks_report *report)
{
	return report->guard || (report->global && report->global->guard);
}

static void list_blind_spots(struct strlist *out, const struct hooks_report *report)
{
	if (!has_guard(report)) {
		strlist_add(out, "commands that run no hook (reset --hard, checkout, switch, restore, "
				 "clean, cherry-pick, revert, rm, stash pop, --abort): only --guard");
		strlist_add(out, "git rebase --no-verify");
	}
	if (report->submodules)
		strlist_add(out, "commands run in a submodule (install hooks there, too)");
	for (size_t i = 0; i < ARRAY_SIZE(blind_spots); i++)
		strlist_add(out, blind_spots[i]);
}

/* ---- hooks ---- */

static int exit_status(const struct hooks_report *report)
{
	return !report->partial && hooks_all_run(hooks_in_force(report)) ? EXIT_DONE : EXIT_NO;
}

/* Why nothing protects this repository: the first thing to repair. */
static const char *why_not(const struct hooks_report *report)
{
	const struct hooks_report *from = hooks_in_force(report);

	return hooks_protected(report) ? NULL
	       : from->nr	       ? from->items[0].repair
				       : "no hooks are installed";
}

/* Those of the repository, or those for all. */
static void add_hooks(struct row *answer, const struct hooks_report *report)
{
	/* The guard is the last of them, and not a hook. */
	size_t nr = report->nr - (report->guard && report->nr);
	json_t *hooks = json_array();

	for (size_t i = 0; i < nr; i++) {
		const struct hooks_item *item = &report->items[i];
		struct row row = ROW_INIT;

		row_text(&row, "name", item->name);
		row_text(&row, "state", hooks_state_name(item->state));
		row_text(&row, "repair", item->repair);
		json_array_append_new(hooks, row_object(&row));
	}
	row_json(answer, "hooks", hooks);
	row_text(answer, "guard",
		 nr < report->nr ? hooks_state_name(report->items[nr].state) : NULL);
	row_texts(answer, "events", &report->events);
}

static json_t *report_object(const struct hooks_report *report)
{
	struct row answer = ROW_INIT;
	struct strlist blind = STRLIST_INIT;

	add_hooks(&answer, report);
	list_blind_spots(&blind, report);
	row_texts(&answer, "not_seen", &blind);
	row_texts(&answer, "warnings", &report->notes);
	strlist_release(&blind);
	return row_object(&answer);
}

/* Where a repository's protection comes from. */
static json_t *protected_by(const struct hooks_report *report)
{
	return json_pack("[s*,s*]", hooks_any_runs(report) ? "repository" : NULL,
			 report->global && hooks_any_runs(report->global) ? "global" : NULL);
}

static json_t *global_object(const struct hooks_report *report)
{
	struct row row = ROW_INIT;

	if (!report)
		return json_null();
	add_hooks(&row, report);
	row_bool(&row, "new_repositories_only", report->template);
	row_texts(&row, "warnings", &report->notes);
	return row_object(&row);
}

static void print_items(const struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++) {
		const struct hooks_item *item = &report->items[i];

		/* What does not run is the answer, so it is printed even with -q. */
		if (item->state == HOOKS_RUNS)
			report_text("%s: %s\n", hooks_state_name(item->state), item->name);
		else
			term_say(stdout, "%s: %s: %s\n", hooks_state_name(item->state), item->name,
				 item->repair);
	}
}

static void print_events(const struct hooks_report *report)
{
	if (!report->events.nr)
		return;
	report_text("before:");
	for (size_t i = 0; i < report->events.nr; i++)
		report_text("%s %s", i ? "," : "", report->events.items[i]);
	report_text("%s\n", report->guard ? ", and what the guard sees" : "");
}

static void print_blind_spots(const struct hooks_report *report)
{
	struct strlist blind = STRLIST_INIT;

	list_blind_spots(&blind, report);
	report_text(has_guard(report) ? "not seen by any hook or guard:\n"
				      : "not seen by these hooks:\n");
	for (size_t i = 0; i < blind.nr; i++)
		report_text("  %s\n", blind.items[i]);
	strlist_release(&blind);
}

static void print_cost(const struct hooks_report *report)
{
	if (report->ref_transaction)
		report_text("note: git runs reference-transaction for every ref that it updates, "
			    "about\n"
			    "      2 ms each time: %s\n"
			    "note: to see merges without that:\n"
			    "      git checkpoint hooks install %s--guard --no-ref-transaction\n",
			    report->config_hooks ? "20 times or more for each commit of a rebase"
						 : "a fetch of 1000 new refs takes seconds longer",
			    global ? "--global " : "");
	for (size_t i = 0; i < report->events.nr; i++)
		if (!report->ref_transaction && !report->guard &&
		    strcmp(report->events.items[i], "rebase"))
			report_text("note: '%s' is not seen without reference-transaction or "
				    "--guard\n", report->events.items[i]);
}

static void print_notes(const struct hooks_report *report)
{
	/* Even with -q: they say that something requested was not done. */
	for (size_t i = 0; i < report->notes.nr && !opt_common.json; i++)
		report_message("warning", report->notes.items[i]);
}

static void print_reach(const struct hooks_report *report)
{
	if (report->template)
		report_text("in: repositories that git creates from now on; in others, run 'git "
			    "init' or\n"
			    "    'git checkpoint hooks install' at their top, or use --guard, "
			    "which sees all\n");
	else
		report_text("in: all repositories of this user\n");
}

/* ---- the setting that goes with the guard ---- */

static bool is_undecided(const struct session *session)
{
	return !strcmp(settings_origin(&session->settings, (unsigned)setting_find(SENSITIVE)),
		       "default");
}

/* An answer that cannot be stored is worth a warning; the guard is in place all the same. */
static bool store_answer(bool yes)
{
	const struct settings_change change = { .value = yes ? "true" : "false" };
	struct strlist problems = STRLIST_INIT;
	struct strbuf file = STRBUF_INIT;
	int err = cmd_config_file(&file, global);

	if (!err)
		err = settings_change(file.buf, (unsigned)setting_find(SENSITIVE), &change);
	if (err)
		strlist_addf(&problems, "the answer cannot be stored: %s", ckpt_error_last());
	report_warnings(&problems);
	strlist_release(&problems);
	strbuf_release(&file);
	return !err;
}

static void ask_sensitive(void)
{
	bool yes;

	term_say(stderr,
		 "Files that look like secrets, such as an untracked .env, are not in the\n"
		 "checkpoints of the guard: what 'git clean' removes of them is lost. With\n"
		 "'" SENSITIVE
		 "' they are saved, too. They stay on this disk, in the private store.\n");
	yes = prompt_yes("Save these, too?");
	if (cancel_signal())
		return; /* not an answer */
	if (store_answer(yes))
		report_text(SENSITIVE " is now %s; 'git checkpoint config %s" SENSITIVE
				      " %s' changes that\n",
			    yes ? "true" : "false", global ? "--global " : "",
			    yes ? "false" : "true");
}

static void offer_sensitive(struct session *session)
{
	/* Asked once, of whoever has not decided about it. */
	if (opt_common.quiet || opt_common.json || !is_undecided(session))
		return;
	if (prompt_possible())
		ask_sensitive();
	/* What remembers it is there, which may not exist yet. */
	else if (!store_make_home(session->home) && advice_first(session->home, session->worktree, SENSITIVE))
		report_text("note: files that look like secrets, such as .env, are not saved; 'git "
			    "checkpoint\n"
			    "      config %s" SENSITIVE
			    " true' has them saved, too, on this disk only\n",
			    global ? "--global " : "");
}

static int install_hooks(struct session *session, struct hooks_report *report)
{
	struct hooks_opts opts = {
		.events = events,
		.guard = guard,
		.ref_transaction = no_ref_transaction ? 0
				   : ref_transaction  ? 1
						      : -1,
		.global = global,
	};
	int err = hooks_install(report, session, &opts);

	if (err)
		return err;
	print_notes(report);
	if (opt_common.json) {
		json_t *answer = report_object(report);

		json_object_set_new(answer, "installed", json_true());
		return report_json(answer, exit_status(report));
	}
	print_items(report);
	print_events(report);
	if (global)
		print_reach(report);
	print_cost(report);
	if (guard && report->guard)
		offer_sensitive(session);
	return exit_status(report);
}

static int uninstall_hooks(struct session *session, struct hooks_report *report)
{
	int err = hooks_uninstall(report, session, global);

	if (err)
		return err;
	print_notes(report);
	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_bool(&answer, "uninstalled", report->installed);
		row_texts(&answer, "warnings", &report->notes);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	report_text(report->installed ? "Uninstalled, everything is as it was\n" : "No git hooks are installed\n");
	if (report->was_template)
		report_text("Repositories created in the meantime keep a hook that no longer does "
			    "anything;\n"
			    "'git checkpoint hooks uninstall' removes it there\n");
	if (report->still_global)
		report_text("Those for all repositories remain; 'git checkpoint hooks uninstall "
			    "--global'\n"
			    "removes them\n");
	return EXIT_DONE;
}

static void print_global(const struct hooks_report *report)
{
	report_text("for all repositories:\n");
	print_items(report);
	print_events(report);
	print_notes(report);
}

static void print_verdict(const struct hooks_report *report)
{
	bool own = hooks_any_runs(report), all = report->global && hooks_any_runs(report->global);

	if (own || all)
		report_text("this repository: protected by %s%s%s\n", own ? "its own hooks" : "",
			    own && all ? " and " : "", all ? "the global configuration" : "");
	else
		report_text("this repository: not protected: %s\n", why_not(report));
}

static int global_status(struct hooks_report *report)
{
	int err = hooks_global_status(report);

	if (err)
		return err;
	if (opt_common.json)
		return report_json(global_object(report->installed ? report : NULL),
				   exit_status(report));
	if (!report->installed) {
		report_text("No git hooks are installed for all repositories; 'git checkpoint hooks "
			    "install\n"
			    "--global' adds them\n");
		return EXIT_DONE;
	}
	print_global(report);
	print_reach(report);
	return exit_status(report);
}

static json_t *status_object(const struct hooks_report *report,
			     const struct show_agents_view *agents_view)
{
	json_t *answer = report_object(report);
	const char *why = why_not(report);

	json_object_set_new(answer, "protected_by", protected_by(report));
	json_object_set_new(answer, "why_not", why ? json_text(why) : json_null());
	json_object_set_new(answer, "global", global_object(report->global));
	json_object_set_new(answer, "agents", show_agents_json(agents_view));
	return answer;
}

static void print_status(const struct hooks_report *report,
			 const struct show_agents_view *agents_view)
{
	if (!report->installed && !report->global) {
		report_text("No git hooks are installed; 'git checkpoint hooks install' adds them\n");
		show_agents_print(agents_view);
		return;
	}
	print_items(report);
	print_events(report);
	if (report->global)
		print_global(report->global);
	print_verdict(report);
	show_agents_print(agents_view);
	print_blind_spots(report);
}

static int show_status(struct session *session, struct hooks_report *report)
{
	struct show_agents_view view = { 0 };
	int err = 0;

	if (global)
		return global_status(report);
	show_agents_look(&view, session);
	/* Agents need no repository. */
	if (session->repo)
		err = hooks_status(report, session->repo);
	else if (!show_agents_any(&view))
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' is not in a git worktree, so it has no hooks; "
				     "'--global' shows those for all",
				     session->cwd);
	/* Else everything runs, and nothing is saved. */
	if (!err && session->store && store_check_writable(session->store))
		strlist_add(&report->notes, ckpt_error_last());
	if (!err && opt_common.json)
		err = report_json(status_object(report, &view), exit_status(report));
	else if (!err) {
		print_notes(report);
		print_status(report, &view);
		err = exit_status(report);
	}
	show_agents_release(&view);
	return err;
}

/* ---- command line ---- */

static int with_report(int (*fn)(struct session *, struct hooks_report *), struct session *session)
{
	struct hooks_report report = { 0 };
	int code = fn(session, &report);

	hooks_report_release(&report);
	return code;
}

static int do_install(struct session *session, const struct strlist *args UNUSED)
{
	const struct show_agents how = { &agents, true, user, print };

	return agents.nr ? show_agents_edit(session, &how) : with_report(install_hooks, session);
}

static int do_uninstall(struct session *session, const struct strlist *args UNUSED)
{
	const struct show_agents how = { &agents, false, user, false };

	return agents.nr ? show_agents_edit(session, &how) : with_report(uninstall_hooks, session);
}

static int do_status(struct session *session, const struct strlist *args UNUSED)
{
	return with_report(show_status, session);
}

static const struct opt install_options[] = {
	{ OPT_STRING, 0, "events", &events, "<list>",
	  "before which commands: rebase and merge (default), am, stash, bisect" },
	{ OPT_FLAG, 0, "guard", &guard, NULL,
	  "also before commands without a hook: reset, checkout, clean, ..." },
	{ OPT_FLAG, 0, "ref-transaction", &ref_transaction, NULL,
	  "use the hook that sees merges (default without --guard)" },
	{ OPT_FLAG, 0, "no-ref-transaction", &no_ref_transaction, NULL,
	  "do not use it, as it slows down every ref update (default with --guard)", OPT_OR },
	{ OPT_FLAG, 0, "global", &global, NULL, "for all repositories, not only this one" },
	{ OPT_LIST, 0, "agent", &agents, "<name>", "edit the settings of a coding agent instead",
	  OPT_FORM },
	{ OPT_FLAG, 0, "user", &user, NULL, "with --agent: use the settings in the home directory",
	  OPT_WITH },
	{ OPT_FLAG, 0, "print", &print, NULL, "with --agent: only show the entry", OPT_WITH },
	{ OPT_END },
};

static const struct opt status_options[] = {
	{ OPT_FLAG, 0, "global", &global, NULL, "those for all repositories" },
	{ OPT_END },
};

static const struct opt uninstall_options[] = {
	{ OPT_FLAG, 0, "global", &global, NULL, "those for all repositories, not this one's" },
	{ OPT_LIST, 0, "agent", &agents, "<name>", "edit the settings of a coding agent instead",
	  OPT_FORM },
	{ OPT_FLAG, 0, "user", &user, NULL, "with --agent: use the settings in the home directory",
	  OPT_WITH },
	{ OPT_END },
};

/* A damaged store must not keep hooks from being installed or removed: SESSION_ANY. */
static const struct opt_spec subcommands[] = {
	{ .command = "hooks install",
	  .summary = "add hooks, or an entry for a coding agent",
	  .options = install_options,
	  .offer = offer_names,
	  .session = SESSION_ANY,
	  .run = do_install },
	{ .command = "hooks uninstall",
	  .summary = "remove them",
	  .options = uninstall_options,
	  .offer = offer_names,
	  .session = SESSION_ANY,
	  .run = do_uninstall },
	{ .command = "hooks status",
	  .summary = "show which hooks are in place and whether they run",
	  .options = status_options,
	  .session = SESSION_ANY,
	  .run = do_status },
	{ NULL },
};

const struct opt_spec cmd_hooks_spec = {
	.command = "hooks",
	.summary = "let git take checkpoints before it changes files",
	.subs = subcommands,
};
