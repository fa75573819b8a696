/* SPDX-License-Identifier: MIT */

/*
 * git-checkpoint: save the whole state of a working directory, see what changed
 * since, and bring it back, without touching the project's own .git.
 *
 * Where everything is, from the bottom up. A folder is a capability; it uses
 * only folders above it in this list, through the header that has its name.
 * lib/README.md tells how a save and a restore walk through them.
 *
 * lib/base/      tools that know nothing of checkpoints
 *   error alloc libmem cancel    error messages; allocation, also of libraries; ^C
 *   strbuf strlist arena utf8 quote shellwords path pathset units clock nearest linediff    text
 *   intern patterns        strings that are held once; lines that match
 *   hash hash_plain oid crc    SHA-256, of short texts without libcrypto; object names, checksums
 *   fs fs_remove sparse    durable writing, removing trees, files with holes
 *   lines map              files line by line, and in memory
 *   pool spawn command proc env deadline    threads, processes, the environment; work that must
 *                          end in time
 *   traffic                whether processes still send or receive
 *   json problems libgit2    JSON; findings of doctor and relink; libgit2, loaded when needed
 * lib/git/       the project's repository; written only when asked by name
 *   gitrun askgit          the only place that starts git; asking it about a repository
 *   repo repo_state gitfile    discovery; HEAD and operations in progress; .git files
 *   gitstate gitstate_refs gitstate_index gitstate_op    branches, stashes, what is staged, an
 *                          operation's files
 *   gitstate_stashed       what was staged before a rebase put it aside
 *   gitstate_check gitstat    whether all of that can be git's; whether it may have changed
 *   repo_worktrees repo_peek    the other worktrees of a repository; where a nested one is
 *   gitindex indexload indexfile    what the index tracks; all its entries; its file
 *   gitconfig configtext configcond    configuration, its text, its includeIf
 *   exclude pathspec wildmatch    ignore patterns, patterns for paths
 *   gitdate                times as people write them
 *   gitwrite_refs gitwrite_index gitwrite_place gitwrite_operation gitwrite_objects gitwrite_locks
 *                          changing refs, the index, an operation's files; whose locks are in the way
 *   gitwrite_worktree      making a linked worktree
 * lib/settings/  the table of settings and where their values come from
 *   settings setting ini   the table; one setting; files
 *   change edit            changing a file; its text
 *   capture_settings       which captures are configured
 * lib/tree/  the user's files
 *   scan scan_visit skip    the parallel walk; what was left out and why
 *   scan_known scan_hinted    directories that need not be listed; those that need not be looked at
 *   rules rules_texts      what belongs in a checkpoint; rules from outside the worktree
 *   statcache statcache_copies statcache_write    files that need not be read again
 *   origin                 on which boot they were read
 *   wt_tree                a directory tree in memory
 *   watched watched_text   asking a watcher what changed; the text of question and answer
 *   beneath mounts         opening files without leaving the root; other file systems in it
 *   swap displaced         renames that never overwrite; whether a file is what the scan saw
 * lib/store/     the shadow repository
 *   shadow layout          open, create, lock; the files of a new one
 *   objects refs packed_refs loose_refs    reading objects; one ref for each checkpoint
 *   names composed         names that people give to checkpoints; states that are not checkpoints
 *   pack_write pack_stream pack_verify pack_index    writing one pack for each save
 *   packs packs_read packs_inflate packs_list delta    reading packs
 *   delta_make             making deltas of trees
 *   ingest ingest_file trees    files of a scan into a pack; trees of directories
 *   reach repack packing oidset    which objects are needed; new packs without the others
 *   share                  packs that several stores use
 *   repack_copy repack_trees    copying objects between packs; trees among them as deltas
 *   fetched scratch        checkpoints of other machines; repositories for a moment
 *   litter health rescue   removing what a killed git left; repairing a store's files, its packs
 * lib/record/    what a checkpoint is
 *   checkpoint checkpoint_write meta meta_rules    checkpoint <-> commits
 *   record_agent           which agent took it
 *   turns turns_event turns_find    what agents did, turn by turn: the file, events, names
 *   record_git record_git_text    the state of the project's repository, in a tree and as texts
 *   modes                  permission bits that a git tree cannot hold
 *   snapshot contents compare    a checkpoint's tree and contents; what differs from another
 *   statehash nested       the hash of a whole state; repositories within the worktree
 *   lookup lookup_machine brief title    from what people type to records; a summary of all; a line
 *                          about one
 *   order                  the order of saving, whatever the clock did
 *   manifest audit         the list for people, the audit trail
 *   journal stage_dir stage_settle    an interrupted restore, undo; its directories, settling them
 *   target                 what journal and undo name: a checkpoint or a composed state
 *   lost identity          refs that disappeared; which directory a store belongs to
 * lib/session/   which worktree, which settings, which store
 *   session                what every command starts with
 *   inventory inventory_whole    all stores of this user; the last state of one that is gone
 * lib/keep/      which checkpoints go, and freeing their bytes
 *   evict stock hold       which ones go; what is known of each; those that a process still needs
 *   retain retain_save retain_fetched    removing them by rules; for a save, and room for it in
 *                          the budget; those of other machines
 *   drop tally             removing them by name; what saves note so that most need not look
 *   reclaim gc             freeing bytes that nothing needs; packing tightly
 * lib/save/      a checkpoint from a scan
 *   worktree_state         the current state of the worktree, scanned and read
 *   worktree_hints         what need not be looked at, because a watcher does
 *   save save_create save_room    the order of events; record and ref; room in the budget
 *   save_distrust          comparing a scan that was told where to look with a full one
 *   save_same              whether the newest one is as good as a new one
 *   save_sibling           the first one of a worktree whose repository has others
 *   save_lines             how many lines were added and deleted
 *   save_git save_staged    the state of the project's repository; contents of what is staged
 *   cadence warnings       whether a save is due; what the user must know about it
 *   extras capture spool   state keys, the output of commands, and its way into the pack
 * lib/look/   list, diff, status, verify
 *   list diff renames      all checkpoints; a difference with contents; renames in it
 *   history                what became of paths, checkpoint by checkpoint
 *   grep grep_blob versions    searching contents; one content; which there are of each file
 *   staged                 what was staged, as a difference
 *   status verify          whether everything is saved; whether a checkpoint is sound
 *   hashdir                the state hash of a plain directory
 * lib/restore/   plan, obstacles, stage, apply, verify, undo
 *   restore restore_execute    the order of events; doing what was agreed to
 *   compose compose_tree restore_compose    targets that are not checkpoints
 *   choose                 what a restore would change, path by path; a target of some of it
 *   hunks hunks_edit hunks_apply    hunks as git cuts them; edited ones; the content they make
 *   plan restore_plan      what to do, from two trees; from what is on disk
 *   plan_fold              thousands of paths of a plan as a few lines
 *   gitplan gitplan_say    the same for the repository: what changes; how it is told
 *   protect survey         what must stay; what is in the way
 *   stage apply            new contents beside the user's files; putting them in place
 *   restore_verify restore_hash    whether the result is right
 *   restore_touched        which directories to look at for that
 *   restore_git restore_git_look    refs, HEAD, index and operation; what git says about that
 *   restore_capture        what is restored after the files
 *   restore_keep           files that others depend on
 *   restore_journal restore_warn    what a killed restore leaves; what the user should know
 *   restore_head           what a restore of files leaves of repositories, and what brings it back
 *   undo                   undo, redo, --continue and --abort as restores
 *   into into_place into_marker    a copy in another directory; where it may be; the file that marks
 *                          an unfinished one
 *   into_write into_clone into_verify    its files; contents shared with live ones; whether it is right
 *   into_worktree          a copy as a linked git worktree
 *   revert revert_range    taking back what lies between two checkpoints; which two
 *   revert_path revert_decide revert_merge    one path of it: what to do, the merged text
 * lib/repair/    doctor and what it uses
 *   doctor doctor_files doctor_restore    what is wrong with a store
 *   salvage relink         saving checkpoints from a broken store; the store of a moved folder
 * lib/remote/    checkpoints beyond this store
 *   export export_patch export_tar    one as a file: patch, tar, bundle
 *   import bundle          taking them out of a bundle; the head of one
 *   incoming incoming_tree    what came from outside, hostile until it is checked
 *   remotes transport      where to; talking to other repositories, by stock git
 *   push push_doubt pushed    sending them; what should stay here; what was sent
 *   push_prune common      removing what was sent; what both sides have, and need not be sent
 *   remote_check           what is wrong with all that, for doctor
 *   fetch handoff          bringing in those of other machines; the commit at HEAD beside one
 *   branch                 one as a commit of the project
 *   flat flat_ignored flat_index    one as git would commit it; what it would not; for its index
 * lib/run/       a command between a checkpoint and its verification
 *   run                    starting the command, passing signals on, waiting for it
 *   try bisect             a command in a copy of a checkpoint; which checkpoint to ask next
 * lib/flow/      workflows that survive interruption
 *   flow flow_resume       moving on; resuming after an interruption
 *   flow_decide            what may happen next, from the state alone
 *   flow_mirror            the copy of the state that a user asked for
 *   flow_state flow_files    its files as structures; their directories, and the archive
 * lib/install/   changes to files that belong to somebody else, with the way back
 *   install edit edit_json    the files and the record; kinds of changes; JSON that people wrote
 * lib/hooks/     hooks and the guard
 *   install install_undo install_status install_record    installing and removing them
 *   install_place install_config install_config_write    in hook files, in the configuration
 *   install_where install_global install_global_status install_template    for all repositories
 *   shim hook_file config_edit    what is installed; our lines in other people's files
 *   hook_rules hook_git hook_targets    whether to save, from what git is doing
 *   hook_checkpoint hook_once    taking the checkpoint, once for each command
 *   hook_exposed hook_autostash    what the rules leave out but git may destroy; autostash
 * lib/agents/    coding agents: entries in their settings, and what these run
 *   agent_hook agent_input    a checkpoint for an event; reading that from a stream
 *   agent_event agent_tools    what an agent tells; whether to save, from event and tool
 *   agent_trouble          what went wrong, told once
 *   agents agents_status agents_notes    adding and removing entries; which there are; what to know
 *   agents_guard           they survive a restore
 *   agent_table agent_own    all agents; files of ours for some of them
 *   agent_entry agent_json agent_toml agent_settings    one entry; where it is; the file
 *   agent_mcp agent_mcp_entry    the server of lib/mcp in their settings
 *   jsonedit jsonedit_check    editing JSON that people wrote
 * lib/mcp/       a server that agents call: checkpoints as tools
 *   mcp_serve mcp_dispatch    lines in and out, calls in turn; what each message asks for
 *   mcp_message            messages and revisions of the protocol
 *   mcp_tools mcp_schema   what a tool takes, its command line; what it answers
 *   mcp_call mcp_child     a call from start to answer; the command that it runs
 *   mcp_place mcp_tokens   in which project, and whether it may; which plan was shown
 *   mcp_resources          files and lists to be read, the prompt
 * lib/watch/     a process that knows what changed, and takes checkpoints by itself
 *   watch_cover watch_nodes    watches on the directories of a worktree; these directories
 *   watch_events watch_answer    what the watches tell; what changed since a walk
 *   watch_run watch_talk   the process: waiting for what comes; connections
 *   watch_tree watch_trees    one worktree; all that are registered, and those linked to them
 *   watch_save watch_pace watch_child    saving it: when, and by another process
 *   watch_poll             looking at directories that cannot be watched
 *   watch_registry watch_tell    which worktrees; asking the process, from outside
 * lib/ui/        a toolkit for terminals and programs that decides nothing
 *   opt opt_check opt_usage opt_look    command lines from tables: parsing, checks, usage, completion
 *   row                    what is shown of a thing: JSON, columns, lines
 *   table patch diffstat    aligned columns, one file's patch, the histogram
 *   term pager progress prompt picklist    colour and width, the pager, yes or no, a list
 *   answer                 lines that answer many questions, typed or from a program
 *   sink                   where a JSON answer goes instead of stdout
 * lib/cmd/       one file per command: options, argument checks, one call, output
 *   cmd report hint        what all commands share
 *   save list show diff grep status verify hash log config prune gc doctor stores relink
 *   export import branch remote push fetch
 *   handoff                also takeover
 *   pin restore            also unpin and drop; also undo and redo
 *   hooks hook agent_hook mcp run flow help try bisect revert watch
 *   watched gone           what a watcher says about one worktree; one that is gone: lines and JSON
 *   hooks_agents hooks_offer    its parts about coding agents, and about a setting
 *   project                where the project was, as text and JSON
 *   inside paths           a path in a checkpoint: <checkpoint>:<path>; other paths
 *   changes restored ran flowing    a difference, a restore, a run, a workflow as text and JSON
 *   copied tried           a copy in another directory; a command in one
 *   listed past list_session    checkpoints as rows, for terminals and for scripts; those in which
 *                          paths changed; a session by turns
 *   restored_plan restored_diff restored_git    the plan of a restore, and the question; what it
 *                          takes back; what it does to the repository
 *   hunking hunking_choose hunking_file hunking_edit    -p: the questions; of which paths; the hunks
 *                          of one; editing one
 *   removal                what drop and prune ask and say
 *   pick pick_screen pick_preview    choosing a checkpoint, in fzf or on our own screen
 *   complete complete_offer complete_store    what the shells' completions ask for
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
	{ "revert", NULL, &cmd_revert_spec }, { "run", cmd_run, &cmd_run_spec },
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
	{ "mcp", cmd_mcp, &cmd_mcp_spec }, { "flow", NULL, &cmd_flow_spec },
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
		return complete_words(words, (size_t)nr);
	if (!strcmp(what, "--complete-line"))
		return complete_line(words, (size_t)nr);
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
				CKPT_EUSAGE, "no command given; see 'git checkpoint -h'"));
		cmd_usage(stderr);
		return EXIT_USAGE;
	}
	cmd = find_internal(argv[i]);
	own = cmd != NULL;
	if (!cmd)
		cmd = cmd_find(argv[i]);
	if (!cmd)
		return report_failure(cmd_unknown(argv[i]));
	/* Only there, as git has it; further back it is the same as -h. */
	if (!own && i + 1 < argc && !strcmp(argv[i + 1], "--help"))
		return cmd_manual(cmd->name);
	/* From here on the command's own parser knows what is an option and what a value. */
	opt_common.json = json;
	return cmd->run ? cmd->run(argc - i, argv + i) : cmd_dispatch(cmd->spec, argc - i, argv + i);
}
