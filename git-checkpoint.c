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
 *   save list show diff status verify log config prune gc doctor stores relink
 *   pin          also unpin and drop
 *   hooks hook   putting hooks in place; what they call
 *   restore      also undo and redo
 *   run          a command between a checkpoint and its verification
 *   flow         workflows that survive interruption
 *   help         the list of commands, the manual, man/git-checkpoint-agents.md
 * lib/ui/        what people and programs see
 *   options options_look     command lines from tables, -h; those that end at the cursor
 *   grammar      the usage of a command as what it says
 *   complete complete_offer complete_store    what the completions of the shells ask for
 *   report       failures, exit statuses, JSON that several commands share
 *   sink         where a JSON answer goes that is not for stdout
 *   hint         sentences that teach the next command, once
 *   changes      a difference as patch, histogram, names or JSON
 *   pick         choosing a checkpoint, in fzf or else on pick_screen; picklist: what keys do
 *   restored     the plan of a restore and what came of it
 *   flowing      where a workflow is
 *   ran          what came of a command that was run
 *   patch diffstat table     one file's patch, the histogram, aligned columns
 *   term pager progress prompt    colour and width, the pager, the progress line, yes or no
 * lib/ops/       what commands do
 *   session      which worktree, which settings, which store
 *   capture      the present state of the worktree, scanned and read
 *   save         a checkpoint from a capture; newid, cadence, warnings for it
 *   save_create save_room    the record and its ref; what it takes of the budget
 *   extras captures spool    what is saved beside files; running commands for it; bytes on their way
 *   compare      what differs between two trees
 *   diff         compare for checkpoints and worktree, with contents
 *   list verify  all checkpoints; whether one is sound
 *   restore      the order of events: plan, stage, safety checkpoint, journal, apply, check
 *   plan         what has to be done, from two trees
 *   protect survey           what must stay; what is in the way
 *   restore_plan             the plan from what is on the disk, and when it is refused
 *   staging      the directory for that in the worktree, told from the user's own
 *   stage apply  new contents beside the user's files; putting them in place
 *   swap displaced           renames that replace nothing; whether it is what the scan saw
 *   stage_settle what is left of a restore that was interrupted
 *   restore_verify restore_check    whether it came out right: state hashes of what it was about
 *   restore_captures         what is replayed behind the files
 *   restore_journal restore_warn    what is left when it is killed; what the user should know of it
 *   undo         undo, redo, --continue and --abort as restores
 *   run hold     a command as if we were not there; checkpoints that must stay meanwhile
 *   flow flow_resume         a workflow moves on; goes on after an interruption
 *   flow_decide  what may happen to it, and where it goes on, from its state
 *   flow_files flow_mirror flow_archive    its files, their copy elsewhere, those put away
 *   evict stock  which checkpoints have to go, from rules; what there is and what it gives back
 *   retain drop  letting them go: by rules, for room, by name
 *   reclaim gc   the bytes of what is not needed any more; packing tightly
 *   doctor doctor_files doctor_restore    what is wrong with a store
 *   salvage      checkpoints out of a store that was set aside
 *   stores relink            all stores; adopting one after its folder moved
 *   hooks hooks_status       putting hooks and the guard in place, removing them, whether they run
 *   hooks_place hooks_config one hook file; the repository's configuration
 *   hooks_shim hooks_record  what is put there; what was there before
 *   hook hookrules           what a hook does; whether it has to, from what git is doing
 *   hookcalls hooktargets    git's command lines: what they do to files, where they lead
 *   exposed      what is left out as a rule, and git is about to write over
 *   hookmark     what came of the hooks of one git command
 *   autostash    the state before git put changes aside
 *   agents agent_entry agent_json    entries in the settings of coding agents
 * lib/record/    what a checkpoint is
 *   record meta meta_rules    checkpoint <-> commits
 *   modes        permission bits that a git tree cannot hold
 *   snapshot contents        a checkpoint's tree and contents, read back
 *   statehash    the hash of a whole state
 *   lookup       from the names that people type to records
 *   manifest audit brief     the list for people, the audit trail, what is asked of all
 *   journal      an interrupted restore, the stack of undo
 *   lost identity            refs that disappeared; which directory a store belongs to
 *   settings setting_value inifile    the table of settings and its sources
 *   capturecfg   which captures are configured
 *   flowstate flowparse      where a workflow is, as text and as structures
 * lib/store/     the shadow repository
 *   store layout open, create, lock; the files of a new one
 *   objects refs reading objects; one ref for each checkpoint
 *   packed_refs  many refs in one file, as git has it
 *   pack_write pack_stream pack_verify pack_index    one pack for each save
 *   packs packs_read packs_list delta    reading them
 *   reach repack packing     which objects are needed; packs without the others; who makes them
 *   litter       what a git that was killed left
 *   health rescue            a store's own files, mended on every open; what is left of packs
 *   ingest ingest_file trees    files of a scan into a pack; trees of directories
 *   oidset       a set of object names
 * lib/worktree/  the user's files and the project's repository, read only
 *   scan scan_visit scan_known skip    the parallel walk; what was left out and why
 *   rules rules_texts        what belongs into a checkpoint; the rules that are in no file of it
 *   exclude wildmatch        ignore patterns
 *   statcache origin         what needs no reading again; where it was read
 *   tree         a directory tree in memory
 *   beneath      opening files without leaving the root
 *   mounts       other file systems within it
 *   repo repo_state gitfile gitindex indexfile gitconfig askgit    the project's repository
 *   configtext configcond    git's configuration as text; whether a part of it counts
 *   hookfile configedit      our lines in a hook, and in a configuration, of somebody else
 * lib/base/      tools that know nothing of checkpoints
 *   error alloc libmem strbuf strlist arena path pathset quote shellwords units clock json
 *   hash oid crc fsio fsio_remove sparse pool spawn gitrun command env cancel libgit2 procs nearest problems
 *   jsonedit jsonedit_check tomledit tomledit_block
 */

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/env.h"
#include "base/error.h"
#include "base/libmem.h"
#include "cmd/cmd.h"
#include "ui/complete.h"
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
	{ "run", cmd_run, &cmd_run_spec },	    { "verify", cmd_verify, &cmd_verify_spec },
	{ "log", cmd_log, &cmd_log_spec },
	{ "pin", cmd_pin, &cmd_pin_spec },	    { "unpin", cmd_unpin, &cmd_unpin_spec },
	{ "drop", cmd_drop, &cmd_drop_spec },	    { "prune", cmd_prune, &cmd_prune_spec },
	{ "gc", cmd_gc, &cmd_gc_spec },		    { "doctor", cmd_doctor, &cmd_doctor_spec },
	{ "stores", cmd_stores, &cmd_stores_spec }, { "relink", cmd_relink, &cmd_relink_spec },
	{ "hooks", cmd_hooks, &cmd_hooks_spec },    { "flow", cmd_flow, &cmd_flow_spec },
	{ "config", cmd_config, &cmd_config_spec }, { "help", cmd_help, &cmd_help_spec },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const struct cmd_table cmd_table = { commands, COMMANDS };

