/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "flow/flow.h"

static struct strlist phases, approve, output;
static const char *state_dir, *note;
static bool fresh, restore, yes;

static void offer_phases(struct complete *complete, const struct flow *flow)
{
	for (size_t i = 0; i < flow->plan.phases.nr; i++) {
		const char *phase = flow->plan.phases.items[i], *text = NULL;

		for (size_t k = 0; k < flow->state.done.nr; k++)
			if (!strcmp(flow->state.done.items[k].phase, phase))
				text = flow_status_name(FLOW_COMPLETE);
		if (!strcmp(flow->state.current_phase, phase))
			text = flow_status_name(flow->state.phase_status);
		complete_add(complete, phase, text);
	}
}

/* Of the workflow in progress. */
static bool offer_names(struct complete *complete, const char *what)
{
	bool is_phase = !strcmp(what, "<phase>");
	const struct session *session;
	struct flow flow = FLOW_INIT;

	if (!is_phase && strcmp(what, "<id>") != 0)
		return false;
	session = complete_session(complete);
	if (!session || !session->store || flow_read(&flow, session->store)) {
		flow_release(&flow);
		return true;
	}
	if (is_phase)
		offer_phases(complete, &flow);
	for (size_t i = 0; !is_phase && i < flow.state.tasks.nr; i++)
		complete_add(complete, flow.state.tasks.items[i].id,
			     flow_task_status_name(flow.state.tasks.items[i].status));
	flow_release(&flow);
	return true;
}

/* Newest first, each once. */
static bool offer_archived(struct complete *complete, const char *what)
{
	struct flow_archives archives = { 0 };
	struct strlist seen = STRLIST_INIT;
	const struct session *session;

	if (strcmp(what, "<id>") != 0)
		return false;
	session = complete_session(complete);
	if (session && session->store && !flow_archives_read(&archives, session->store))
		for (size_t i = archives.nr; i--;) {
			const struct flow_archive *item = &archives.items[i];
			char age[CLOCK_ISO_SIZE], *text;

			if (!item->readable || strlist_has(&seen, item->state.workflow_id))
				continue;
			text = xstrfmt("archived %s",
				       clock_format_age(age, item->archived_at, clock_now()));
			complete_add(complete, item->state.workflow_id, text);
			strlist_add(&seen, item->state.workflow_id);
			free(text);
		}
	flow_archives_release(&archives);
	strlist_release(&seen);
	return true;
}

/* ---- the parts of the command line ---- */

/* "A, B,C" */
static int split_names(struct strlist *out, const struct strlist *typed, const char *option)
{
	for (size_t i = 0; i < typed->nr; i++) {
		const char *p = typed->items[i];

		for (;;) {
			size_t len = strcspn(p, ",");
			struct strbuf name = STRBUF_INIT;
			const char *problem;

			strbuf_add(&name, p, len);
			strbuf_trim(&name);
			problem = flow_name_problem(name.buf);
			if (!problem && strlist_has(out, name.buf))
				problem = "is listed twice";
			if (problem) {
				int err =
					ckpt_error_set(CKPT_EUSAGE, "option '%s': the name '%s' %s",
						       option, name.buf, problem);

				strbuf_release(&name);
				return err;
			}
			strlist_take(out, strbuf_detach(&name, NULL));
			p += len;
			if (!*p)
				break;
			p++;
		}
	}
	return 0;
}

static int check_names(const struct strlist *all, const struct strlist *some)
{
	for (size_t i = 0; i < some->nr; i++)
		if (!strlist_has(all, some->items[i]))
			return ckpt_error_set(CKPT_EUSAGE,
					      "option '--approve': '%s' is not one of the "
					      "phases",
					      some->items[i]);
	return 0;
}

static int parse_outputs(struct strlist *out, const struct session *session)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	for (size_t i = 0; i < output.nr && !err; i++) {
		err = session_path(&path, session, output.items[i]);
		if (!err && !path.len)
			err = ckpt_error_set(CKPT_ERROR,
					     "'%s' is the whole worktree, not an output",
					     output.items[i]);
		if (!err)
			strlist_add(out, path.buf);
	}
	strlist_sort_unique(out);
	strbuf_release(&path);
	return err;
}

