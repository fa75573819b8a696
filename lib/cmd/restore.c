/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool dry_run, verbose, yes, no_delete, no_verify, force, go_on, abort_, with_index, with_git;
static bool captures;
static bool as_worktree, turn, by_hunks;
static const char *reason, *verify_command, *verify_how, *into, *branch, *store_name;
static const char *source = JOURNAL_SOURCE;

static const struct opt restore_options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "show the plan, do nothing" },
	{ OPT_FLAG, 'v', "verbose", &verbose, NULL, "show every path of the plan", OPT_ALSO },
	{ OPT_FLAG, 'p', "patch", &by_hunks, NULL, "choose hunk by hunk what is restored" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask", OPT_ALSO },
	{ OPT_STRING, 0, "reason", &reason, "<text>", "why, for the audit trail", OPT_ALSO },
	{ OPT_STRING, 0, "source", &source, "<name>", "who asks for it (default cli)", OPT_ALSO },
	{ OPT_FLAG, 0, "no-delete", &no_delete, NULL, "keep files that were created since" },
	{ OPT_FLAG, 0, "index", &with_index, NULL, "also the index, with what was staged" },
	{ OPT_FLAG, 0, "git", &with_git, NULL,
	  "also HEAD, its branch, the index and an operation in progress" },
	{ OPT_FLAG, 0, "no-verify", &no_verify, NULL, "do not check the result", OPT_ALSO },
	{ OPT_STRING, 0, "verify", &verify_how, "<how>",
	  "with 'full', check every file, not only where the restore has been", OPT_ALSO },
	{ OPT_STRING, 0, "verify-command", &verify_command, "<cmd>",
	  "run this after the restore and report its result", OPT_ALSO },
	{ OPT_FLAG, 0, "force", &force, NULL,
	  "restore even if expired; skip what cannot be saved first", OPT_ALSO },
	{ OPT_FLAG, 0, "captures", &captures, NULL,
	  "give captures from elsewhere to your own restore commands", OPT_ALSO },
	{ OPT_FLAG, 0, "continue", &go_on, NULL, "finish an interrupted restore", OPT_FORM },
	{ OPT_FLAG, 0, "abort", &abort_, NULL, "go back to the state before an interrupted restore",
	  OPT_FORM },
	{ OPT_STRING, 0, "into", &into, "<dir>", "copy it into a new or empty directory", OPT_FORM,
	  OPT_ARGS(CMD_CHECKPOINTS(1, 1), CMD_PATHS) },
	{ OPT_STRING, 0, "store", &store_name, "<key>",
	  "with --into: from this store, of any directory", OPT_WITH },
	{ OPT_FLAG, 0, "worktree", &as_worktree, NULL,
	  "with --into: a git worktree with the recorded HEAD and index", OPT_WITH },
	{ OPT_STRING, 'b', "branch", &branch, "<branch>",
	  "with --worktree: on this new branch", OPT_WITH },
	{ OPT_END },
};

static const struct opt undo_options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "show the plan, do nothing" },
	{ OPT_FLAG, 'v', "verbose", &verbose, NULL, "show every path of the plan" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_FLAG, 0, "turn", &turn, NULL,
	  "go back to the state when the last turn of an agent began" },
	{ OPT_STRING, 0, "source", &source, "<name>", "who asks for it (default cli)" },
	{ OPT_FLAG, 0, "force", &force, NULL, "undo what another source restored" },
	{ OPT_END },
};

static const struct opt redo_options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "show the plan, do nothing" },
	{ OPT_FLAG, 'v', "verbose", &verbose, NULL, "show every path of the plan" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_STRING, 0, "source", &source, "<name>", "who asks for it (default cli)" },
	{ OPT_END },
};

/* Before "--" the first argument is always a checkpoint. */
static bool offer(struct complete *complete, const char *what)
{
	bool ours = !strcmp(what, "<path>");

	if (!strcmp(what, "--verify")) {
		complete_add(complete, "full", NULL);
		return true;
	}
	if (ours && (complete->look->args.nr || !complete->look->dashdash))
		complete_paths(complete, false);
	return ours;
}

static const struct opt_instead restore_instead[] = {
	{ "-s", "name the checkpoint without an option" },
	{ "--staged", "--index brings back the index, too" },
	{ NULL },
};

static int carry_out(struct session *session, struct restore_opts *opts)
{
	const struct show_restore_how how = { .yes = yes,
					      .by_hunks = by_hunks,
					      .verify_command = verify_command };

	if (verbose)
		show_restore_show_all();
	return show_restore_carry_out(session, opts, &how);
}

