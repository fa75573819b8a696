/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "agents/agents.h"
#include "base/base.h"
#include "cmd/complete.h"
#include "cmd/report.h"
#include "hooks/hooks.h"
#include "session/session.h"
#include "ui/ui.h"

static const char *events;
static bool guard, ref_transaction, no_ref_transaction, user, print;
static struct strlist agents;

static bool offer(struct complete *complete, const char *what)
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

static void list_blind_spots(struct strlist *out, const struct hooks_report *report)
{
	if (!report->guard) {
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
	bool all = !report->partial;

	for (size_t i = 0; i < report->nr; i++)
		all = all && report->items[i].state == HOOKS_RUNS;
	return all ? EXIT_DONE : EXIT_NO;
}

static json_t *report_object(const struct hooks_report *report)
{
	/* The guard is the last of them, and not a hook. */
	size_t nr = report->nr - (report->guard && report->nr);
	struct row answer = ROW_INIT;
	struct strlist blind = STRLIST_INIT;
	json_t *hooks = json_array();

	for (size_t i = 0; i < nr; i++) {
		const struct hooks_item *item = &report->items[i];
		struct row row = ROW_INIT;

		row_text(&row, "name", item->name);
		row_text(&row, "state", hooks_state_name(item->state));
		row_text(&row, "repair", item->repair);
		json_array_append_new(hooks, row_object(&row));
	}
	list_blind_spots(&blind, report);
	row_json(&answer, "hooks", hooks);
	row_text(&answer, "guard",
		 nr < report->nr ? hooks_state_name(report->items[nr].state) : NULL);
	row_texts(&answer, "events", &report->events);
	row_texts(&answer, "not_seen", &blind);
	row_texts(&answer, "warnings", &report->notes);
	strlist_release(&blind);
	return row_object(&answer);
}

static void print_items(const struct hooks_report *report)
{
	for (size_t i = 0; i < report->nr; i++) {
		const struct hooks_item *item = &report->items[i];
		struct strbuf clean = STRBUF_INIT;

		if (item->state == HOOKS_RUNS) {
			report_text("%s: %s\n", hooks_state_name(item->state), item->name);
			continue;
		}
		/* What does not run is the answer, so it is printed even with -q. */
		report_clean(&clean, item->repair);
		printf("%s: %s: %s\n", hooks_state_name(item->state), item->name, clean.buf);
		strbuf_release(&clean);
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
	report_text(report->guard ? "not seen by any hook or guard:\n" : "not seen by these hooks:\n");
	for (size_t i = 0; i < blind.nr; i++)
		report_text("  %s\n", blind.items[i]);
	strlist_release(&blind);
}

static void print_cost(const struct hooks_report *report)
{
	if (report->ref_transaction)
		report_text("note: git runs reference-transaction for every ref that it updates, about\n"
			    "      2 ms each time: %s\n"
			    "note: to see merges without that:\n"
			    "      git checkpoint hooks install --guard --no-ref-transaction\n",
			    report->config_hooks ?
				    "20 times or more for each commit of a rebase" :
				    "a fetch of 1000 new refs takes seconds longer");
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

static int install(const struct session *session, struct hooks_report *report)
{
	struct hooks_opts opts = {
		.events = events,
		.guard = guard,
		.ref_transaction = no_ref_transaction ? 0 : ref_transaction ? 1 : -1,
	};
	int err = hooks_install(report, session, &opts);

	if (err)
		return report_failure(err);
	print_notes(report);
	if (opt_common.json) {
		json_t *answer = report_object(report);

		json_object_set_new(answer, "installed", json_true());
		return report_json(answer, exit_status(report));
	}
	print_items(report);
	print_events(report);
	print_cost(report);
	return report_done(exit_status(report));
}

static int uninstall(const struct session *session, struct hooks_report *report)
{
	int err = hooks_uninstall(report, session);

	if (err)
		return report_failure(err);
	print_notes(report);
	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_bool(&answer, "uninstalled", report->installed);
		row_texts(&answer, "warnings", &report->notes);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	report_text(report->installed ? "Uninstalled, everything is as it was\n" : "No hooks are installed\n");
	return report_done(EXIT_DONE);
}

static int status(const struct session *session, struct hooks_report *report)
{
	int err = session->repo ? hooks_status(report, session->repo) :
				  ckpt_error_set(CKPT_ERROR, "'%s' is not in a git worktree, so it has no "
							     "hooks", session->cwd);

	if (err)
		return report_failure(err);
	if (opt_common.json)
		return report_json(report_object(report), exit_status(report));
	if (!report->installed) {
		report_text("No hooks are installed; 'git checkpoint hooks install' adds them\n");
		return report_done(EXIT_DONE);
	}
	print_items(report);
	print_events(report);
	print_blind_spots(report);
	return report_done(exit_status(report));
}

/* ---- agents ---- */

static void print_agent(const struct agents_result *result, const char *name)
{
	static const char *const said[] = {
		[AGENTS_UNCHANGED] = "unchanged",
		[AGENTS_EDITED] = "edited",
		[AGENTS_CREATED] = "created",
		[AGENTS_REMOVED] = "removed",
		[AGENTS_NO_FILE] = "has no settings file",
	};
	struct strbuf path = STRBUF_INIT;

	report_warnings(&result->notes);
	if (result->text.len) {
		fwrite(result->text.buf, 1, result->text.len, stdout);
		return;
	}
	quote_path(&path, result->path.buf);
	report_text("%s: %s%s%s\n", name, said[result->change], path.len ? " " : "", path.buf);
	strbuf_release(&path);
}

static json_t *agent_object(const struct agents_result *result, const char *name)
{
	static const char *const words[] = { "unchanged", "edited", "created", "removed",
					     "no file" };
	struct row object = ROW_INIT;

	row_text(&object, "agent", name);
	row_text(&object, "change", words[result->change]);
	row_json(&object, "path", result->path.len ? json_path(result->path.buf) : json_null());
	row_json(&object, "text", result->text.len ? json_text(result->text.buf) : json_null());
	row_texts(&object, "warnings", &result->notes);
	return row_object(&object);
}

static int for_agents(const struct session *session, bool installing)
{
	json_t *array = json_array();
	int err = 0;

	/* An unknown one stops everything, before anything is edited. */
	for (size_t i = 0; i < agents.nr && !err; i++)
		err = agents_check(agents.items[i]);
	for (size_t i = 0; i < agents.nr && !err; i++) {
		struct agents_opts opts = { agents.items[i], session->worktree, user };
		struct agents_result result = AGENTS_RESULT_INIT;

		err = !installing ? agents_uninstall(&result, &opts) :
		      print ? agents_print(&result, &opts) : agents_install(&result, &opts);
		if (!err && opt_common.json)
			json_array_append_new(array, agent_object(&result, agents.items[i]));
		else if (!err)
			print_agent(&result, agents.items[i]);
		agents_result_release(&result);
	}
	if (!err && opt_common.json) {
		struct row answer = ROW_INIT;

		row_json(&answer, "agents", array);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	json_decref(array);
	return err ? report_failure(err) : report_done(EXIT_DONE);
}

/* ---- command line ---- */

static int with_report(int (*fn)(const struct session *, struct hooks_report *),
		       const struct session *session)
{
	struct hooks_report report = { 0 };
	int code = fn(session, &report);

	hooks_report_release(&report);
	return code;
}

static int do_install(struct session *session, const struct strlist *args)
{
	(void)args;
	return agents.nr ? for_agents(session, true) : with_report(install, session);
}

static int do_uninstall(struct session *session, const struct strlist *args)
{
	(void)args;
	return agents.nr ? for_agents(session, false) : with_report(uninstall, session);
}

static int do_status(struct session *session, const struct strlist *args)
{
	(void)args;
	return with_report(status, session);
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
	{ OPT_LIST, 0, "agent", &agents, "<name>", "edit the settings of a coding agent instead",
	  OPT_FORM },
	{ OPT_FLAG, 0, "user", &user, NULL, "with --agent: use the settings in the home directory",
	  OPT_WITH },
	{ OPT_FLAG, 0, "print", &print, NULL, "with --agent: only show the entry", OPT_WITH },
	{ OPT_END },
};

static const struct opt uninstall_options[] = {
	{ OPT_LIST, 0, "agent", &agents, "<name>", "edit the settings of a coding agent instead" },
	{ OPT_FLAG, 0, "user", &user, NULL, "with --agent: use the settings in the home directory",
	  OPT_WITH },
	{ OPT_END },
};

/* A damaged store must not keep hooks from being installed or removed: SESSION_ANY. */
static const struct opt_spec subcommands[] = {
	{ .command = "hooks install",
	  .summary = "add hooks, or an entry for a coding agent",
	  .options = install_options,
	  .offer = offer,
	  .session = SESSION_ANY,
	  .run = do_install },
	{ .command = "hooks uninstall",
	  .summary = "remove them",
	  .options = uninstall_options,
	  .offer = offer,
	  .session = SESSION_ANY,
	  .run = do_uninstall },
	{ .command = "hooks status",
	  .summary = "show which hooks are in place and whether they run",
	  .session = SESSION_ANY,
	  .run = do_status },
	{ NULL },
};

const struct opt_spec cmd_hooks_spec = {
	.command = "hooks",
	.summary = "let git take checkpoints before it changes files",
	.subs = subcommands,
};

int cmd_hooks(int argc, char **argv)
{
	int code = cmd_dispatch(&cmd_hooks_spec, argc, argv);

	strlist_release(&agents);
	return code;
}
