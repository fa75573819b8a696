/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "flow/flow.h"

static const char *reason = "pre-run", *verify, *json_file;
static int64_t json_fd = -1;
static bool rollback;

static const struct opt options[] = {
	{ OPT_STRING, 'm', "message", &reason, "<reason>", "why the checkpoint is taken" },
	{ OPT_STRING, 0, "verify", &verify, "<cmd>", "run this if the command succeeds" },
	{ OPT_FLAG, 0, "rollback", &rollback, NULL, "roll back on failure, do not ask" },
	{ OPT_STRING, 0, "json-file", &json_file, "<file>", "write the result as JSON to a file" },
	{ OPT_NUMBER, 0, "json-fd", &json_fd, "<n>", "write it to a descriptor", OPT_OR },
	{ OPT_END },
};

const struct opt_spec cmd_run_spec = {
	.command = "run",
	.summary = "run a command, roll back if it fails",
	.args = OPT_ARGS({ { "<command>" }, 1, OPT_MANY, .dashes = true }),
	.options = options,
	.first_ends = true,
};

/* ---- where the answer goes ---- */

/*
 * Where a JSON answer goes when stdout belongs to a command.
 *
 * A file is replaced atomically once the answer is complete; its old contents
 * stay until then. Only what cannot be replaced (a pipe, a device, a symbolic
 * link) is opened at once. A descriptor is ours from then on: a command that
 * is run does not get it, unless it is a standard stream.
 */
struct sink {
	int fd;	    /* opened, or given; -1: write a file */
	char *path; /* of that file, absolute: the current directory may be another by then */
	bool given; /* the descriptor belongs to the caller */
};

#define SINK_INIT               \
	{                       \
		-1, NULL, false \
	}

/* Make sure that it can be written, before doing anything whose result it should get. */
static int aim_at_file(struct sink *sink, const char *path)
{
	const char *name = path_base(path);
	char *dir = name > path ? xmemdupz(path, (size_t)(name - path)) : xstrdup(".");
	char *real = path_real(dir);
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		sink->fd = open(path, O_WRONLY | O_CLOEXEC);
	else if (real && *name && !access(real, W_OK | X_OK))
		sink->path = xstrfmt("%s/%s", real, name);
	if (sink->fd < 0 && !sink->path)
		ckpt_error_errno("unable to write to '%s'", path);
	free(real);
	free(dir);
	/* Not the code that this sets: a wrong path is not a missing checkpoint. */
	return sink->fd < 0 && !sink->path ? CKPT_ERROR : 0;
}

static int aim_at_fd(struct sink *sink, int64_t fd)
{
	int flags = fd > INT_MAX ? -1 : fcntl((int)fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--json-fd': descriptor %lld is not open for writing",
				      (long long)fd);
	sink->given = true;
	sink->fd = (int)fd;
	if (fd > STDERR_FILENO)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

static void aim_at_stdout(struct sink *sink)
{
	sink->given = true;
	sink->fd = STDOUT_FILENO;
}

/* The permission bits for a new file, or those of the existing one. */
static mode_t mode_of(const struct sink *sink)
{
	struct stat st;

	if (!lstat(sink->path, &st) && S_ISREG(st.st_mode))
		return st.st_mode & 0777;
	return fs_usual_mode(0666);
}

/* Write the answer and free it. */
static int write_answer(struct sink *sink, json_t *answer)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int err = 0;

	json_write(&text, answer);
	json_decref(answer);
	strbuf_addch(&text, '\n');
	if (sink->path) {
		err = fs_write_file(AT_FDCWD, sink->path, text.buf, text.len, mode_of(sink),
				    FS_FAST);
	} else if (sink->fd >= 0) {
		/*
		 * Through a symbolic link: the contents are replaced. A given descriptor stays at
		 * its position.
		 */
		if (!sink->given && !fstat(sink->fd, &st) && S_ISREG(st.st_mode) &&
		    ftruncate(sink->fd, 0) < 0)
			err = ckpt_error_errno("unable to write the answer");
		if (!err && fs_write_all(sink->fd, text.buf, text.len) < 0)
			err = ckpt_error_errno("unable to write the answer");
	}
	strbuf_release(&text);
	return err;
}

static void release_sink(struct sink *sink)
{
	if (sink->fd >= 0 && !sink->given)
		close(sink->fd);
	free(sink->path);
	*sink = (struct sink)SINK_INIT;
}

