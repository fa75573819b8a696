/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/complete.h"
#include "cmd/pick_internal.h"
#include "cmd/report.h"
#include "cmd/restored_internal.h"
#include "flow/flow.h"
#include "inspect/inspect.h"
#include "record/record.h"
#include "restore/restore.h"
#include "session/session.h"
#include "ui/ui.h"

static bool dry_run, yes, no_delete, no_verify, force, go_on, abort_;
static const char *reason, *verify_command;

static const struct opt restore_options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "show the plan, do nothing" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask", OPT_ALSO },
	{ OPT_STRING, 0, "reason", &reason, "<text>", "why, for the audit trail", OPT_ALSO },
	{ OPT_FLAG, 0, "no-delete", &no_delete, NULL, "keep files that were created since" },
	{ OPT_FLAG, 0, "no-verify", &no_verify, NULL, "do not check the result", OPT_ALSO },
	{ OPT_STRING, 0, "verify-command", &verify_command, "<cmd>",
	  "run this after the restore and report its result", OPT_ALSO },
	{ OPT_FLAG, 0, "force", &force, NULL,
	  "restore even if expired; skip what cannot be saved first", OPT_ALSO },
	{ OPT_FLAG, 0, "continue", &go_on, NULL, "finish an interrupted restore", OPT_FORM },
	{ OPT_FLAG, 0, "abort", &abort_, NULL, "go back to the state before an interrupted restore",
	  OPT_FORM },
	{ OPT_END },
};

static const struct opt undo_options[] = {
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_END },
};

/* Before "--" the first argument is always a checkpoint. */
static bool offer(struct complete *complete, const char *what)
{
	const struct opt_look *look = complete->look;
	bool named = look->args.nr && look->dashdash != 0;

	if (strcmp(what, "<path>") != 0)
		return false;
	if (named || look->dashdash == 0)
		complete_paths(complete, named ? look->args.items[0] : NULL, false);
	return true;
}

#define ONE_FILE "name paths to restore only these: 'git checkpoint restore <checkpoint> -- <path>'"

static const struct opt_instead restore_instead[] = {
	{ "-p", ONE_FILE },
	{ "--patch", ONE_FILE },
	{ "-s", "name the checkpoint without an option" },
	{ "--source", "name the checkpoint without an option" },
	{ "--staged", "the index is never touched" },
	{ NULL },
};

const struct opt_spec cmd_restore_spec = {
	.command = "restore",
	.summary = "restore a checkpoint",
	.args = OPT_ARGS(CMD_CHECKPOINTS(0, 1), CMD_PATHS),
	.options = restore_options,
	.instead = restore_instead,
	.offer = offer,
};

const struct opt_spec cmd_undo_spec = {
	.command = "undo",
	.summary = "go back to the state before the last restore",
	.options = undo_options,
};

const struct opt_spec cmd_redo_spec = {
	.command = "redo",
	.summary = "reverse an undo",
	.options = undo_options,
};

/*
 * The command that leads to the state before. A restore that had nothing to do is not on the stack.
 */
static const char *way_back(const struct restore_opts *opts, const struct restore_result *result)
{
	if (opts->abort)
		return NULL;
	if (opts->kind == JOURNAL_UNDO)
		return "git checkpoint redo";
	if (opts->kind == JOURNAL_RESTORE && !opts->interrupted && plan_is_empty(&result->plan))
		return NULL;
	return "git checkpoint undo";
}

/* Run it and report the result. */
static int carry_out(struct session *session, struct restore_opts *opts)
{
	struct restore_result result;
	bool settling = opts->interrupted != NULL;
	int err, status;

	opts->restored = flow_restored;
	opts->progress = progress_show;
	if (!yes && !settling && !opts->dry_run) {
		opts->confirm = restored_confirm;
		opts->payload = (void *)opts->target;
	}
	err = restore_checkpoint(&result, session, opts);
	progress_clear();
	if (err)
		return report_failure(err);
	restore_own_check(&result, session, verify_command);
	status = restored_report(&result, opts->target, opts->interrupted, way_back(opts, &result));
	restore_result_release(&result);
	return status;
}

/* The paths from the `first` argument on. */
static int parse_paths(struct strlist *out, const struct session *session,
		       const struct ckpt_record *target, const struct strlist *args, size_t first)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	for (size_t i = first; i < args->nr && !err; i++) {
		err = session_path(&path, session, args->items[i]);
		if (!err && target->scope.nr && !compare_in_scope(&target->scope, path.buf))
			err = ckpt_error_set(CKPT_ERROR, "'%s' is not in the scope of checkpoint '%s'",
					     args->items[i], target->id);
		if (!err)
			strlist_add(out, path.buf);
	}
	strlist_sort_unique(out);
	strbuf_release(&path);
	return err;
}

