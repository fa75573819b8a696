/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/complete.h"
#include "cmd/flowing_internal.h"
#include "cmd/report.h"
#include "cmd/restored_internal.h"
#include "flow/flow.h"
#include "session/session.h"
#include "ui/ui.h"

#include <stdlib.h>
#include <string.h>

static struct strlist phases, approve, output;
static const char *state_dir, *note;
static bool fresh, restore, yes;

static const struct opt options[] = {
	{ OPT_LIST, 0, "phases", &phases, "<list>", "start: the phases, in order", false },
	{ OPT_LIST, 0, "approve", &approve, "<list>",
	  "start: phases that need approval when complete", false },
	{ OPT_STRING, 0, "state-dir", &state_dir, "<dir>", "start: keep a copy of phase.json there",
	  false },
	{ OPT_FLAG, 0, "fresh", &fresh, NULL, "start: archive the workflow in progress", false },
	{ OPT_LIST, 0, "output", &output, "<file>", "phase, task: a file that it produces", false },
	{ OPT_STRING, 0, "note", &note, "<text>", "phase: a note to keep with the checkpoint", false },
	{ OPT_FLAG, 0, "restore", &restore, NULL,
	  "resume: restore the files of the last complete phase", false },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "resume --restore: do not ask", false },
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

static void offer_phases(struct complete *complete, const struct flow *flow)
{
	for (size_t i = 0; i < flow->plan.phases.nr; i++) {
		const char *phase = flow->plan.phases.items[i], *text = NULL;

		for (size_t k = 0; k < flow->state.done_nr; k++)
			if (!strcmp(flow->state.done[k].phase, phase))
				text = flow_status_name(FLOW_COMPLETE);
		if (!strcmp(flow->state.current_phase, phase))
			text = flow_status_name(flow->state.phase_status);
		complete_add(complete, phase, text);
	}
}

/* Of the workflow that is in progress. */
static bool offer(struct complete *complete, const char *what)
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
	for (size_t i = 0; !is_phase && i < flow.state.tasks_nr; i++)
		complete_add(complete, flow.state.tasks[i].id,
			     flow_task_status_name(flow.state.tasks[i].status));
	flow_release(&flow);
	return true;
}

const struct opt_spec cmd_flow_spec = {
	.command = "flow",
	.usage = "start <workflow> --phases <list> [--approve <list>] [--state-dir <dir>] "
		 "[--fresh]\n"
		 "phase <phase> (start | complete | fail) [--output <file>]... [--note <text>]\n"
		 "approve <phase>\n"
		 "task <id> (pending | running | complete | failed) [--output <file>]...\n"
		 "resume [--restore [-y | --yes]]\n"
		 "status\narchive\nlist",
	.summary = "walk through phases, resume after an interruption",
	.options = options,
	.offer = offer,
};

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
			for (size_t k = 0; k < out->nr && !problem; k++)
				if (!strcmp(out->items[k], name.buf))
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
	for (size_t i = 0; i < some->nr; i++) {
		size_t k = 0;

		while (k < all->nr && strcmp(all->items[k], some->items[i]))
			k++;
		if (k == all->nr)
			return ckpt_error_set(CKPT_EUSAGE,
					      "option '--approve': '%s' is not one of the "
					      "phases",
					      some->items[i]);
	}
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

/* ---- what each does; arguments behind its name ---- */

static int do_start(struct session *session, char **args)
{
	struct strlist all = STRLIST_INIT, some = STRLIST_INIT;
	struct flow_start_opts opts = { args[0], &all, &some, state_dir, fresh };
	const char *problem = flow_name_problem(args[0]);
	struct flow_result result;
	int err = 0, status;

	if (problem)
		err = ckpt_error_set(CKPT_EUSAGE, "the name of the workflow '%s' %s", args[0],
				     problem);
	else if (!phases.nr)
		err = ckpt_error_set(CKPT_EUSAGE, "flow start needs --phases, such as --phases "
						  "plan,build,test");
	else if (state_dir && !*state_dir)
		err = ckpt_error_set(CKPT_EUSAGE, "option '--state-dir' needs a directory");
	if (!err)
		err = split_names(&all, &phases, "--phases");
	if (!err)
		err = split_names(&some, &approve, "--approve");
	if (!err)
		err = check_names(&all, &some);
	if (!err)
		err = flow_start(&result, session, &opts);
	if (err) {
		status = report_failure(err);
	} else {
		status = flowing_started(&result);
		flow_result_release(&result);
	}
	strlist_release(&all);
	strlist_release(&some);
	return status;
}

