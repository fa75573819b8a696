/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static struct strlist given;
static bool basic, extended, fixed, ignore_case, word, files_only, numbers, all;

static const struct opt options[] = {
	{ OPT_LIST, 'e', NULL, &given, "<pattern>",
	  "look for this; a line matches if one of several does" },
	{ OPT_FLAG, 'G', "basic-regexp", &basic, NULL,
	  "patterns are basic regular expressions (default)" },
	{ OPT_FLAG, 'E', "extended-regexp", &extended, NULL,
	  "patterns are extended regular expressions", OPT_OR },
	{ OPT_FLAG, 'F', "fixed-strings", &fixed, NULL, "patterns are plain texts", OPT_OR },
	{ OPT_FLAG, 'i', "ignore-case", &ignore_case, NULL, "ignore case" },
	{ OPT_FLAG, 'w', "word-regexp", &word, NULL, "match only whole words" },
	{ OPT_FLAG, 'l', "files-with-matches", &files_only, NULL, "show only names of files" },
	{ OPT_FLAG, 'n', "line-number", &numbers, NULL, "show the numbers of lines" },
	{ OPT_FLAG, 0, "all", &all, NULL, "search all checkpoints (default)" },
	{ OPT_END },
};

static const struct opt_instead instead[] = {
	{ "-P", "-E has the regular expressions of the C library" },
	{ "--perl-regexp", "-E has the regular expressions of the C library" },
	{ NULL },
};

static bool offer(struct complete *complete, const char *what)
{
	if (!strcmp(what, "<path>")) {
		complete_files(complete, false);
		return true;
	}
	return !strcmp(what, "<pattern>");
}

struct request {
	struct strlist texts;
	struct ckpt_records records; /* in the order of saving */
	struct pathspec only;
};

/* --- what to search --- */

static int by_id(const void *a, const void *b)
{
	const struct ckpt_record *one = a, *other = b;

	return strcmp(one->id, other->id);
}

static int add_record(struct ckpt_records *records, size_t *alloc, struct session *session,
		      const char *name)
{
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = session_lookup(&record, session->store, name);

	if (err)
		return err;
	for (size_t i = 0; i < records->nr; i++)
		if (!strcmp(records->items[i].id, record.id)) {
			record_release(&record);
			return 0;
		}
	*ALLOC_NEXT(records->items, records->nr, *alloc) = record;
	return 0;
}

/*
 * Checkpoints from `*at` on, which is left at the first path: as in git, "--" tells them apart
 * where it matters.
 */
static int parse_checkpoints(struct request *request, struct session *session,
			     const struct strlist *args, size_t *at)
{
	bool sure = opt_common.dashdash >= 0;
	size_t end = sure ? (size_t)opt_common.dashdash : args->nr, alloc = 0;
	int err = 0;

	for (; *at < end && !err; ++*at) {
		err = add_record(&request->records, &alloc, session, args->items[*at]);
		if (err && !sure && show_paths_may_be(session, args->items[*at])) {
			err = 0;
			break;
		}
		/* No checkpoint is named so: a file that was there once. */
		if (err == CKPT_ENOTFOUND && !sure && strpbrk(args->items[*at], "./"))
			err = ckpt_error_set(err,
					     "no checkpoint named '%s'; use '--' before a path "
					     "that no longer exists",
					     args->items[*at]);
	}
	for (size_t i = *at; i < args->nr && !err && !sure; i++)
		if (!show_paths_may_be(session, args->items[i]))
			err = ckpt_error_set(CKPT_ERROR,
					     "'%s' is not a path; use '--' before a path that no "
					     "longer exists",
					     args->items[i]);
	if (!err && all && request->records.nr)
		err = ckpt_error_set(CKPT_EUSAGE, "'--all' cannot be combined with checkpoints");
	if (request->records.nr)
		qsort(request->records.items, request->records.nr, sizeof(struct ckpt_record),
		      by_id);
	return err;
}

static int parse_args(struct request *request, struct session *session, const struct strlist *args)
{
	size_t at = given.nr ? 0 : 1;
	int err;

	strlist_extend(&request->texts, &given);
	if (!given.nr)
		strlist_add(&request->texts, args->items[0]);
	err = parse_checkpoints(request, session, args, &at);
	if (!err)
		err = show_paths_parse_ever(&request->only, session, args, at);
	if (!err && !request->records.nr)
		err = look_list(&request->records, session, NULL);
	return err;
}

static void request_release(struct request *request)
{
	strlist_release(&request->texts);
	lookup_records_release(&request->records);
	pathspec_release(&request->only);
}

/* --- what was found --- */

/* "chk_...:src/a.c  in 5 checkpoints since chk_..., gone since chk_..." */
static void print_head(const struct grep_hit *hit, const struct ckpt_records *records)
{
	const char *reset = term_color(TERM_RESET);

	term_say(stdout, "%s:%s%s%s  ", report_id(records->items[hit->newest].id),
		 term_color(TERM_BOLD), report_path(hit->path), reset);
	if (hit->count == 1)
		term_say(stdout, "in no other checkpoint");
	else
		term_say(stdout, "in %zu checkpoints since %s", hit->count,
			 records->items[hit->oldest].id);
	if (hit->gone != SIZE_MAX)
		term_say(stdout, ", %sgone since %s%s", term_color(TERM_RED),
			 records->items[hit->gone].id, reset);
	term_say(stdout, "\n");
}

