/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#define MANUAL "git-checkpoint"
#define AGENTS "agents"

static bool offer(struct complete *complete, const char *what)
{
	bool ours = !strcmp(what, "<command>");

	if (ours)
		cmd_offer(complete);
	return ours;
}

void cmd_usage_short(FILE *out)
{
	static const char *const names[] = { "save", "list",	"status", "diff",
					     "show", "restore", "undo",	  "pin" };

	term_say(out, "usage: git checkpoint [-C <dir>] <command> [<options>]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		term_say(out, "    %-10s %s\n", names[i], cmd_find(names[i])->spec->summary);
	term_say(out,
		 "\n'git checkpoint -h' lists all commands, 'git checkpoint --help' opens the\n"
		 "manual.\n");
}

void cmd_usage(FILE *out)
{
	term_say(out, "usage: git checkpoint [-C <dir>] <command> [<options>]\n");
	for (size_t i = 0; i < cmd_table.nr; i++) {
		const struct cmd *cmd = &cmd_table.items[i];

		if (cmd->group)
			term_say(out, "\n%s\n", cmd->group);
		term_say(out, "    %-10s %s\n", cmd->name, cmd->spec->summary);
	}
	term_say(out, "\n'git checkpoint <command> -h' shows the options of a command,\n"
		      "'git checkpoint --help' the manual, and 'git checkpoint help agents' what\n"
		      "a coding agent should know.\n");
}

/* ---- JSON ---- */

static json_t *usage_forms(const struct opt_spec *spec)
{
	struct strlist forms = STRLIST_INIT;
	json_t *array;

	opt_forms(&forms, spec);
	array = json_texts(&forms);
	strlist_release(&forms);
	return array;
}

/* Of one command, or of all. */
static int print_commands(const struct cmd *only)
{
	json_t *array = json_array();

	for (size_t i = 0; i < cmd_table.nr; i++) {
		const struct cmd *cmd = &cmd_table.items[i];

		if (!only || cmd == only)
			json_array_append_new(array, json_pack("{s:s,s:s,s:o}", "name", cmd->name,
							       "summary", cmd->spec->summary,
							       "usage", usage_forms(cmd->spec)));
	}
	return report_json(json_pack("{s:o}", "commands", array), EXIT_DONE);
}

/* ---- text ---- */

static int list_commands(void)
{
	if (opt_common.json)
		return print_commands(NULL);
	if (!opt_common.quiet)
		cmd_usage(stdout);
	return report_done(EXIT_DONE);
}

static int instruct_agents(void)
{
	struct gitconfig *config = NULL;

	if (opt_common.json)
		return report_json(json_pack("{s:s}", AGENTS, cmd_agents_text), EXIT_DONE);
	if (opt_common.quiet)
		return EXIT_DONE;
	/* No session: this must work everywhere, even with a broken configuration. */
	if (gitconfig_open(&config, NULL))
		config = NULL;
	pager_start(config);
	fwrite(cmd_agents_text, 1, strlen(cmd_agents_text), stdout);
	gitconfig_close(config);
	return EXIT_DONE;
}

/* ---- the manual ---- */

/* It is not enough that man succeeds: a stub that tells how to install the real one does, too. */
static bool have_manual(const char *page)
{
	const char *const where[] = { "man", "-w", page, NULL };
	struct strbuf path = STRBUF_INIT;
	bool found = !spawn_capture(&path, NULL, where) && path.buf[0] == '/';

	strbuf_release(&path);
	return found;
}

/*
 * Not through `git help`, which runs what the current repository calls a
 * viewer (man.viewer). Returns only if man, or the page, is not installed.
 */
static void open_manual(const char *page)
{
	const char *const argv[] = { "man", page, NULL };

	if (!have_manual(page))
		return;
	env_restore();
	execvp(argv[0], (char *const *)argv);
}

static int explain_command(const struct cmd *cmd)
{
	char *page;

	if (opt_common.json)
		return print_commands(cmd);
	if (opt_common.quiet)
		return EXIT_DONE;
	/* Commands that share a page are links to it, so each has one of its name. */
	page = xstrfmt(MANUAL "-%s", cmd->name);
	open_manual(page);
	free(page);
	opt_usage(cmd->spec, STDOUT_FILENO);
	return report_done(EXIT_DONE);
}

int cmd_manual(const char *command)
{
	const struct cmd *cmd = command ? cmd_find(command) : NULL;

	if (cmd)
		return explain_command(cmd);
	if (!opt_common.json)
		open_manual(MANUAL);
	return list_commands();
}

static int help(struct session *session UNUSED, const struct strlist *args)
{
	const struct cmd *cmd;

	if (!args->nr)
		return list_commands();
	if (!strcmp(args->items[0], AGENTS))
		return instruct_agents();
	cmd = cmd_find(args->items[0]);
	return cmd ? explain_command(cmd) : cmd_unknown(args->items[0]);
}

const struct opt_spec cmd_help_spec = {
	.command = "help",
	.summary = "open the manual; print instructions for coding agents",
	.args = OPT_ARGS({ { "<command>", AGENTS }, 0, 1 }),
	.offer = offer,
	.alone = true,
	.run = help,
};