/* ---- one function per subcommand; arguments after its name ---- */

static int show_result(int err, struct flow_result *result,
		       int (*print)(const struct flow_result *))
{
	progress_clear();
	if (err)
		return err;
	err = print(result);
	flow_result_release(result);
	return err;
}

static int do_start(struct session *session, const struct strlist *args)
{
	struct strlist all = STRLIST_INIT, some = STRLIST_INIT;
	struct flow_start_opts opts = { args->items[0], &all, &some, state_dir, fresh };
	const char *problem = flow_name_problem(args->items[0]);
	struct flow_result result;
	int err = 0;

	if (problem)
		err = ckpt_error_set(CKPT_EUSAGE, "the name of the workflow '%s' %s",
				     args->items[0], problem);
	else if (state_dir && !*state_dir)
		err = ckpt_error_set(CKPT_EUSAGE, "option '--state-dir' needs a directory");
	if (!err)
		err = split_names(&all, &phases, "--phases");
	if (!err)
		err = split_names(&some, &approve, "--approve");
	if (!err)
		err = check_names(&all, &some);
	if (!err)
		err = show_result(flow_start(&result, session, &opts), &result, show_flow_started);
	strlist_release(&all);
	strlist_release(&some);
	return err;
}

static enum flow_status parse_step(const char *word)
{
	if (!strcmp(word, "start"))
		return FLOW_IN_PROGRESS;
	return strcmp(word, "complete") ? FLOW_FAILED : FLOW_COMPLETE;
}

static int do_phase(struct session *session, const struct strlist *args)
{
	struct strlist paths = STRLIST_INIT;
	struct flow_phase_opts opts = { args->items[0], parse_step(args->items[1]), &paths, note,
					progress_show };
	struct flow_result result;
	int err = parse_outputs(&paths, session);

	if (!err)
		err = show_result(flow_phase(&result, session, &opts), &result, show_flow_moved);
	strlist_release(&paths);
	return err;
}

static int do_approve(struct session *session, const struct strlist *args)
{
	struct flow_result result;

	return show_result(flow_approve(&result, session, args->items[0]), &result,
			   show_flow_approved);
}

static int do_task(struct session *session, const struct strlist *args)
{
	const char *id = args->items[0], *problem = flow_task_problem(id);
	struct strlist paths = STRLIST_INIT;
	enum flow_status wanted = FLOW_PENDING;
	struct flow_result result;
	int err = 0;

	if (problem)
		err = ckpt_error_set(CKPT_EUSAGE, "the name of the task '%s' %s", id, problem);
	(void)flow_task_status_parse(&wanted, args->items[1]);
	if (!err)
		err = parse_outputs(&paths, session);
	if (!err)
		err = show_result(flow_task(&result, session, id, wanted, &paths), &result,
				  show_flow_task);
	strlist_release(&paths);
	return err;
}

/* Report on the restored files. */
static int report_files(struct flow_resumed *resumed, const struct session *session)
{
	struct restore_result *result = &resumed->restore;

	if (!resumed->restored)
		return EXIT_DONE;
	restore_own_check(result, session, NULL);
	if (opt_common.json)
		return show_restore_status(result);
	return show_restore_report(result, &resumed->target, NULL, show_restore_way_back(result));
}

static int do_resume(struct session *session, const struct strlist *args UNUSED)
{
	struct flow_resume_opts opts = {
		.restore = restore,
		.confirm = yes ? NULL : show_restore_confirm,
		.kept = agents_kept(),
		.progress = progress_show,
	};
	struct flow_resumed resumed;
	int err, status;

	err = flow_resume(&resumed, session, &opts);
	progress_clear();
	if (err)
		return err;
	status = show_flow_resumed(&resumed, report_files(&resumed, session));
	flow_resumed_release(&resumed);
	return status;
}

static int do_status(struct session *session, const struct strlist *args UNUSED)
{
	struct flow_result result;
	int err = flow_look(&result, session);

	return err == CKPT_ENOTFOUND ? show_flow_status(NULL)
				     : show_result(err, &result, show_flow_status);
}

