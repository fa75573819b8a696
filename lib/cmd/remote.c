/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static bool push_auto, yes;
static const char *project_remote;

static const struct opt add_options[] = {
	{ OPT_STRING, 0, "project-remote", &project_remote, "<remote>",
	  "use the URL of this remote of the project" },
	{ OPT_FLAG, 0, "push-auto", &push_auto, NULL, "every save pushes to it by itself" },
	{ OPT_END },
};

static void tell_added(const char *name)
{
	if (push_auto)
		report_text("Added the remote '%s'; every save pushes its checkpoint there\n", name);
	else
		report_text("Added the remote '%s'; 'git checkpoint push %s' sends the newest "
			    "checkpoint there\n", name, name);
}

static int add(struct session *session, const struct strlist *args)
{
	const char *name = args->items[0];
	char *given = NULL, *url = NULL, *shown;
	int err = 0;

	if (project_remote && args->nr > 1)
		return ckpt_error_set(CKPT_EUSAGE,
				      "give a URL or '--project-remote', not both");
	if (!project_remote && (args->nr < 2 || !*args->items[1]))
		return ckpt_error_set(CKPT_EUSAGE,
				      "'remote add' needs a URL; see 'git checkpoint remote add -h'");
	if (!session->store)
		err = store_open_or_create(&session->store, session->worktree);
	if (!err && project_remote)
		err = remotes_of_project(&given, session, project_remote);
	/* The project's paths begin where its files do. */
	url = given ? remotes_absolute(given, session->worktree)
		    : remotes_absolute(args->nr > 1 ? args->items[1] : "", session->cwd);
	shown = remotes_shown(url);
	if (!err)
		err = remotes_add(session, name, url, push_auto);
	if (!err && project_remote && !opt_common.quiet)
		report_message("warning", "whoever can read that repository will be able to read what "
					  "is pushed there, untracked files too");
	if (!err && opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, "name", name);
		row_text(&answer, "url", shown);
		row_bool(&answer, "push_auto", push_auto);
		err = report_json(row_object(&answer), EXIT_DONE);
	} else if (!err) {
		tell_added(name);
	}
	free(given);
	free(url);
	free(shown);
	return err;
}

/* Not ours, but those of the project. */
static bool offer(struct complete *complete, const char *what)
{
	const char *const args[] = { "remote", NULL };
	const struct session *session;
	struct strbuf names = STRBUF_INIT;
	char *rest = NULL;

	if (strcmp(what, "--project-remote") != 0)
		return false;
	session = complete_session(complete);
	if (session && session->repo &&
	    !askgit(&names, &(struct gitrun){ .gitdir = session->repo->gitdir }, args))
		for (char *name = strtok_r(names.buf, "\n", &rest); name;
		     name = strtok_r(NULL, "\n", &rest))
			complete_add(complete, name, NULL);
	strbuf_release(&names);
	return true;
}

static int list(struct session *session, const struct strlist *args UNUSED)
{
	json_t *array = json_array();
	struct remotes remotes;
	int err = remotes_read(&remotes, session->store);

	for (size_t i = 0; i < remotes.nr && !err; i++) {
		const struct remotes_item *item = &remotes.items[i];
		char *shown = remotes_shown(item->url);
		struct row row = ROW_INIT;

		if (!opt_common.json && !opt_common.quiet)
			term_say(stdout, "%s  %s%s\n", item->name, shown,
				 item->push_auto ? "  (every save pushes)" : "");
		row_text(&row, "name", item->name);
		row_text(&row, "url", shown);
		free(shown);
		row_bool(&row, "push_auto", item->push_auto);
		json_array_append_new(array, row_object(&row));
	}
	if (!err && !remotes.nr && !opt_common.json && !opt_common.quiet)
		term_say(stderr,
			 "no remotes yet; 'git checkpoint remote add <name> <url>' adds one\n");
	remotes_release(&remotes);
	if (!err && opt_common.json)
		return report_json(json_pack("{s:o}", "remotes", array), EXIT_DONE);
	json_decref(array);
	return err;
}

static int removed(struct session *session, const struct strlist *args)
{
	int err = remotes_remove(session, args->items[0]);

	if (!err && opt_common.json)
		return report_json(json_pack("{s:s}", "removed", args->items[0]), EXIT_DONE);
	if (!err && !opt_common.quiet)
		term_say(stdout, "Removed the remote '%s'; what was pushed there stays there\n",
			 args->items[0]);
	return err;
}

static const struct opt prune_options[] = {
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_END },
};

static int confirm(const struct strlist *ids, const char *remote, const char *machine)
{
	char *question;
	bool sure;

	if (yes)
		return 0;
	if (!prompt_possible())
		return ckpt_error_set(CKPT_EREFUSED,
				      "%zu %s of '%s' would be removed from '%s'; use --yes", ids->nr,
				      ids->nr == 1 ? "checkpoint" : "checkpoints", machine, remote);
	question = xstrfmt("Remove %zu %s of '%s' from '%s'?", ids->nr,
			   ids->nr == 1 ? "checkpoint" : "checkpoints", machine, remote);
	sure = prompt_yes(question);
	free(question);
	return sure ? 0 : ckpt_error_set(CKPT_EDECLINED, "nothing was removed");
}

static int prune(struct session *session, const struct strlist *args)
{
	const char *machine = args->items[1];
	const struct remotes_item *remote = NULL;
	struct strlist ids = STRLIST_INIT;
	struct remotes remotes;
	int err = remotes_read(&remotes, session->store), status = EXIT_DONE;

	if (!err)
		err = remotes_choose(&remote, &remotes, args->items[0]);
	if (!err)
		err = push_remove_machine(&ids, session, remote, machine, confirm);
	if (!err && opt_common.json)
		status = report_json(json_pack("{s:o}", "removed", json_texts(&ids)), EXIT_DONE);
	else if (!err && !opt_common.quiet)
		term_say(stdout, "Removed %zu %s of '%s' from '%s'\n", ids.nr,
			 ids.nr == 1 ? "checkpoint" : "checkpoints", machine, remote->name);
	strlist_release(&ids);
	remotes_release(&remotes);
	return err ? err : status;
}

static const struct opt_spec subs[] = {
	{ .command = "remote add",
	  .summary = "add a repository that checkpoints can be pushed to",
	  .args = OPT_ARGS({ { "<name>" }, 1, 1 }, { { "<url>" }, 0, 1 }),
	  .options = add_options,
	  .offer = offer,
	  .session = SESSION_SAVE,
	  .run = add },
	{ .command = "remote list", .summary = "list them", .run = list },
	{ .command = "remote remove",
	  .summary = "forget one; nothing is removed there",
	  .args = OPT_ARGS({ { "<remote>" }, 1, 1 }),
	  .run = removed },
	{ .command = "remote prune",
	  .summary = "remove all that a machine has there",
	  .args = OPT_ARGS({ { "<remote>" }, 1, 1 }, { { "<machine>" }, 1, 1 }),
	  .options = prune_options,
	  .run = prune },
	{ NULL },
};

const struct opt_spec cmd_remote_spec = {
	.command = "remote",
	.summary = "say where checkpoints can be pushed to",
	.subs = subs,
	.run = list,
};
