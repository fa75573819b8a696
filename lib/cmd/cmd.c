/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

const struct cmd *cmd_find(const char *name)
{
	for (size_t i = 0; i < cmd_table.nr; i++)
		if (!strcmp(cmd_table.items[i].name, name))
			return &cmd_table.items[i];
	return NULL;
}

void cmd_offer(struct complete *complete)
{
	for (size_t i = 0; i < cmd_table.nr; i++)
		complete_add(complete, cmd_table.items[i].name, cmd_table.items[i].spec->summary);
}

int cmd_check_name(const char *name, bool move)
{
	const char *flaw = name ? keepers_name_flaw(name) : NULL;

	if (!name && move)
		return ckpt_error_set(CKPT_EUSAGE, "option '--move-name' needs '--name'");
	return flaw ? ckpt_error_set(CKPT_EUSAGE, "option '--name': '%s' cannot be a name: %s", name, flaw)
		    : 0;
}

/* Words of git and of other programs that keep states. */
static const struct opt_instead instead[] = {
	{ "add", "'git checkpoint save' takes a checkpoint of everything" },
	{ "apply", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "archive", "'git checkpoint export --tar <checkpoint>' writes an archive" },
	{ "bundle", "'git checkpoint export --bundle <checkpoint>' writes one, 'import' reads it" },
	{ "cat", "'git checkpoint show <checkpoint>:<path>' prints a file as it was" },
	{ "checkout", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "clean", "'git checkpoint prune' applies the limits, 'gc' frees space" },
	{ "commit", "'git checkpoint save' takes a checkpoint" },
	{ "create", "'git checkpoint save' takes a checkpoint" },
	{ "delete", "'git checkpoint drop <checkpoint>' deletes one" },
	{ "fsck", "'git checkpoint verify' checks checkpoints, 'doctor' the store" },
	{ "history", "'git checkpoint list' lists checkpoints" },
	{ "init", "nothing needs to be set up: 'git checkpoint save' takes a checkpoint" },
	{ "ls", "'git checkpoint list' lists checkpoints" },
	{ "name", "'git checkpoint pin --name <name> <checkpoint>' gives one a name" },
	{ "pop", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "reflog", "'git checkpoint list' lists checkpoints, 'log' what was done" },
	{ "remove", "'git checkpoint drop <checkpoint>' deletes one" },
	{ "reset", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "revert", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "rm", "'git checkpoint drop <checkpoint>' deletes one" },
	{ "rollback", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "snapshot", "'git checkpoint save' takes a checkpoint" },
	{ "stash", "'git checkpoint save' takes a checkpoint, and leaves the files alone" },
	{ "switch", "'git checkpoint restore <checkpoint>' brings one back" },
	{ "tag", "'git checkpoint pin --name <name> <checkpoint>' gives one a name, 'branch' makes a "
		 "branch of one" },
	{ "version", "'git checkpoint --version' prints it" },
	{ NULL },
};

int cmd_unknown(const char *name)
{
	const char *text = opt_instead(instead, name);
	const char **names = xcalloc(cmd_table.nr, sizeof(const char *)), *nearest;

	for (size_t i = 0; i < cmd_table.nr; i++)
		names[i] = cmd_table.items[i].name;
	/* Those that change something ask, or can be undone. */
	nearest = nearest_word(name, names, cmd_table.nr);
	free(names);
	if (text)
		return ckpt_error_set(CKPT_EUSAGE, "unknown command '%s'; %s", name, text);
	if (nearest)
		return ckpt_error_set(CKPT_EUSAGE, "unknown command '%s'; did you mean '%s'?", name, nearest);
	return ckpt_error_set(CKPT_EUSAGE, "unknown command '%s'; see 'git checkpoint -h'", name);
}

int cmd_dispatch(const struct opt_spec *spec, int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	struct session session = { 0 };
	int err = opt_parse(spec, argc, argv, &args), status = EXIT_DONE;

	if (!err && spec->subs && args.nr) {
		spec = opt_sub(spec, args.items[0]);
		strlist_drop_first(&args);
	}
	if (!err && spec->check)
		err = spec->check(&args);
	if (!err && !spec->alone)
		err = cmd_session_open(&session, spec->session);
	if (!err) {
		status = spec->run(&session, &args);
		err = status < 0 ? status : 0;
	}
	if (err < 0)
		status = report_failure(err);
	else if (status != EXIT_FATAL) /* which was told */
		status = report_done(status);
	pager_end();
	session_close(&session);
	strlist_release(&args);
	for (const struct opt *opt = spec->options; opt && opt->kind != OPT_END; opt++)
		if (opt->kind == OPT_LIST)
			strlist_release(opt->value);
	return status;
}

int cmd_session_open(struct session *out, unsigned flags)
{
	int err = session_open(out, flags);

	if (err)
		return err;
	term_set_color(out->settings.color);
	progress_setup(out->settings.progress, opt_common.quiet || opt_common.json);
	report_warnings(&out->settings.warnings);
	/* Even with -q: something happened to the only copy. */
	for (size_t i = 0; out->store && i < out->store->damage.nr; i++) {
		char *text = xstrfmt("%s; the next save repairs it", out->store->damage.items[i]);

		report_message("warning", text);
		free(text);
	}
	if (out->elsewhere && (!opt_common.quiet || !report_speaks()))
		report_message("warning", out->elsewhere);
	if (out->store && journal_is_left(out->store))
		report_message("warning",
			       "a restore was interrupted; 'git checkpoint restore --continue' "
			       "finishes it, '--abort' goes back");
	return 0;
}