static int do_archive(struct session *session, const struct strlist *args UNUSED)
{
	struct flow_result result;
	int err = flow_archive(&result, session);

	return err == CKPT_ENOTFOUND ? report_no(ckpt_error_last())
				     : show_result(err, &result, show_flow_archived);
}

static int do_unarchive(struct session *session, const struct strlist *args)
{
	struct flow_result result;
	int err = flow_unarchive(&result, session, args->nr ? args->items[0] : NULL);

	return err == CKPT_ENOTFOUND ? report_no(ckpt_error_last())
				     : show_result(err, &result, show_flow_unarchived);
}

static int do_list(struct session *session, const struct strlist *args UNUSED)
{
	struct flow_archives archives = { 0 };
	int err = session->store ? flow_archives_read(&archives, session->store) : 0;

	if (!err)
		err = show_flow_list(&archives);
	flow_archives_release(&archives);
	return err;
}

/* ---- command line ---- */

static const struct opt start_options[] = {
	{ OPT_LIST, 0, "phases", &phases, "<list>", "the phases, in order", OPT_NEEDED },
	{ OPT_LIST, 0, "approve", &approve, "<list>", "phases that need approval when complete" },
	{ OPT_STRING, 0, "state-dir", &state_dir, "<dir>", "keep a copy of phase.json there" },
	{ OPT_FLAG, 0, "fresh", &fresh, NULL, "archive the workflow in progress" },
	{ OPT_END },
};

static const struct opt phase_options[] = {
	{ OPT_LIST, 0, "output", &output, "<file>", "a file that it produces" },
	{ OPT_STRING, 0, "note", &note, "<text>", "a note to keep with the checkpoint" },
	{ OPT_END },
};

static const struct opt task_options[] = {
	{ OPT_LIST, 0, "output", &output, "<file>", "a file that it produces" },
	{ OPT_END },
};

static const struct opt resume_options[] = {
	{ OPT_FLAG, 0, "restore", &restore, NULL, "restore the files of the last complete phase" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "with --restore: do not ask", OPT_WITH },
	{ OPT_END },
};

static const struct opt_spec subcommands[] = {
	{ .command = "flow start",
	  .summary = "begin a workflow",
	  .options = start_options,
	  .args = OPT_ARGS({ { "<workflow>" }, 1, 1 }),
	  .session = SESSION_SAVE,
	  .run = do_start },
	{ .command = "flow phase",
	  .summary = "start or end a phase",
	  .options = phase_options,
	  .args = OPT_ARGS({ { "<phase>" }, 1, 1 }, { { "start", "complete", "fail" }, 1, 1 }),
	  .offer = offer_names,
	  .run = do_phase },
	{ .command = "flow approve",
	  .summary = "let the next phase begin",
	  .args = OPT_ARGS({ { "<phase>" }, 1, 1 }),
	  .offer = offer_names,
	  .run = do_approve },
	{ .command = "flow task",
	  .summary = "record how far a task is",
	  .options = task_options,
	  .args = OPT_ARGS({ { "<id>" }, 1, 1 },
			   { { "pending", "running", "complete", "failed" }, 1, 1 }),
	  .offer = offer_names,
	  .run = do_task },
	{ .command = "flow resume",
	  .summary = "find out what to do next",
	  .options = resume_options,
	  .run = do_resume },
	{ .command = "flow status", .summary = "show where the workflow is", .run = do_status },
	{ .command = "flow archive", .summary = "archive the workflow", .run = do_archive },
	{ .command = "flow unarchive",
	  .summary = "take an archived workflow back",
	  .args = OPT_ARGS({ { "<id>" }, 0, 1 }),
	  .offer = offer_archived,
	  .run = do_unarchive },
	{ .command = "flow list", .summary = "list archived workflows", .run = do_list },
	{ NULL },
};

const struct opt_spec cmd_flow_spec = {
	.command = "flow",
	.summary = "walk through phases, resume after an interruption",
	.subs = subcommands,
};