static int find_named(struct ckpt_record *out, struct session *session, const char *name)
{
	int err = lookup_name(out, session->store, name);

	/* As `git restore <path>` would have it. */
	if (err == CKPT_ENOTFOUND && !access(name, F_OK))
		err = ckpt_error_set(err, "no checkpoint named '%s'; to restore the path of that name: "
					  "git checkpoint restore @ -- %s",
				     name, name);
	return err;
}

/* None was named: let the user choose. */
static int find_chosen(struct ckpt_record *out, struct session *session, const struct strlist *typed)
{
	const struct ckpt_record *chosen = NULL;
	struct ckpt_records records;
	int err = inspect_list(&records, session, NULL);

	if (!err && !records.nr)
		err = ckpt_error_set(CKPT_ENOTFOUND, "no checkpoint of '%s' yet", session->worktree);
	if (!err)
		err = pick_checkpoint(&chosen, session, &records, typed);
	if (!err)
		err = lookup_name(out, session->store, chosen->id);
	lookup_records_release(&records);
	return err;
}

static int restore_named(struct session *session, const struct strlist *args, bool named)
{
	struct ckpt_record target = CKPT_RECORD_INIT;
	struct strlist paths = STRLIST_INIT;
	struct restore_opts opts = {
		.target = &target,
		.kind = JOURNAL_RESTORE,
		.reason = reason,
		.paths = &paths,
		.dry_run = dry_run,
		.no_delete = no_delete,
		.no_verify = no_verify,
		.force = force,
	};
	int err = named ? find_named(&target, session, args->items[0]) :
			  find_chosen(&target, session, args);
	int status;

	if (!err && !force && record_expired(&target, clock_now()))
		err = ckpt_error_set(CKPT_EREFUSED, "checkpoint '%s' has expired; use --force to restore it "
						    "anyway",
				     target.id);
	if (!err)
		err = parse_paths(&paths, session, &target, args, named);
	status = err ? report_failure(err) : carry_out(session, &opts);
	strlist_release(&paths);
	record_release(&target);
	return status;
}

static int restore_remembered(struct session *session, enum undo_way way)
{
	struct undo_job job;
	int err = undo_job_init(&job, session, way), status;

	if (err == CKPT_ENOTFOUND) {
		status = report_no(ckpt_error_last());
	} else if (err) {
		status = report_failure(err);
	} else {
		job.opts.no_verify = no_verify;
		job.opts.force = true;
		status = carry_out(session, &job.opts);
	}
	undo_job_release(&job);
	return status;
}

int cmd_restore(int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	struct session session;
	int dashdash, status;
	int err = opt_parse(&cmd_restore_spec, argc, argv, &args, &dashdash);
	/* Everything after "--" is a path, even if nothing precedes it. */
	bool named = args.nr && dashdash;

	if (err > 0)
		return EXIT_DONE;
	if (!err && !go_on && !abort_ && !named && (opt_common.json || !pick_possible()))
		err = ckpt_error_set(CKPT_EUSAGE, "restore needs a checkpoint, such as @ for the newest");
	if (!err)
		err = cmd_session_open(&session, SESSION_STORE);
	if (err) {
		strlist_release(&args);
		return err == CKPT_ENOTFOUND && (go_on || abort_) ? report_no(ckpt_error_last()) :
								     report_failure(err);
	}
	if (go_on || abort_)
		status = restore_remembered(&session, go_on ? UNDO_CONTINUE : UNDO_ABORT);
	else
		status = restore_named(&session, &args, named);
	strlist_release(&args);
	session_close(&session);
	return status;
}

static int walk(const struct opt_spec *spec, int argc, char **argv, enum undo_way way)
{
	struct session session;
	int err = opt_parse(spec, argc, argv, NULL, NULL), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = cmd_session_open(&session, SESSION_STORE);
	if (err)
		return err == CKPT_ENOTFOUND ? report_no(ckpt_error_last()) : report_failure(err);
	err = restore_check_settled(&session);
	status = err ? report_failure(err) : restore_remembered(&session, way);
	session_close(&session);
	return status;
}

int cmd_undo(int argc, char **argv)
{
	return walk(&cmd_undo_spec, argc, argv, UNDO_BACK);
}

int cmd_redo(int argc, char **argv)
{
	return walk(&cmd_redo_spec, argc, argv, UNDO_FORTH);
}
