/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

/* revert, and pick, which is the same with the two checkpoints exchanged. */

static bool dry_run, verbose, by_hunks, yes, picking;
static const char *conflicts, *source = JOURNAL_SOURCE;

static const struct opt options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "show the merged patch, do nothing" },
	{ OPT_FLAG, 'v', "verbose", &verbose, NULL, "show every path of the plan" },
	{ OPT_FLAG, 'p', "patch", &by_hunks, NULL, "choose hunk by hunk what is done" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_STRING, 0, "conflicts", &conflicts, "<keep|markers>",
	  "leave files in conflict as they are (default), or mark where" },
	{ OPT_STRING, 0, "source", &source, "<name>", "who asks for it (default cli)" },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	const char *dots = strstr(complete->typed, "..");
	bool ours = !strcmp(what, "<path>");

	/* The second of two. */
	if (!strcmp(what, "<range>")) {
		if (dots) {
			complete->kept += (size_t)(dots + 2 - complete->typed);
			complete->typed = dots + 2;
			complete_checkpoints(complete);
		}
		return true;
	}
	if (!strcmp(what, "--conflicts")) {
		complete_add(complete, "keep", "leave them as they are");
		complete_add(complete, "markers", "write git's conflict markers");
		return true;
	}
	if (ours && (complete->look->args.nr || !complete->look->dashdash))
		complete_paths(complete, false);
	return ours;
}

/* The step that is taken back or picked, as asked for and as found. */
struct request {
	struct ckpt_record from, to;
	struct ckpt_record target; /* to where it leads, as it is to be scanned */
	struct pathspec only;
	char *what;   /* "<id>..<id>" */
	char *called; /* by people */
	struct strbuf command, patch;
	struct choices choices;
};

static void request_release(struct request *request)
{
	record_release(&request->from);
	record_release(&request->to);
	record_release(&request->target);
	pathspec_release(&request->only);
	strbuf_release(&request->command);
	strbuf_release(&request->patch);
	choose_release(&request->choices);
	free(request->what);
	free(request->called);
}

/* --- paths --- */

static bool is_in_worktree(const struct session *session, const char *path)
{
	char *full = xstrfmt("%s/%s", session->worktree, path);
	struct stat st;
	bool found = !lstat(full, &st);

	free(full);
	return found;
}

/* A second checkpoint is not a path. */
static int error_no_path(struct request *request, struct session *session,
			 const struct strlist *args, const char *path)
{
	struct ckpt_record second = CKPT_RECORD_INIT;
	bool named = args->nr == 2 && opt_common.dashdash < 0 &&
		     !session_lookup(&second, session->store, args->items[1]);

	record_release(&second);
	return named ? ckpt_error_set(CKPT_ENOTFOUND,
				      "'%s' is not a path; a range is '<a>..<b>', the older first",
				      path) :
		       ckpt_error_set(CKPT_ENOTFOUND,
				      "'%s' is neither in the worktree nor in checkpoint '%s' or '%s'",
				      path, request->from.id, request->to.id);
}

static int parse_paths(struct request *request, struct session *session, const struct strlist *args)
{
	/* Borrowed. */
	const struct ckpt_record both[2] = { request->from, request->to };
	const struct show_paths_where where = { both, 2 };
	int err = show_paths_parse(&request->only, session, args, 1, &where);

	for (size_t i = 0; i < request->only.plain.nr && !err; i++) {
		const char *path = request->only.plain.items[i];
		bool found = !*path || is_in_worktree(session, path);

		if (!found)
			err = show_paths_find(&found, session, path, &where);
		if (!err && !found)
			err = error_no_path(request, session, args, path);
	}
	return err;
}

/* --- the command --- */

static const char *name_verb(void)
{
	return picking ? "pick" : "revert";
}

static void name_steps(struct request *request, bool range)
{
	char *to = title_name(&request->to), *from = title_name(&request->from);

	request->called = range ? xstrfmt("the steps after %s, up to %s", from, to) : xstrdup(to);
	free(from);
	free(to);
}

/* To be typed again, whatever else is saved until then. */
static void name_command(struct request *request, const struct strlist *args)
{
	request->what = xstrfmt("%s..%s", request->from.id, request->to.id);
	strbuf_addf(&request->command, "git checkpoint %s%s%s", name_verb(), by_hunks ? " -p" : "",
		    conflicts && !strcmp(conflicts, "markers") ? " --conflicts=markers" : "");
	strbuf_addf(&request->command, " %s%s", request->what, args->nr > 1 ? " --" : "");
	for (size_t i = 1; i < args->nr; i++)
		strbuf_addf(&request->command, " %s", report_shell(args->items[i]));
}

