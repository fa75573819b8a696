/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static const char *source, *since, *until, *grep;
static const char *of_session; /* "": as the argument says, or the last */
static int64_t count = -1, step = -1;
static bool remote;

static const struct opt options[] = {
	{ OPT_NUMBER, 'n', "max-count", &count, "<n>", "only the newest <n>" },
	{ OPT_STRING, 0, "source", &source, "<s>", "only checkpoints taken by <s>" },
	{ OPT_STRING, 0, "since", &since, "<dur|time>", "only checkpoints taken since then" },
	{ OPT_STRING, 0, "until", &until, "<dur|time>", "only checkpoints taken until then" },
	{ OPT_NUMBER, 0, "step", &step, "<n>", "only checkpoints of step <n>" },
	{ OPT_STRING, 0, "grep", &grep, "<text>",
	  "only checkpoints whose reason or title "
	  "contains <text>" },
	{ OPT_FLAG, 0, "remote", &remote, NULL, "those that were fetched from other machines" },
	{ OPT_FLAG, 'p', "patch", &show_diff_opts.patch, NULL,
	  "also show what changed in each, as a patch" },
	{ OPT_FLAG, 0, "stat", &show_diff_opts.stat, NULL,
	  "also show how much changed in each, file by file", OPT_OR },
	{ OPT_OPTIONAL, 0, "session", &of_session, "<session>",
	  "what a coding agent did in a session, turn by turn", OPT_FORM,
	  OPT_ARGS({ { "<session>" }, 0, 1 }) },
	{ OPT_END },
};

/* The sources of checkpoints, and paths. */
static bool offer(struct complete *complete, const char *what)
{
	const struct session *session;
	struct ckpt_records records;
	struct strlist sources = STRLIST_INIT;

	if (!strcmp(what, "--session") || !strcmp(what, "<session>")) {
		show_turns_offer(complete);
		return true;
	}
	if (!strcmp(what, "<path>")) {
		complete_paths(complete, complete->look->dashdash < 0);
		return true;
	}
	if (strcmp(what, "--source") != 0)
		return false;
	session = complete_session(complete);
	if (!session || !session->store || lookup_records(&records, session->store))
		return true;
	for (size_t i = 0; i < records.nr; i++)
		strlist_add(&sources, records.items[i].source);
	strlist_sort_unique(&sources);
	for (size_t i = 0; i < sources.nr; i++)
		complete_add(complete, sources.items[i], NULL);
	strlist_release(&sources);
	lookup_records_release(&records);
	return true;
}

/* Both ends are part of it. */
struct span {
	int64_t from, to;
};

static int parse_end(int64_t *out, const char *option, const char *text)
{
	int err = text ? gitdate_parse(out, text) : 0;

	return err == CKPT_EUSAGE ? ckpt_error_prefix(err, "option '%s'", option) : err;
}

static int parse_span(struct span *out)
{
	int err;

	*out = (struct span){ 0, INT64_MAX };
	err = parse_end(&out->from, "--since", since);
	return err ? err : parse_end(&out->to, "--until", until);
}

static bool has_text(const struct ckpt_record *record, const char *text)
{
	char *title = title_of(record);
	bool found = strstr(record->reason, text) || strstr(title, text);

	free(title);
	return found;
}

static bool is_wanted(const struct ckpt_record *record, void *payload)
{
	const struct span *span = payload;

	return (!source || !strcmp(record->source, source)) && record->created_at >= span->from &&
	       record->created_at <= span->to && (step < 0 || record->step == step) &&
	       (!grep || has_text(record, grep));
}

/* What changed in one; `json` NULL: printed. */
static int add_changes(json_t *json, struct session *session, struct list *found, size_t at)
{
	json_t *changed = NULL;
	int err = 0;

	if (found->past_only && json)
		json_object_set_new(json, "changes", list_changes_json(&found->rows[at]));
	else if (found->past_only)
		err = show_diff_print(&found->rows[at].diff);
	else
		err = show_diff_of(json ? &changed : NULL, session, found->rows[at].record, NULL);
	if (changed)
		json_object_set_new(json, "changed_files", changed);
	return err;
}