static int do_phase(struct session *session, char **args)
{
	struct strlist paths = STRLIST_INIT;
	struct flow_phase_opts opts = {
		.phase = args[0],
		.output = &paths,
		.note = note,
		.progress = progress_show,
	};
	struct flow_result result;
	int err = 0, status;

	if (!strcmp(args[1], "start"))
		opts.status = FLOW_IN_PROGRESS;
	else if (!strcmp(args[1], "complete"))
		opts.status = FLOW_COMPLETE;
	else if (!strcmp(args[1], "fail"))
		opts.status = FLOW_FAILED;
	else
		err = ckpt_error_set(CKPT_EUSAGE,
				     "flow phase takes start, complete or fail, not '%s'",
				     args[1]);
	if (!err)
		err = parse_outputs(&paths, session);
	if (!err)
		err = flow_phase(&result, session, &opts);
	progress_clear();
	if (err) {
		status = report_failure(err);
	} else {
		status = flowing_moved(&result, args[0]);
		flow_result_release(&result);
	}
	strlist_release(&paths);
	return status;
}

static int do_approve(struct session *session, char **args)
{
	struct flow_result result;
	int err = flow_approve(&result, session, args[0]), status;

	if (err)
		return report_failure(err);
	status = flowing_approved(&result, args[0]);
	flow_result_release(&result);
	return status;
}

static int do_task(struct session *session, char **args)
{
	const char *problem = flow_task_problem(args[0]);
	struct strlist paths = STRLIST_INIT;
	enum flow_task_status wanted = FLOW_TASK_PENDING;
	struct flow_result result;
	int err = 0, status;

	if (problem)
		err = ckpt_error_set(CKPT_EUSAGE, "the name of the task '%s' %s", args[0], problem);
	else if (!flow_task_status_parse(&wanted, args[1]))
		err = ckpt_error_set(CKPT_EUSAGE,
				     "flow task takes pending, running, complete or failed, not '%s'",
				     args[1]);
	if (!err)
		err = parse_outputs(&paths, session);
	if (!err)
		err = flow_task(&result, session, args[0], wanted, &paths);
	if (err) {
		status = report_failure(err);
	} else {
		status = flowing_task(&result);
		flow_result_release(&result);
	}
	strlist_release(&paths);
	return status;
}

/* The files are back, or not quite. */
static int report_files(struct flow_resumed *resumed, const struct session *session)
{
	struct restore_result *result = &resumed->restore;

	if (!resumed->restored)
		return EXIT_DONE;
	restore_own_check(result, session, NULL);
	if (opt_common.json)
		return restored_status(result);
	return restored_report(result, &resumed->target, NULL,
			       plan_is_empty(&result->plan) ? NULL : "git checkpoint undo");
}

static int do_resume(struct session *session, char **args)
{
	struct flow_resume_opts opts = {
		.restore = restore,
		.confirm = yes ? NULL : restored_confirm,
		.progress = progress_show,
	};
	struct flow_resumed resumed;
	int err, status;

	(void)args;
	if (yes && !restore)
		return report_failure(
			ckpt_error_set(CKPT_EUSAGE, "option '--yes' can only be used with '--restore'"));
	err = flow_resume(&resumed, session, &opts);
	progress_clear();
	if (err)
		return report_failure(err);
	status = flowing_resumed(&resumed, report_files(&resumed, session));
	flow_resumed_release(&resumed);
	return status;
}

static int do_status(struct session *session, char **args)
{
	struct flow_result result;
	int err = flow_look(&result, session), status;

	(void)args;
	if (err && err != CKPT_ENOTFOUND)
		return report_failure(err);
	status = flowing_status(err ? NULL : &result);
	if (!err)
		flow_result_release(&result);
	return status;
}