/* Not for people: what the hooks call. */
static const struct cmd internal = { "hook", cmd_hook, &cmd_hook_spec };

static const struct cmd *find(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return strcmp(internal.name, name) ? NULL : &internal;
}

/* Asked by the completions of the shells, and by the tests of the manual. */
static int complete(const char *what, char *const *words, int nr)
{
	const struct opt_spec *specs[COMMANDS];
	const struct cmd *cmd = nr ? find(words[0]) : NULL;

	for (int i = 0; i < COMMANDS; i++)
		specs[i] = commands[i].spec;
	if (!strcmp(what, "--complete"))
		return complete_words(specs, COMMANDS, words, (size_t)nr);
	if (!strcmp(what, "--complete-line"))
		return complete_line(specs, COMMANDS, words, (size_t)nr);
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
	bool json = false;
	int i = 1;

	libmem_install();
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
			   !strcmp(argv[i], "--complete-line") ||
			   !strcmp(argv[i], "--list-cmds") ||
			   (!strcmp(argv[i], "--list-opts") && i + 1 < argc)) {
			return complete(argv[i], argv + i + 1, argc - i - 1);
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
				CKPT_EUSAGE, "no command was given; see 'git checkpoint -h'"));
		cmd_usage(stderr);
		return EXIT_USAGE;
	}
	cmd = find(argv[i]);
	if (!cmd)
		return report_failure(cmd_unknown(argv[i]));
	/* Only there, as git has it; further back it is the same as -h. */
	if (cmd != &internal && i + 1 < argc && !strcmp(argv[i + 1], "--help"))
		return cmd_manual(cmd->name);
	/* From here on the command's own parser knows what is an option and what a value. */
	opt_common.json = json;
	return cmd->run(argc - i, argv + i);
}