/* The paths from the `first` argument on. */
static int parse_paths(struct strlist *out, struct session *session,
		       const struct ckpt_record *target, const struct strlist *args, size_t first)
{
	const struct show_paths_where where = { target, 1 };
	struct pathspec only = PATHSPEC_INIT;
	int err = show_paths_parse(&only, session, args, first, &where);

	for (size_t i = 0; i < only.plain.nr && !err; i++)
		if (target->scope.nr && !compare_in_scope(&target->scope, only.plain.items[i]))
			err = ckpt_error_set(CKPT_ERROR,
					     "'%s' is not in the scope of checkpoint '%s'",
					     only.plain.items[i], target->id);
	if (!err)
		err = show_paths_expand(out, session, target, &only, into != NULL);
	pathspec_release(&only);
	return err;
}

/* As "show" and "diff" have it; here a path is an argument of its own, relative to this directory. */
static int refuse_inside(const struct session *session, const char *typed)
{
	const char *path = show_inside_path(typed);
	struct strbuf here = STRBUF_INIT;
	char *checkpoint = xmemdupz(typed, (size_t)(path - typed) - 1);
	int err;

	if (!strncmp(path, "./", 2) || !strncmp(path, "../", 3))
		strbuf_addstr(&here, path);
	else
		session_from_here(&here, session, path);
	err = ckpt_error_set(
		CKPT_EUSAGE,
		"to restore a path, name it after '--': 'git checkpoint restore %s -- %s'",
		report_shell(checkpoint), report_shell(here.buf));
	strbuf_release(&here);
	free(checkpoint);
	return err;
}

static bool is_branch(const struct session *session, const char *name)
{
	char *ref = xstrfmt("refs/heads/%s", name);
	char *commit = session->repo ? repo_ref(session->repo, ref) : NULL;

	free(ref);
	free(commit);
	return commit != NULL;
}

static int find_named(struct ckpt_record *out, struct session *session, const char *name)
{
	int err = session_lookup(out, session->store, name);

	if (err == CKPT_ENOTFOUND && access(name, F_OK) && show_inside_is(name))
		return refuse_inside(session, name);
	if (err == CKPT_ENOTFOUND && is_branch(session, name))
		return ckpt_error_set(
			err,
			"no checkpoint named '%s': that is a branch, which 'git switch' "
			"goes to; see 'git checkpoint list'",
			name);
	/* As `git restore <path>` would have it. */
	if (err == CKPT_ENOTFOUND && !access(name, F_OK))
		err = ckpt_error_set(err, "no checkpoint named '%s'; to restore the path of that name: "
					  "git checkpoint restore @ -- %s",
				     name, name);
	return err;
}

static int make_copy(struct session *session, const struct restore_opts *opts)
{
	const struct into_opts how = {
		.target = opts->target,
		.dir = into,
		.paths = opts->paths,
		.reason = opts->reason,
		.source = source,
		.worktree = as_worktree,
		.branch = branch,
		.no_verify = opts->no_verify,
		.progress = progress_show,
	};

	return show_copy_make(session, &how);
}

static int restore_named(struct session *session, const struct strlist *args, bool named)
{
	struct ckpt_record target = CKPT_RECORD_INIT;
	struct strlist paths = STRLIST_INIT;
	struct restore_opts opts = {
		.target = &target,
		.kind = JOURNAL_RESTORE,
		.reason = reason,
		.source = source,
		.paths = &paths,
		.dry_run = dry_run,
		.no_delete = no_delete,
		.no_verify = no_verify,
		.verify_full = verify_how,
		.force = force,
		.captures = captures,
		.git.what = with_git	    ? JOURNAL_GIT
		       : with_index ? JOURNAL_INDEX
				    : JOURNAL_FILES,
	};
	int err = named ? find_named(&target, session, args->items[0])
			: pick_checkpoint(&target, session, args);

	if (!err && !force)
		err = show_restore_check_expired(&target);
	if (!err)
		err = parse_paths(&paths, session, &target, args, named);
	if (!err && by_hunks && target.state_only)
		err = ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' holds only state, no files",
				     target.id);
	if (!err)
		err = into ? make_copy(session, &opts) : carry_out(session, &opts);
	strlist_release(&paths);
	record_release(&target);
	return err;
}

static int or_no(int err)
{
	return err == CKPT_ENOTFOUND ? report_no(ckpt_error_last()) : err;
}

static int restore_remembered(struct session *session, enum undo_way way)
{
	struct undo_job job;
	int err = or_no(undo_job_init(&job, session, way));

	if (!err) {
		job.opts.dry_run = dry_run;
		job.opts.no_verify = no_verify;
		job.opts.verify_full = verify_how;
		job.opts.force = true;
		job.opts.captures = captures;
		if (way == UNDO_BACK || way == UNDO_FORTH)
			job.opts.source = source;
		if (force)
			job.opts.step.source = NULL;
		err = carry_out(session, &job.opts);
	}
	undo_job_release(&job);
	return err;
}

/* Everything after "--" is a path, even if nothing precedes it. */
static bool is_named(const struct strlist *args)
{
	return args->nr && opt_common.dashdash;
}

