/* SPDX-License-Identifier: MIT */

/*
 * git-checkpoint: save the whole state of a working directory, see what changed
 * since, and bring it back, without touching the project's own .git.
 *
 * Where everything is, from the bottom up. A folder is a capability: it uses only
 * folders above it in this list, through its door, the header that has its name,
 * which also says what is in each of its files. lib/README.md tells how a save and
 * a restore walk through them.
 *
 *   lib/base/base.h         tools that know nothing of checkpoints
 *   lib/git/git.h           the project's repository, read
 *   lib/settings/settings.h the table of settings and where their values come from
 *   lib/tree/tree.h         the user's files
 *   lib/store/store.h       the shadow repository
 *   lib/record/record.h     what a checkpoint is
 *   lib/turns/turns.h       what coding agents did, turn by turn
 *   lib/session/session.h   which worktree, which settings, which store
 *   lib/keep/keep.h         which checkpoints go, and freeing their bytes
 *   lib/gitstate/gitstate.h the state of the project's repository, in a checkpoint and back
 *   lib/captures/captures.h values of state keys and the output of commands, likewise
 *   lib/save/save.h         a checkpoint from a scan
 *   lib/look/look.h         list, diff, status, verify
 *   lib/restore/restore.h   plan, obstacles, stage, apply, verify, undo
 *   lib/repair/repair.h     doctor and what it uses
 *   lib/remote/remote.h     checkpoints beyond this store
 *   lib/run/run.h           a command between a checkpoint and its verification
 *   lib/flow/flow.h         workflows that survive interruption
 *   lib/install/install.h   changes to files that belong to somebody else, with the way back
 *   lib/hooks/hooks.h       hooks and the guard
 *   lib/agents/agents.h     coding agents: entries in their settings, and what these run
 *   lib/mcp/mcp.h           a server that agents call: checkpoints as tools
 *   lib/watch/watch.h       a process that knows what changed, and takes checkpoints by itself
 *   lib/ui/ui.h             a toolkit for terminals and programs that decides nothing
 *   lib/show/show.h         how a thing is shown, as text and as JSON, and what is asked about it
 *   lib/cmd/cmd.h           one file per command: options, argument checks, one call, output
 */

#include "base/base.h"
#include "cmd/cmd.h"
#include "ui/ui.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cmd commands[] = {
	{ "save", NULL, &cmd_save_spec, .group = "Save and look" },
	{ "list", NULL, &cmd_list_spec }, { "show", NULL, &cmd_show_spec },
	{ "diff", NULL, &cmd_diff_spec }, { "grep", NULL, &cmd_grep_spec },
	{ "status", NULL, &cmd_status_spec },
	{ "restore", NULL, &cmd_restore_spec, .group = "Go back" },
	{ "undo", NULL, &cmd_undo_spec }, { "redo", NULL, &cmd_redo_spec },
	{ "revert", NULL, &cmd_revert_spec }, { "pick", NULL, &cmd_pick_spec },
	{ "run", cmd_run, &cmd_run_spec },
	{ "try", NULL, &cmd_try_spec }, { "bisect", NULL, &cmd_bisect_spec },
	{ "pin", NULL, &cmd_pin_spec, .group = "Keep and remove" },
	{ "unpin", NULL, &cmd_unpin_spec }, { "drop", NULL, &cmd_drop_spec },
	{ "prune", NULL, &cmd_prune_spec }, { "gc", NULL, &cmd_gc_spec },
	{ "verify", NULL, &cmd_verify_spec, .group = "Look after stores" },
	{ "doctor", NULL, &cmd_doctor_spec }, { "hash", NULL, &cmd_hash_spec },
	{ "stores", NULL, &cmd_stores_spec }, { "relink", NULL, &cmd_relink_spec },
	{ "log", NULL, &cmd_log_spec },
	{ "export", NULL, &cmd_export_spec, .group = "Go elsewhere" },
	{ "import", NULL, &cmd_import_spec }, { "branch", NULL, &cmd_branch_spec },
	{ "remote", NULL, &cmd_remote_spec }, { "push", NULL, &cmd_push_spec },
	{ "fetch", NULL, &cmd_fetch_spec }, { "handoff", NULL, &cmd_handoff_spec },
	{ "takeover", NULL, &cmd_takeover_spec },
	{ "hooks", NULL, &cmd_hooks_spec, .group = "Automate" },
	{ "watch", NULL, &cmd_watch_spec },
	{ "mcp", NULL, &cmd_mcp_spec }, { "flow", NULL, &cmd_flow_spec },
	{ "config", NULL, &cmd_config_spec, .group = "Get help" },
	{ "help", NULL, &cmd_help_spec },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const char cmd_version[] = CKPT_VERSION;

