/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static bool quiet, exit_code, staged, reverse;

static const struct opt options[] = {
	SHOW_DIFF_FORMS(""),
	{ OPT_FLAG, 0, "quiet", &quiet, NULL, "print nothing, exit with 1 if there is a difference",
	  OPT_OR },
	{ OPT_FLAG, 0, "exit-code", &exit_code, NULL, "exit with 1 if there is a difference" },
	{ OPT_FLAG, 'z', NULL, &show_diff_opts.nul, NULL,
	  "with names or --numstat: NUL instead of tab and newline" },
	{ OPT_FLAG, 'R', NULL, &reverse, NULL,
	  "exchange the sides: what would change on the way back" },
	SHOW_DIFF_HOW,
	{ OPT_FLAG, 0, "staged", &staged, NULL, "compare what was staged with the index now" },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	bool ours = !strcmp(what, "<path>");

	if (!strcmp(what, "<checkpoint>"))
		return complete_inside(complete);
	if (ours)
		complete_paths(complete, complete->look->dashdash < 0);
	return ours;
}

struct request {
	struct ckpt_record sides[2];
	size_t nr;
	struct pathspec only;
	bool inside; /* a checkpoint was given with a path in it */
};

/* "No difference" would be misleading for a path that the checkpoint does not cover. */
static int check_scope(const struct request *request)
{
	const struct ckpt_record *record = &request->sides[0];
	const struct strlist *paths = &request->only.plain;

	for (size_t i = 0; i < request->nr; i++)
		if (request->sides[i].state_only)
			return ckpt_error_set(CKPT_ERROR, "checkpoint '%s' holds only state, no files",
					      request->sides[i].id);
	for (size_t i = 0; record->scope.nr && i < paths->nr; i++)
		if (!plan_concerns(&record->scope, paths->items[i]))
			return ckpt_error_set(CKPT_ERROR,
					      "'%s' is not in the scope of checkpoint '%s'",
					      paths->items[i], record->id);
	return 0;
}

static int parse_side(struct request *request, struct session *session, const char *typed)
{
	struct ckpt_record *side = &request->sides[request->nr];
	struct strbuf path = STRBUF_INIT;
	int err;

	if (!show_inside_is(typed))
		return session_lookup(side, session->store, typed);
	err = show_inside_find(side, &path, session, typed);
	if (!err) {
		request->inside = true;
		if (path.len)
			strlist_add(&request->only.plain, path.buf);
		strlist_sort_unique(&request->only.plain);
	}
	strbuf_release(&path);
	return err;
}

/* `sure`: they come after "--". */
static int parse_paths(struct request *request, struct session *session, const struct strlist *args,
		       size_t first, bool sure)
{
	struct show_paths_where where = { request->sides, request->nr };
	const struct strlist *plain = &request->only.plain;
	int err = show_paths_parse(&request->only, session, args, first, &where);

	for (size_t i = first; i < args->nr && !err && !sure; i++)
		if (!show_paths_may_be(session, args->items[i]))
			err = ckpt_error_set(
				CKPT_ERROR,
				"'%s' is neither a checkpoint nor a path; use '--' before a "
				"path that no longer exists",
				args->items[i]);
	if (!err && request->inside && plain->nr + request->only.nr > 1)
		err = ckpt_error_set(CKPT_ERROR,
				     "'%s' and '%s' are different paths; diff compares a path "
				     "with itself",
				     plain->items[0],
				     plain->nr > 1 ? plain->items[1]
						   : request->only.items[0].typed);
	return err;
}

/* Up to two checkpoints, then paths; as in git, "--" tells them apart where it matters. */
static int parse_args(struct request *request, struct session *session, const struct strlist *args,
		 int dashdash)
{
	size_t before = dashdash < 0 ? args->nr : (size_t)dashdash, i = 0;
	int err = 0;

	for (; i < before && request->nr < 2; i++) {
		err = parse_side(request, session, args->items[i]);
		if (err) {
			if (dashdash < 0 && show_paths_may_be(session, args->items[i]))
				err = 0;
			break;
		}
		request->nr++;
	}
	if (!err && i < before && dashdash >= 0)
		err = ckpt_error_set(CKPT_EUSAGE,
				     "diff takes at most two checkpoints, but got '%s' too",
				     args->items[i]);
	if (!err && !request->nr) {
		err = lookup_default(&request->sides[0], session->store);
		request->nr = !err;
	}
	if (!err)
		err = parse_paths(request, session, args, i, dashdash >= 0);
	return err ? err : check_scope(request);
}

static int print_diff(struct diff *diff, const struct request *request, const struct session *session)
{
	int err = show_diff_prepare(diff), status;
	bool differ = false;

	if (!err && (quiet || exit_code))
		err = show_diff_differ(&differ, diff);
	if (err)
		return err;
	status = differ ? EXIT_NO : EXIT_DONE;
	if (opt_common.json) {
		struct row answer = ROW_INIT;

		row_text(&answer, reverse ? "to" : "from", request->sides[0].id);
		row_text(&answer, reverse ? "from" : "to",
			 request->nr > 1 ? request->sides[1].id : NULL);
		row_json(&answer, "changes", show_diff_json(diff));
		if (staged)
			row_json(&answer, "unmerged", json_paths(staged_unmerged(diff)));
		return report_json(row_object(&answer), status);
	}
	if (quiet || opt_common.quiet)
		return status;
	if (!show_diff_opts.nul)
		pager_start(session->gitconfig);
	if (staged)
		show_git_unmerged(diff);
	err = show_diff_print(diff);
	return err ? err : status;
}

static int check(const struct strlist *args UNUSED)
{
	return show_diff_check(NULL, false);
}

static int show_diff(struct session *session, const struct strlist *args)
{
	struct request request = { .sides = { CKPT_RECORD_INIT, CKPT_RECORD_INIT },
				   .only = PATHSPEC_INIT };
	struct diff diff;
	int err = parse_args(&request, session, args, opt_common.dashdash);

	if (!err && staged)
		err = staged_between(&diff, session, &request.sides[0],
				     request.nr == 2 ? &request.sides[1] : NULL, &request.only);
	else if (!err && request.nr == 2)
		err = diff_checkpoints(&diff, session, &request.sides[0], &request.sides[1],
				       &request.only);
	else if (!err)
		err = diff_worktree(&diff, session, &request.sides[0], &request.only,
				    progress_show);
	progress_clear();
	if (!err && reverse)
		diff_turn(&diff);
	if (!err) {
		err = print_diff(&diff, &request, session);
		diff_release(&diff);
	}
	record_release(&request.sides[0]);
	record_release(&request.sides[1]);
	pathspec_release(&request.only);
	return err;
}

const struct opt_spec cmd_diff_spec = {
	.command = "diff",
	.summary = "compare a checkpoint with the worktree or with another",
	.args = OPT_ARGS(CMD_CHECKPOINTS(0, 2), CMD_PATHS),
	.options = options,
	.offer = offer,
	.check = check,
	.session = SESSION_STORE,
	.run = show_diff,
};