/* What matches is red. */
static void print_line(const struct grep_line *line, struct patterns *patterns)
{
	size_t from = 0, to = 0, done = 0;

	term_say(stdout, "    ");
	if (numbers)
		term_say(stdout, "%s%zu%s:", term_color(TERM_GREEN), line->number,
			 term_color(TERM_RESET));
	while (*term_color(TERM_RED) && from < line->len &&
	       patterns_in_line(&from, &to, patterns, line->text, line->len)) {
		fwrite(line->text + done, 1, from - done, stdout);
		term_say(stdout, "%s", term_color(TERM_RED));
		fwrite(line->text + from, 1, to - from, stdout);
		term_say(stdout, "%s", term_color(TERM_RESET));
		done = to;
		from = to > from ? to : to + 1;
	}
	fwrite(line->text + done, 1, line->len - done, stdout);
	term_say(stdout, "\n");
}

static void print_text(const struct grep_result *result, const struct ckpt_records *records,
		       struct patterns *patterns)
{
	for (size_t i = 0; i < result->nr && !ferror(stdout); i++) {
		const struct grep_hit *hit = &result->items[i];

		print_head(hit, records);
		if (hit->binary && !files_only)
			term_say(stdout, "    Binary file %s matches\n", report_path(hit->path));
		for (size_t j = 0; j < hit->nr; j++)
			print_line(&hit->lines[j], patterns);
	}
}

static json_t *lines_json(const struct grep_hit *hit)
{
	json_t *array = json_array();

	for (size_t i = 0; i < hit->nr; i++) {
		char *text = xmemdupz(hit->lines[i].text, hit->lines[i].len);

		/* Not UTF-8 either. */
		for (size_t j = 0; j < hit->lines[i].len; j++)
			text[j] = text[j] ? text[j] : '\xff';
		json_array_append_new(array, json_pack("{s:I,s:o}", "line",
						       (json_int_t)hit->lines[i].number, "text",
						       json_text(text)));
		free(text);
	}
	return array;
}

static int print_json(const struct grep_result *result, const struct ckpt_records *records,
		      int status)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->nr; i++) {
		const struct grep_hit *hit = &result->items[i];
		struct row row = ROW_INIT;

		row_path(&row, "file", hit->path);
		row_text(&row, "checkpoint", records->items[hit->newest].id);
		row_text(&row, "oldest", records->items[hit->oldest].id);
		row_number(&row, "checkpoints", hit->count);
		row_text(&row, "gone_since",
			 hit->gone == SIZE_MAX ? NULL : records->items[hit->gone].id);
		row_bool(&row, "binary", hit->binary);
		row_json(&row, "lines", lines_json(hit));
		json_array_append_new(array, row_object(&row));
	}
	return report_json(json_pack("{s:o,s:o}", "matches", array, "warnings",
				     json_texts(&result->damaged)),
			   status);
}

static int print_result(const struct grep_result *result, const struct request *request,
		 const struct session *session, struct patterns *patterns)
{
	int status = result->nr ? EXIT_DONE : EXIT_NO;

	report_warnings(&request->records.damaged);
	report_warnings(&result->damaged);
	if (opt_common.json)
		return print_json(result, &request->records, status);
	if (opt_common.quiet || !result->nr)
		return status;
	pager_start(session->gitconfig);
	print_text(result, &request->records, patterns);
	return status;
}

static int check(const struct strlist *args)
{
	if (!given.nr && (!args->nr || !opt_common.dashdash))
		return ckpt_error_set(CKPT_EUSAGE, "'grep' needs a pattern; see 'git checkpoint grep -h'");
	return 0;
}

static int grep(struct session *session, const struct strlist *args)
{
	struct request request = { .only = PATHSPEC_INIT };
	struct grep_opts opts = {
		.texts = &request.texts,
		.how = { .extended = extended,
			 .fixed = fixed,
			 .ignore_case = ignore_case,
			 .word = word },
		.files_only = files_only,
		.progress = progress_show,
	};
	struct patterns *patterns = NULL;
	struct grep_result result = { 0 };
	int err = parse_args(&request, session, args);

	if (!err)
		err = patterns_new(&patterns, &request.texts, &opts.how);
	if (!err && !pathspec_is_empty(&request.only))
		opts.only = &request.only;
	if (!err)
		err = grep_records(&result, session, &request.records, &opts);
	progress_clear();
	if (!err) {
		err = print_result(&result, &request, session, patterns);
		grep_release(&result);
	}
	patterns_free(patterns);
	request_release(&request);
	return err;
}

const struct opt_spec cmd_grep_spec = {
	.command = "grep",
	.summary = "search the contents of checkpoints",
	.args = OPT_ARGS({ { "<pattern>" }, 0, 1 }, CMD_CHECKPOINTS(0, OPT_MANY), CMD_PATHS),
	.options = options,
	.instead = instead,
	.offer = offer,
	.check = check,
	.session = SESSION_STORE,
	.run = grep,
};