static int error_only_path(const char *path)
{
	return ckpt_error_set(CKPT_ENOTFOUND,
			      "no checkpoint named '%s'; to %s the last step in the path of that name: "
			      "git checkpoint %s @ -- %s",
			      path, picking ? "pick" : "take back", name_verb(), report_shell(path));
}

static int carry_out(struct session *session, struct request *request)
{
	char *reason = xstrfmt("%s %s", name_verb(), request->what);
	char *intent = xstrfmt("%s %s", picking ? "picking" : "taking back", request->called);
	struct revert revert = {
		.session = session,
		.from = picking ? &request->to : &request->from,
		.to = picking ? &request->from : &request->to,
		.pick = picking,
		.only = pathspec_is_empty(&request->only) ? NULL : &request->only,
		.markers = conflicts && !strcmp(conflicts, "markers"),
	};
	struct restore_opts opts = {
		.target = &request->target,
		.composed.make = revert_compose,
		.composed.payload = &revert,
		.choices = dry_run || (!yes && !by_hunks) ? &request->choices : NULL,
		.kind = picking ? JOURNAL_PICK : JOURNAL_REVERT,
		.reason = reason,
		.intent = intent,
		.source = source,
		.paths = &strlist_empty,
		.dry_run = dry_run,
	};
	const struct show_restore_how how = { .yes = yes, .by_hunks = by_hunks };
	const struct show_restore_words words = { .will = picking ? "pick" : "take back",
						  .did = picking ? "Picked" : "Took back",
						  .declined = picking ? "Not picked" : "Not taken back",
						  .what = request->called,
						  .step = request->to.id,
						  .command = request->command.buf,
						  .choices = &request->choices,
						  .patch = &request->patch };
	int err;

	show_restore_set_words(&words);
	err = show_restore_carry_out(session, &opts, &how);
	show_restore_set_words(NULL);
	free(reason);
	free(intent);
	return err;
}

static int apply_step(struct session *session, const struct strlist *args)
{
	struct request request = { .only = PATHSPEC_INIT,
				   .target = CKPT_RECORD_INIT,
				   .command = STRBUF_INIT,
				   .patch = STRBUF_INIT };
	int err = revert_range(&request.from, &request.to, session, args->items[0]);

	/* As `git restore <path>` would have it. */
	if (err == CKPT_ENOTFOUND && !access(args->items[0], F_OK))
		err = error_only_path(args->items[0]);
	if (verbose)
		show_restore_show_all();
	if (!err && args->nr > 1)
		err = parse_paths(&request, session, args);
	if (!err)
		err = session_lookup(&request.target, session->store,
				     picking ? request.to.id : request.from.id);
	if (!err) {
		revert_widen(&request.target, picking ? &request.from : &request.to);
		name_steps(&request, strstr(args->items[0], "..") != NULL);
		name_command(&request, args);
		err = carry_out(session, &request);
	}
	request_release(&request);
	return err;
}

static int revert(struct session *session, const struct strlist *args)
{
	return apply_step(session, args);
}

static int pick(struct session *session, const struct strlist *args)
{
	picking = true;
	return apply_step(session, args);
}

static int check(const struct strlist *args UNUSED)
{
	if (conflicts && strcmp(conflicts, "keep") != 0 && strcmp(conflicts, "markers") != 0)
		return ckpt_error_set(CKPT_EUSAGE,
				      "option '--conflicts' takes 'keep' or 'markers', not '%s'",
				      conflicts);
	return 0;
}

const struct opt_spec cmd_revert_spec = {
	.command = "revert",
	.summary = "take back one step, keep what was done since",
	.args = OPT_ARGS({ { "<checkpoint>", "<range>" }, 1, 1, .such_as = "@ for the newest" },
			 CMD_PATHS),
	.options = options,
	.offer = offer,
	.check = check,
	.session = SESSION_STORE,
	.run = revert,
};

const struct opt_spec cmd_pick_spec = {
	.command = "pick",
	.summary = "do again here what one step did elsewhere",
	.args = OPT_ARGS({ { "<checkpoint>", "<range>" }, 1, 1, .such_as = "turn:2" }, CMD_PATHS),
	.options = options,
	.offer = offer,
	.check = check,
	.session = SESSION_STORE,
	.run = pick,
};
