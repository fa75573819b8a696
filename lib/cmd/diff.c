/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/complete.h"
#include "cmd/inside_internal.h"
#include "cmd/report.h"
#include "inspect/inspect.h"
#include "record/record.h"
#include "restore/restore.h"
#include "session/session.h"
#include "ui/ui.h"

static bool stat_, names, quiet, nul;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "stat", &stat_, NULL, "show how much changed, file by file" },
	{ OPT_FLAG, 0, "name-status", &names, NULL, "show only names and A, M, D or T", OPT_OR },
	{ OPT_FLAG, 'z', NULL, &nul, NULL, "with --name-status: NUL instead of tab and newline",
	  OPT_WITH },
	{ OPT_FLAG, 0, "quiet", &quiet, NULL, "print nothing, exit with 1 if there is a difference",
	  OPT_OR },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	const struct opt_look *look = complete->look;
	bool named = look->args.nr && look->dashdash != 0;

	if (strcmp(what, "<path>") != 0)
		return false;
	complete_paths(complete, named ? look->args.items[0] : NULL, look->dashdash < 0);
	return true;
}

const struct opt_spec cmd_diff_spec = {
	.command = "diff",
	.summary = "compare a checkpoint with the worktree or with another",
	.args = OPT_ARGS(CMD_CHECKPOINTS(0, 2), CMD_PATHS),
	.options = options,
	.offer = offer,
};

struct request {
	struct ckpt_record sides[2];
	size_t nr;
	struct strlist paths;
	bool inside; /* a checkpoint was given with a path in it */
};

static bool exists(const struct session *session, const char *typed)
{
	struct strbuf path = STRBUF_INIT, full = STRBUF_INIT;
	struct stat st;
	bool found = !session_path(&path, session, typed);

	strbuf_addf(&full, "%s/%s", session->worktree, path.buf);
	found = found && !lstat(full.buf, &st);
	strbuf_release(&path);
	strbuf_release(&full);
	return found;
}

/* "No difference" would be misleading for a path that the checkpoint does not cover. */
static int check_scope(const struct request *request)
{
	const struct ckpt_record *record = &request->sides[0];

	for (size_t i = 0; i < request->nr; i++)
		if (request->sides[i].state_only)
			return ckpt_error_set(CKPT_ERROR, "checkpoint '%s' holds only state, no files",
					      request->sides[i].id);
	for (size_t i = 0; record->scope.nr && i < request->paths.nr; i++)
		if (!plan_concerns(&record->scope, request->paths.items[i]))
			return ckpt_error_set(CKPT_ERROR, "'%s' is not in the scope of checkpoint '%s'",
					      request->paths.items[i], record->id);
	return 0;
}

static int parse_side(struct request *request, struct session *session, const char *typed)
{
	struct ckpt_record *side = &request->sides[request->nr];
	struct strbuf path = STRBUF_INIT;
	int err;

	if (!inside_is(typed))
		return lookup_name(side, session->store, typed);
	err = inside_find(side, &path, session, typed);
	if (!err) {
		request->inside = true;
		if (path.len)
			strlist_add(&request->paths, path.buf);
	}
	strbuf_release(&path);
	return err;
}

/* Up to two checkpoints, then paths; as in git, "--" tells them apart where it matters. */
static int parse(struct request *request, struct session *session, const struct strlist *args,
		 int dashdash)
{
	size_t before = dashdash < 0 ? args->nr : (size_t)dashdash, i = 0;
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	for (; i < before && request->nr < 2; i++) {
		err = parse_side(request, session, args->items[i]);
		if (err) {
			if (dashdash >= 0 || !exists(session, args->items[i]))
				break;
			err = 0;
			break;
		}
		request->nr++;
	}
	if (!err && i < before && dashdash >= 0)
		err = ckpt_error_set(CKPT_EUSAGE, "diff takes at most two checkpoints, but got '%s' too",
				     args->items[i]);
	for (; i < args->nr && !err; i++) {
		err = session_path(&path, session, args->items[i]);
		if (!err && dashdash < 0 && !exists(session, args->items[i]))
			err = ckpt_error_set(CKPT_ERROR,
					     "'%s' is neither a checkpoint nor a path; use '--' before a "
					     "path that no longer exists",
					     args->items[i]);
		if (!err)
			strlist_add(&request->paths, path.buf);
	}
	strlist_sort_unique(&request->paths);
	strbuf_release(&path);
	if (!err && request->inside && request->paths.nr > 1)
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' and '%s' are different paths; diff compares a path "
				     "with itself",
				     request->paths.items[0], request->paths.items[1]);
	if (!err && !request->nr) {
		err = lookup_default(&request->sides[0], session->store);
		request->nr = !err;
	}
	return err ? err : check_scope(request);
}

static int print(struct diff *diff, const struct request *request, const struct session *session)
{
	int status = quiet && diff->changes.nr ? EXIT_NO : EXIT_DONE, err = 0;

	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, "from", request->sides[0].id);
		row_text(&answer, "to", request->nr > 1 ? request->sides[1].id : NULL);
		row_json(&answer, "changes", changes_json(diff));
		return report_json(row_object(&answer), status);
	}
	if (quiet || opt_common.quiet)
		return status;
	if (!nul)
		pager_start(session->gitconfig);
	if (names)
		changes_print_names(diff, nul);
	else if (stat_)
		err = diff->changes.nr ? changes_print_stat(diff) : 0;
	else
		err = changes_print_patch(diff);
	err = err ? report_failure(err) : report_done(EXIT_DONE);
	pager_end();
	return err;
}

static int diff_command(struct session *session, const struct strlist *args, int dashdash)
{
	struct request request = { .sides = { CKPT_RECORD_INIT, CKPT_RECORD_INIT } };
	struct diff diff;
	int err = parse(&request, session, args, dashdash), status;

	if (!err && request.nr == 2)
		err = diff_checkpoints(&diff, session, &request.sides[0], &request.sides[1],
				       &request.paths);
	else if (!err)
		err = diff_worktree(&diff, session, &request.sides[0], &request.paths,
				    progress_show);
	progress_clear();
	if (err) {
		status = report_failure(err);
	} else {
		status = print(&diff, &request, session);
		diff_release(&diff);
	}
	record_release(&request.sides[0]);
	record_release(&request.sides[1]);
	strlist_release(&request.paths);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct strlist args = STRLIST_INIT;
	struct session session;
	int dashdash, status;
	int err = opt_parse(&cmd_diff_spec, argc, argv, &args, &dashdash);

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = cmd_session_open(&session, SESSION_STORE);
	if (err) {
		strlist_release(&args);
		return report_failure(err);
	}
	status = diff_command(&session, &args, dashdash);
	strlist_release(&args);
	session_close(&session);
	return status;
}
