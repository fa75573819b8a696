/* SPDX-License-Identifier: MIT */

/*
 * git-checkpoint: save the whole state of a working directory, see what became
 * of it since, and bring it back, without touching the project's own .git.
 *
 * Where everything is, from the top down. A file includes headers of its own
 * folder and of those below it, never of one above.
 *
 * lib/cmd/       one file a command: options, argument checks, one call, output
 *   cmd          what all commands begin with
 *   save list show diff status verify log config
 *   restore      also undo and redo
 * lib/ui/        what people and programs see
 *   options      command lines from tables, -h, data for completion
 *   report       failures, exit statuses, JSON that several commands share
 *   changes      a difference as patch, histogram, names or JSON
 *   restored     the plan of a restore and what came of it
 *   patch diffstat table     one file's patch, the histogram, aligned columns
 *   term pager progress prompt    colour and width, the pager, the progress line, yes or no
 * lib/ops/       what commands do
 *   session      which worktree, which settings, which store
 *   capture      the present state of the worktree, scanned and read
 *   save         a checkpoint from a capture; newid, cadence, warnings for it
 *   compare      what differs between two trees
 *   diff         compare for checkpoints and worktree, with contents
 *   list verify  all checkpoints; whether one is sound
 *   restore      the order of events: plan, stage, safety checkpoint, journal, apply, check
 *   plan         what has to be done, from two trees
 *   protect survey           what must stay; what is in the way
 *   stage apply  new contents beside the user's files; putting them in place
 *   restore_verify restore_check    whether it came out right: state hashes of what it was about
 *   restore_warn what the user should know of it
 *   undo         undo, redo, --continue and --abort as restores
 * lib/record/    what a checkpoint is
 *   record meta  checkpoint <-> commits
 *   modes        permission bits that a git tree cannot hold
 *   snapshot contents        a checkpoint's tree and contents, read back
 *   statehash    the hash of a whole state
 *   lookup       from the names that people type to records
 *   manifest audit           the list for people, the audit trail
 *   journal      an interrupted restore, the stack of undo
 *   settings setting_value inifile    the table of settings and its sources
 * lib/store/     the shadow repository
 *   store layout open, create, lock; the files of a new one
 *   objects refs reading objects; one ref for each checkpoint
 *   pack_write pack_verify pack_index    one pack for each save
 *   packs        reading them
 *   ingest trees files of a scan into a pack; trees of directories
 *   oidset       a set of object names
 * lib/worktree/  the user's files and the project's repository, read only
 *   scan scan_visit scan_known skip    the parallel walk; what was left out and why
 *   rules        what belongs into a checkpoint
 *   exclude wildmatch        ignore patterns
 *   statcache    what needs no reading again
 *   tree         a directory tree in memory
 *   beneath      opening files without leaving the root
 *   repo repo_state gitfile gitindex indexfile gitconfig    the project's repository
 * lib/base/      tools that know nothing of checkpoints
 *   error alloc strbuf strlist arena path pathset quote units clock json
 *   hash oid crc fsio pool spawn env cancel giterr
 */

#include "base/cancel.h"
#include "base/env.h"
#include "base/error.h"
#include "cmd/cmd.h"
#include "ui/options.h"
#include "ui/report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cmd commands[] = {
	{ "save", cmd_save, &cmd_save_spec },	    { "list", cmd_list, &cmd_list_spec },
	{ "show", cmd_show, &cmd_show_spec },	    { "diff", cmd_diff, &cmd_diff_spec },
	{ "status", cmd_status, &cmd_status_spec }, { "restore", cmd_restore, &cmd_restore_spec },
	{ "undo", cmd_undo, &cmd_undo_spec },	    { "redo", cmd_redo, &cmd_redo_spec },
	{ "verify", cmd_verify, &cmd_verify_spec }, { "log", cmd_log, &cmd_log_spec },
	{ "config", cmd_config, &cmd_config_spec },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *out)
{
	fprintf(out, "usage: git checkpoint [-C <dir>] <command> [<options>]\n\n");
	for (int i = 0; i < COMMANDS; i++)
		fprintf(out, "    %-10s %s\n", commands[i].name, commands[i].spec->summary);
	fprintf(out, "\n'git checkpoint <command> -h' shows the options of a command,\n"
		     "'git checkpoint --help' the manual.\n");
}

static const struct cmd *find(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* For the completions, which ask the program so that they never fall behind it. */
static int complete(const char *name)
{
	const struct cmd *cmd = name ? find(name) : NULL;

	for (int i = 0; i < COMMANDS && !name; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].spec->summary);
	if (cmd)
		opt_complete(cmd->spec);
	return report_done(name && !cmd ? EXIT_USAGE : EXIT_DONE);
}

static int bad_usage(const char *message, const char *word)
{
	return report_failure(ckpt_error_set(CKPT_EUSAGE, "%s '%s'; see 'git checkpoint -h'", message,
					     word));
}

/*
 * A standard stream that is closed would be the next file that is opened, and
 * messages would go into it. For reading only, so that writing still fails.
 */
static void occupy_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	bool json = false;
	int i = 1;

	occupy_standard_streams();
	env_scrub();
	cancel_install();
	opt_scan_json(argc, argv);
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-C") && i + 1 < argc) {
			if (argv[++i][0] && chdir(argv[i]) < 0)
				return report_failure(
					ckpt_error_errno("unable to change to '%s'", argv[i]));
		} else if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			usage(stdout);
			return report_done(EXIT_DONE);
		} else if (!strcmp(argv[i], "--version")) {
			printf("git-checkpoint version %s\n", CKPT_VERSION);
			return report_done(EXIT_DONE);
		} else if (!strcmp(argv[i], "--list-cmds")) {
			return complete(NULL);
		} else if (!strcmp(argv[i], "--list-opts") && i + 1 < argc) {
			return complete(argv[i + 1]);
		} else if (!strcmp(argv[i], "--json")) {
			json = true;
		} else {
			return bad_usage("unknown or incomplete option", argv[i]);
		}
	}
	if (i >= argc) {
		if (opt_common.json)
			return report_failure(ckpt_error_set(
				CKPT_EUSAGE, "no command was given; see 'git checkpoint -h'"));
		usage(stderr);
		return EXIT_USAGE;
	}
	cmd = find(argv[i]);
	if (!cmd)
		return bad_usage("unknown command", argv[i]);
	/* From here on the command's own parser knows what is an option and what a value. */
	opt_common.json = json;
	return cmd->run(argc - i, argv + i);
}