static int print_json(struct session *session, struct list *found)
{
	bool changes = show_diff_opts.stat || show_diff_opts.patch || found->past_only;
	json_t *array = json_array();
	int err = 0;

	for (size_t i = 0; i < found->nr && !err; i++) {
		json_t *listed = report_listed(found->rows[i].record);

		if (remote)
			json_object_set_new(listed, "machine",
					    json_text(found->rows[i].record->machine));
		if (changes)
			err = add_changes(listed, session, found, i);
		json_array_append_new(array, listed);
	}
	if (err) {
		json_decref(array);
		return err;
	}
	return report_json(json_pack("{s:o}", "checkpoints", array), EXIT_DONE);
}

static int print_text(struct session *session, struct list *found)
{
	struct table *table = list_table(found->rows, found->nr, clock_now());
	bool changes = show_diff_opts.stat || show_diff_opts.patch;
	int err = 0;

	if (!changes)
		table_print(table);
	for (size_t i = 0; changes && i < found->nr && !err && !ferror(stdout); i++) {
		table_print_row(table, i);
		err = add_changes(NULL, session, found, i);
	}
	table_free(table);
	return err;
}

static struct span span;

static int check(const struct strlist *args UNUSED)
{
	return parse_span(&span);
}

static int parse_paths(struct pathspec *out, struct session *session, const struct strlist *args)
{
	for (size_t i = 0; i < args->nr && opt_common.dashdash < 0; i++)
		if (!show_paths_may_be(session, args->items[i]))
			return ckpt_error_set(CKPT_EUSAGE,
					      "'%s' is not a path; use '--' before a path that no "
					      "longer exists",
					      args->items[i]);
	return show_paths_parse_ever(out, session, args, 0);
}

static int choose_past(struct list *found, struct session *session, const struct strlist *args,
		       const struct ckpt_enough *enough)
{
	struct pathspec only = PATHSPEC_INIT;
	int err = parse_paths(&only, session, args);

	if (!err)
		err = list_choose_past(found, session, &only, enough, true);
	pathspec_release(&only);
	return err;
}

/* There is nothing to list: say why that may be. */
static void say_none(const struct session *session, const struct list *found,
		     const struct strlist *args)
{
	if (opt_common.json || opt_common.quiet || found->nr)
		return;
	if (found->past_only)
		term_say(stderr, "no checkpoint found in which '%s' changed\n", args->items[0]);
	else if (!found->records.nr && !found->records.unread)
		term_say(stderr,
			 remote ? "nothing was fetched for '%s' yet; 'git checkpoint fetch' brings "
				  "in what other "
				  "machines pushed\n"
				: "no checkpoints of '%s' yet; 'git checkpoint save' takes one\n",
			 session->worktree);
}

static int list(struct session *session, const struct strlist *args)
{
	struct ckpt_enough enough = { .max = count < 0 ? SIZE_MAX : (size_t)count,
				      .counts = is_wanted,
				      .payload = &span };
	struct list found = { 0 };
	int err;

	if (of_session)
		return show_turns(session, *of_session ? of_session
					   : args->nr  ? args->items[0]
						       : "last");
	err = args->nr ? choose_past(&found, session, args, &enough)
	      : remote ? fetch_list(&found.records, session)
		       : look_list(&found.records, session, count < 0 ? NULL : &enough);
	if (err)
		goto out;
	if (!args->nr)
		list_choose(&found, &enough, remote);
	if (!opt_common.json && !opt_common.quiet)
		pager_start(session->gitconfig);
	report_warnings(&found.records.damaged);
	say_none(session, &found, args);
	if (opt_common.json)
		err = print_json(session, &found);
	else if (!opt_common.quiet)
		err = print_text(session, &found);
	pager_end();
	if (found.records.nr || found.records.unread)
		advice_say(session, ADVICE_LISTED);
out:
	list_release(&found);
	return err;
}

const struct opt_spec cmd_list_spec = {
	.command = "list",
	.summary = "list checkpoints, newest first",
	.args = OPT_ARGS(CMD_PATHS),
	.options = options,
	.offer = offer,
	.check = check,
	.run = list,
};