/* ---- a run ---- */

/* One run, from the checkpoint to the answer. */
struct run {
	struct show_run ran;
	struct sink sink;
	bool to_stdout; /* --json: for a program, so nothing is asked */
	char *worktree, *verify;
	mode_t mode;
	struct keepers_hold hold;
	bool failed, declined;
};

static void add_warning(struct run *run, const char *text)
{
	strlist_add(&run->ran.warnings, text);
	if (!opt_common.quiet)
		report_message("warning", text);
}

/* The command was not run. */
static int fail_run(struct run *run, int err)
{
	int status = report_failure(err);
	json_t *answer = json_pack("{s:o}", "error", report_error_object(status, ckpt_error_last()));

	report_add_noted(answer);
	if (write_answer(&run->sink, answer))
		report_failure(CKPT_ERROR);
	return status;
}

/* ---- before ---- */

static int open_sink(struct run *run)
{
	int err = 0;

	run->to_stdout = opt_common.json;
	/* Failures are reported by fail_run(), so that there is one answer, in one place. */
	opt_common.json = false;
	if (json_file)
		err = aim_at_file(&run->sink, json_file);
	else if (json_fd >= 0)
		err = aim_at_fd(&run->sink, json_fd);
	else if (run->to_stdout)
		aim_at_stdout(&run->sink);
	run->to_stdout = run->to_stdout && !json_file && json_fd < 0;
	if (run->to_stdout)
		report_hush();
	return err;
}

static int take_checkpoint(struct run *run, struct session *session)
{
	struct save_opts opts = {
		.reason = reason,
		.source = "cli",
		.said = strcmp(reason, "pre-run") != 0,
		.step = -1,
		/* Rolling back to a checkpoint with more would restore more than there was. */
		.extras.exact = true,
		.scan = { .scope = &strlist_empty, .progress = progress_show },
	};
	const struct ckpt_record *record = &run->ran.saved.record;
	struct strbuf before = STRBUF_INIT;
	int err;

	/* Who gave a reason is shown that. */
	if (!opts.said) {
		title_add_command(&before, run->ran.command->items, run->ran.command->nr);
		opts.before = before.buf;
	}
	err = save_checkpoint(&run->ran.saved, session, &opts);
	strbuf_release(&before);
	progress_clear();
	if (err)
		return err;
	for (size_t i = 0; i < record->warnings.nr; i++)
		add_warning(run, record->warnings.items[i]);
	if (record->missing) {
		char *text = xstrfmt("the checkpoint is incomplete: %" PRIu64 " %s not in it",
				     record->missing, record->missing == 1 ? "path is" : "paths are");

		add_warning(run, text);
		free(text);
	}
	show_run_say(run->ran.saved.outcome == SAVE_CREATED ? "Saved %s\n"
							    : "Nothing changed since %s\n",
		     record->id);
	advice_evicted(session, run->ran.saved.evicted);
	/* Not worth failing for: only many saves by the command would make a difference. */
	err = keepers_hold(&run->hold, session->store, record->id);
	if (err && err != CKPT_ENOTFOUND)
		add_warning(run, ckpt_error_last());
	return err == CKPT_ENOTFOUND ? err : 0;
}

/* Everything that needs the store, which is closed again before the command runs. */
static int save_before(struct run *run)
{
	struct session session;
	struct stat st;
	int err = cmd_session_open(&session, SESSION_SAVE);

	if (err)
		return err;
	run->worktree = xstrdup(session.worktree);
	run->mode = stat(session.worktree, &st) < 0 ? 0777 : st.st_mode;
	if (!verify)
		verify = session.settings.verify_command;
	run->verify = verify && *verify ? xstrdup(verify) : NULL;
	run->ran.verify = run->verify;
	if (rollback)
		err = restore_check_settled(&session);
	if (!err)
		err = take_checkpoint(run, &session);
	session_close(&session);
	return err;
}

/* ---- the command, and its verification ---- */