static int do_archive(struct session *session, char **args)
{
	struct flow_result result;
	int err = flow_archive(&result, session), status;

	(void)args;
	if (err)
		return err == CKPT_ENOTFOUND ? report_no(ckpt_error_last()) : report_failure(err);
	status = flowing_archived(&result);
	flow_result_release(&result);
	return status;
}

static int do_list(struct session *session, char **args)
{
	struct flow_archives archives = { 0 };
	int err = session->store ? flow_archives_read(&archives, session->store) : 0, status;

	(void)args;
	status = err ? report_failure(err) : flowing_list(&archives);
	flow_archives_release(&archives);
	return status;
}

/* ---- command line ---- */

enum takes {
	TAKES_START = 1 << 0, /* --phases, --approve, --state-dir, --fresh */
	TAKES_OUTPUT = 1 << 1,
	TAKES_NOTE = 1 << 2,
	TAKES_RESTORE = 1 << 3, /* --restore, --yes */
};

static const struct verb {
	const char *name;
	size_t arguments;
	const char *shown; /* what these are */
	unsigned takes;
	unsigned session;
	int (*run)(struct session *session, char **args);
} verbs[] = {
	{ "start", 1, "the name of a workflow", TAKES_START, SESSION_SAVE, do_start },
	{ "phase", 2, "a phase and start, complete or fail", TAKES_OUTPUT | TAKES_NOTE, 0,
	  do_phase },
	{ "approve", 1, "a phase", 0, 0, do_approve },
	{ "task", 2, "a task and pending, running, complete or failed", TAKES_OUTPUT, 0, do_task },
	{ "resume", 0, NULL, TAKES_RESTORE, 0, do_resume },
	{ "status", 0, NULL, 0, 0, do_status },
	{ "archive", 0, NULL, 0, 0, do_archive },
	{ "list", 0, NULL, 0, 0, do_list },
};

static int check_options(const struct verb *verb)
{
	const struct {
		bool given;
		unsigned takes;
		const char *name;
	} rows[] = {
		{ phases.nr > 0, TAKES_START, "--phases" },
		{ approve.nr > 0, TAKES_START, "--approve" },
		{ state_dir != NULL, TAKES_START, "--state-dir" },
		{ fresh, TAKES_START, "--fresh" },
		{ output.nr > 0, TAKES_OUTPUT, "--output" },
		{ note != NULL, TAKES_NOTE, "--note" },
		{ restore, TAKES_RESTORE, "--restore" },
		{ yes, TAKES_RESTORE, "--yes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given && !(verb->takes & rows[i].takes))
			return ckpt_error_set(CKPT_EUSAGE, "flow %s does not take %s", verb->name,
					      rows[i].name);
	return 0;
}

static int find_verb(const struct verb **out, const struct strlist *args)
{
	static const char known[] = "start, phase, approve, task, resume, status, archive, list";
	const struct verb *verb = NULL;

	if (!args->nr)
		return ckpt_error_set(CKPT_EUSAGE, "flow needs one of %s", known);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, args->items[0]))
			verb = &verbs[i];
	if (!verb)
		return ckpt_error_set(CKPT_EUSAGE, "flow takes %s, not '%s'", known,
				      args->items[0]);
	if (args->nr - 1 > verb->arguments)
		return ckpt_error_set(CKPT_EUSAGE, "flow %s: unexpected argument '%s'",
				      verb->name, args->items[verb->arguments + 1]);
	if (args->nr - 1 < verb->arguments)
		return ckpt_error_set(CKPT_EUSAGE, "flow %s needs %s", verb->name, verb->shown);
	*out = verb;
	return check_options(verb);
}

int cmd_flow(int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	const struct verb *verb = NULL;
	struct session session;
	int err = opt_parse(&cmd_flow_spec, argc, argv, &args, NULL), status = EXIT_DONE;

	if (!err)
		err = find_verb(&verb, &args);
	if (!err)
		err = cmd_session_open(&session, verb->session);
	if (err < 0) {
		status = report_failure(err);
	} else if (!err) {
		status = verb->run(&session, args.items + 1);
		session_close(&session);
	}
	strlist_release(&args);
	strlist_release(&phases);
	strlist_release(&approve);
	strlist_release(&output);
	return status;
}