const struct cmd_table cmd_table = { commands, COMMANDS };

/* Not for people: what hooks and agents call. */
static const struct cmd internal[] = {
	{ "hook", cmd_hook, &cmd_hook_spec },
	{ "agent-hook", cmd_agent_hook, &cmd_agent_hook_spec },
};

static const struct cmd *find_internal(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(internal); i++)
		if (!strcmp(internal[i].name, name))
			return &internal[i];
	return NULL;
}

/* Asked by the completions of the shells, and by the tests of the manual. */
static int complete(const char *what, char *const *words, int nr)
{
	const struct cmd *cmd = nr ? cmd_find(words[0]) : NULL;

	if (!strcmp(what, "--complete"))
		return cmd_complete(words, (size_t)nr);
	for (int i = 0; i < COMMANDS && !strcmp(what, "--list-cmds"); i++)
		printf("%s\t%s\n", commands[i].name, commands[i].spec->summary);
	if (!strcmp(what, "--list-opts") && cmd)
		complete_print_options(cmd->spec);
	return report_done(nr && !cmd ? EXIT_USAGE : EXIT_DONE);
}

/*
 * A standard stream that is closed would be the next file that is opened, and
 * messages would go into it. For reading only, so that writing still fails.
 */
static void occupy_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	bool json = false, own;
	int i = 1;

	/* An answer without what there was no memory for would look like a whole one. */
	json_set_alloc_funcs(xmalloc, free);
	occupy_standard_streams();
	opt_scan_json(argc, argv);
	alloc_on_failure(report_no_memory);
	env_scrub();
	cancel_install();
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-C") && i + 1 < argc) {
			if (argv[++i][0] && chdir(argv[i]) < 0)
				return report_failure(
					ckpt_error_errno("unable to change to '%s'", argv[i]));
		} else if (!strcmp(argv[i], "-h")) {
			cmd_usage(stdout);
			return report_done(EXIT_DONE);
		} else if (!strcmp(argv[i], "--help")) {
			return cmd_manual(NULL);
		} else if (!strcmp(argv[i], "--version")) {
			printf("git-checkpoint version %s\n", CKPT_VERSION);
			return report_done(EXIT_DONE);
		} else if (!strcmp(argv[i], "--complete") ||
			   !strcmp(argv[i], "--list-cmds") ||
			   (!strcmp(argv[i], "--list-opts") && i + 1 < argc)) {
			return complete(argv[i], argv + i + 1, argc - i - 1);
		} else if (!strcmp(argv[i], "--here")) {
			session_stay(); /* for our own server; see mcp/mcp_call.c */
		} else if (!strcmp(argv[i], "--json")) {
			json = true;
		} else {
			return report_failure(ckpt_error_set(
				CKPT_EUSAGE, "unknown or incomplete option '%s'; see 'git checkpoint -h'",
				argv[i]));
		}
	}
	if (i >= argc) {
		if (opt_common.json)
			return report_failure(ckpt_error_set(
				CKPT_EUSAGE, "no command given; see 'git checkpoint -h'"));
		/* As git does it. */
		cmd_usage_short(stdout);
		return report_done(EXIT_NO);
	}
	cmd = find_internal(argv[i]);
	own = cmd != NULL;
	cmd = own ? cmd : cmd_find(argv[i]);
	if (!cmd)
		return report_failure(cmd_unknown(argv[i]));
	/* Only there, as git has it; further back it is the same as -h. */
	if (!own && i + 1 < argc && !strcmp(argv[i + 1], "--help"))
		return cmd_manual(cmd->name);
	/* From here on the command's own parser knows what is an option and what a value. */
	opt_common.json = json;
	return cmd->run ? cmd->run(argc - i, argv + i) : cmd_dispatch(cmd->spec, argc - i, argv + i);
}