static int run_command(struct run *run)
{
	char **argv = xcalloc(run->ran.command->nr + 1, sizeof(*argv));
	char *shell[] = { "/bin/sh", "-c", run->verify, NULL };
	int err;

	memcpy(argv, run->ran.command->items, run->ran.command->nr * sizeof(*argv));
	err = run_child(&run->ran.child, argv, NULL, 0);
	free(argv);
	if (err)
		return err;
	if (run->ran.child.exit_status) {
		show_run_say_failed("", run->ran.command->items[0], &run->ran.child);
	} else if (run->verify) {
		err = run_child(&run->ran.check, shell, run->worktree, RUN_ASIDE);
		/* Not verified means not good. */
		if (err) {
			run->ran.check.exit_status = EXIT_FATAL;
			report_message("error", ckpt_error_last());
		} else if (run->ran.check.exit_status) {
			show_run_say_failed("the verification ", run->verify, &run->ran.check);
		}
		run->ran.checked = true;
	}
	run->failed = run->ran.child.exit_status || run->ran.check.exit_status;
	return 0;
}

/* ---- after the command ---- */

static int confirm_rollback(const struct restore_result *preview, struct session *session, void *payload)
{
	struct run *run = payload;
	int err = show_restore_confirm(preview, session, &run->ran.saved.record);

	run->declined = err != 0;
	return err;
}

static int restore_saved(struct run *run)
{
	struct restore_opts opts = {
		.target = &run->ran.saved.record,
		.kind = JOURNAL_RESTORE,
		.reason = "rollback of a failed run",
		.paths = &strlist_empty,
		.kept = agents_kept(),
		.confirm = rollback ? NULL : confirm_rollback,
		.payload = run,
		.progress = progress_show,
	};
	struct session session;
	int err = run_find_again(&session, run->worktree, run->mode);

	if (err)
		return err;
	err = restore_checkpoint(&run->ran.result, &session, &opts);
	run->ran.restored = !err;
	if (err) /* nothing of it is left */
		memset(&run->ran.result, 0, sizeof(run->ran.result));
	else
		flow_restored(&session, &run->ran.result);
	progress_clear();
	session_close(&session);
	return err;
}

static void roll_back(struct run *run)
{
	int err = 0;

	if (!rollback && (run->to_stdout || !prompt_possible())) {
		run->declined = true;
	} else {
		err = restore_saved(run);
		if (!err) {
			show_run_say_restored(&run->ran);
			if (!show_run_is_back(&run->ran))
				run->ran.error = EXIT_UNVERIFIED;
		} else if (!run->declined) {
			run->ran.error = report_failure(err);
		}
		if (run->ran.error)
			run->ran.message = xstrdup(err ? ckpt_error_last() :
						     "not everything was restored as it was in the "
						     "checkpoint");
	}
	/* It may have been dropped by the command. */
	if (!run->ran.restored && err != CKPT_ENOTFOUND)
		show_run_say("The state before the command is %s; 'git checkpoint restore %s' goes "
			     "back to it\n",
			     run->ran.saved.record.id, run->ran.saved.record.id);
}

static int exit_status(const struct run *run)
{
	if (run->ran.error)
		return run->ran.error;
	return run->ran.child.exit_status ? run->ran.child.exit_status : run->failed ? EXIT_NO : EXIT_DONE;
}

static int run_it(struct run *run)
{
	int err = open_sink(run), status;
	json_t *answer;

	if (!err)
		err = save_before(run);
	if (!err)
		err = run_command(run);
	if (err)
		return fail_run(run, err);
	/* A command that was not started has changed nothing. */
	if (run->failed && run->ran.child.started)
		roll_back(run);
	keepers_let_go(&run->hold);
	status = exit_status(run);
	answer = show_run_json(&run->ran);
	report_add_noted(answer);
	err = write_answer(&run->sink, answer);
	/* The failure of the command is what the caller must know first. */
	if (err)
		err = report_failure(err);
	return status ? status : err;
}

int cmd_run(int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	struct run run = { .ran = { .command = &args }, .sink = SINK_INIT, .hold = KEEPERS_HOLD_INIT };
	int err = opt_parse(&cmd_run_spec, argc, argv, &args), status;

	run_unheard();
	if (err > 0) {
		status = EXIT_DONE;
	} else if (err) {
		char *kept = ckpt_error_keep();

		(void)open_sink(&run);
		status = fail_run(&run, ckpt_error_put_back(err, kept));
	} else {
		status = run_it(&run);
	}
	keepers_let_go(&run.hold);
	restore_result_release(&run.ran.result);
	save_result_release(&run.ran.saved);
	strlist_release(&run.ran.warnings);
	release_sink(&run.sink);
	free(run.worktree);
	free(run.verify);
	free(run.ran.message);
	strlist_release(&args);
	return status;
}