static int check_into(const struct strlist *args)
{
	if (branch && !as_worktree)
		return ckpt_error_set(CKPT_EUSAGE, "option '-b' needs '--worktree'");
	if (!*into)
		return ckpt_error_set(CKPT_EUSAGE, "option '--into' needs a directory");
	if (verify_command)
		return ckpt_error_set(CKPT_EUSAGE, "option '--verify-command' does not go with '--into'; "
						   "'git checkpoint try' runs a command in a copy");
	if (captures)
		return ckpt_error_set(CKPT_EUSAGE, "options '--captures' and '--into' cannot be used together");
	if (!is_named(args))
		return ckpt_error_set(CKPT_EUSAGE,
				      "--into needs a checkpoint, such as @ for the newest");
	return 0;
}

static int check(const struct strlist *args)
{
	if (verify_how && strcmp(verify_how, "full") != 0)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--verify' takes 'full', not '%s'",
				      verify_how);
	if (verify_how && no_verify)
		return ckpt_error_set(CKPT_EUSAGE, "options '--verify' and '--no-verify' cannot be used together");
	if (into)
		return check_into(args);
	/* What git knows of some paths alone is not a state that there ever was. */
	if ((with_index || with_git) && args->nr > (is_named(args) ? 1u : 0u))
		return ckpt_error_set(CKPT_EUSAGE, "--%s restores everything, not single paths",
				      with_git ? "git" : "index");
	if ((with_index || with_git) && by_hunks)
		return ckpt_error_set(CKPT_EUSAGE, "--%s restores everything, not single hunks",
				      with_git ? "git" : "index");
	if (go_on || abort_ || is_named(args) || (!opt_common.json && prompt_possible()))
		return 0;
	/* Of git's restore it is the state to restore. */
	if (strcmp(source, JOURNAL_SOURCE) != 0)
		return ckpt_error_set(CKPT_EUSAGE,
				      "'restore' needs a checkpoint: name it without an option; "
				      "--source says who asks");
	return ckpt_error_set(CKPT_EUSAGE, "'restore' needs a checkpoint, such as @ for the newest; "
					   "see 'git checkpoint restore -h'");
}

/* A store that was named: its directory may be another one, or gone. */
static int open_other_store(struct session *session)
{
	struct store *store = NULL;
	int err = as_worktree ? ckpt_error_set(CKPT_EUSAGE,
					       "'--store' and '--worktree' cannot be combined")
			      : cmd_session_open(session, SESSION_ANY);

	if (!err)
		err = inventory_find(&store, session->home, session->cwd, store_name);
	if (err)
		return err;
	store_close(session->store);
	repo_free(session->repo);
	free(session->worktree);
	session->store = store;
	session->repo = NULL;
	/* If it is gone, the copy may take its place. */
	session->worktree = xstrdup(fs_is_dir(store->worktree) ? store->worktree : store->path);
	return 0;
}

static int restore(struct session *session, const struct strlist *args)
{
	int err = store_name ? open_other_store(session) : cmd_session_open(session, SESSION_STORE);

	if (go_on || abort_)
		return err ? or_no(err)
			   : restore_remembered(session, go_on ? UNDO_CONTINUE : UNDO_ABORT);
	return err ? err : restore_named(session, args, is_named(args));
}

static int walk_stack(struct session *session, enum undo_way way)
{
	int err = or_no(cmd_session_open(session, SESSION_STORE));

	if (!err)
		err = restore_check_settled(session);
	return err ? err : restore_remembered(session, way);
}

/* A restore like any other: undo takes it back. */
static int undo_turn(struct session *session)
{
	struct strlist name = STRLIST_INIT;
	int err = or_no(cmd_session_open(session, SESSION_STORE));

	strlist_add(&name, "turn:-1");
	if (!err)
		err = or_no(restore_named(session, &name, true));
	strlist_release(&name);
	return err;
}

static int undo(struct session *session, const struct strlist *args UNUSED)
{
	return turn ? undo_turn(session) : walk_stack(session, UNDO_BACK);
}

static int redo(struct session *session, const struct strlist *args UNUSED)
{
	return walk_stack(session, UNDO_FORTH);
}

/* Alone: without checkpoints the answer of some is no. */
const struct opt_spec cmd_restore_spec = {
	.command = "restore",
	.summary = "restore a checkpoint",
	.args = OPT_ARGS(CMD_CHECKPOINTS(0, 1), CMD_PATHS),
	.options = restore_options,
	.instead = restore_instead,
	.offer = offer,
	.check = check,
	.alone = true,
	.run = restore,
};

const struct opt_spec cmd_undo_spec = {
	.command = "undo",
	.summary = "go back to the state before the last restore",
	.options = undo_options,
	.alone = true,
	.run = undo,
};

const struct opt_spec cmd_redo_spec = {
	.command = "redo",
	.summary = "reverse an undo",
	.options = redo_options,
	.alone = true,
	.run = redo,
};
