/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/complete.h"
#include "cmd/hint_internal.h"
#include "cmd/report.h"
#include "git/git.h"
#include "inspect/inspect.h"
#include "session/session.h"
#include "ui/ui.h"

static const char *source, *since, *until, *grep;
static int64_t count = -1, step = -1;
static bool stat_;

static const struct opt options[] = {
	{ OPT_NUMBER, 'n', "max-count", &count, "<n>", "only the newest <n>" },
	{ OPT_STRING, 0, "source", &source, "<s>", "only checkpoints taken by <s>" },
	{ OPT_STRING, 0, "since", &since, "<dur|time>", "only checkpoints taken since then" },
	{ OPT_STRING, 0, "until", &until, "<dur|time>", "only checkpoints taken until then" },
	{ OPT_NUMBER, 0, "step", &step, "<n>", "only checkpoints of step <n>" },
	{ OPT_STRING, 0, "grep", &grep, "<text>",
	  "only checkpoints whose reason contains "
	  "<text>" },
	{ OPT_FLAG, 0, "stat", &stat_, NULL, "also show what changed in each" },
	{ OPT_END },
};

/* The sources of checkpoints. */
static bool offer(struct complete *complete, const char *what)
{
	const struct session *session;
	struct ckpt_records records;
	struct strlist sources = STRLIST_INIT;

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

const struct opt_spec cmd_list_spec = {
	.command = "list",
	.summary = "list checkpoints, newest first",
	.options = options,
	.offer = offer,
};

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

static bool wanted(const struct ckpt_record *record, void *payload)
{
	const struct span *span = payload;

	return (!source || !strcmp(record->source, source)) && record->created_at >= span->from &&
	       record->created_at <= span->to && (step < 0 || record->step == step) &&
	       (!grep || strstr(record->reason, grep));
}

static void add_row(struct table *table, const struct ckpt_record *record, int64_t now)
{
	char age[CLOCK_ISO_SIZE], size[UNITS_SIZE];
	char *line = report_marked_reason(record, now);
	struct row row = ROW_INIT;

	report_row(&row, record);
	row_show(&row, "created_at", "%s", clock_format_age_short(age, record->created_at, now));
	row_show(&row, "files_changed", "%llu changed", (unsigned long long)record->changed);
	row_show(&row, "files", "%llu %s, %s", (unsigned long long)record->files,
		 record->files == 1 ? "file" : "files", units_format_size(size, record->bytes));
	row_show(&row, "reason", "%s", line);
	table_add_row(table, &row);
	row_release(&row);
	free(line);
}

/* Those that match, newest first, in `out`, which has room for all; returns how many. */
static size_t choose(const struct ckpt_record **out, const struct ckpt_records *records,
		     struct span *span)
{
	size_t nr = 0;

	for (size_t i = records->nr; i-- && (count < 0 || nr < (size_t)count);)
		if (wanted(&records->items[i], span))
			out[nr++] = &records->items[i];
	return nr;
}

static int print_json(struct session *session, const struct ckpt_record *const *chosen, size_t nr)
{
	json_t *array = json_array();
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		json_t *listed = report_listed(chosen[i]), *changed = NULL;

		if (stat_)
			err = changes_json_of(&changed, session, chosen[i]);
		if (changed)
			json_object_set_new(listed, "changed_files", changed);
		json_array_append_new(array, listed);
	}
	if (err) {
		json_decref(array);
		return report_failure(err);
	}
	return report_json(json_pack("{s:o}", "checkpoints", array), EXIT_DONE);
}

static int print_text(struct session *session, const struct ckpt_record *const *chosen, size_t nr)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP, "id" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP, "created_at" },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_LAST, "files_changed" },
		{ NULL, TABLE_RIGHT, 0, TERM_DIM, TABLE_SPARE, "files" },
		{ NULL, TABLE_LEFT, 10, TERM_CYAN, TABLE_LAST, "source" },
		{ NULL, TABLE_LEFT, 40, TERM_RESET, TABLE_KEEP, "reason" },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	int64_t now = clock_now();
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		add_row(table, chosen[i], now);
	if (!stat_)
		table_print(table);
	for (size_t i = 0; stat_ && i < nr && !err; i++) {
		table_print_row(table, i);
		err = changes_print_stat_of(session, chosen[i]);
	}
	table_free(table);
	return err ? report_failure(err) : report_done(EXIT_DONE);
}

static int print(struct session *session, const struct ckpt_records *records, struct span *span)
{
	const struct ckpt_record **chosen = xcalloc(records->nr + 1, sizeof(const struct ckpt_record *));
	size_t nr = choose(chosen, records, span);
	int status = EXIT_DONE;

	if (opt_common.json)
		status = print_json(session, chosen, nr);
	else if (!opt_common.quiet)
		status = print_text(session, chosen, nr);
	free(chosen);
	return status;
}

int cmd_list(int argc, char **argv)
{
	struct ckpt_records records = { 0 };
	struct session session;
	struct span span;
	struct ckpt_enough enough = { .counts = wanted, .payload = &span };
	int err = opt_parse(&cmd_list_spec, argc, argv, NULL, NULL), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = parse_span(&span);
	if (!err)
		err = cmd_session_open(&session, 0);
	if (err)
		return report_failure(err);
	enough.max = count < 0 ? 0 : (size_t)count;
	err = inspect_list(&records, &session, count < 0 ? NULL : &enough);
	if (err) {
		status = report_failure(err);
	} else {
		if (!opt_common.json && !opt_common.quiet)
			pager_start(session.gitconfig);
		report_warnings(&records.damaged);
		if (!records.nr && !records.unread && !opt_common.json && !opt_common.quiet)
			report_plain(stderr, "no checkpoints of '%s' yet; 'git checkpoint save' takes one\n",
				     session.worktree);
		status = print(&session, &records, &span);
		pager_end();
		if (records.nr || records.unread)
			hint_say(&session, HINT_LISTED);
	}
	lookup_records_release(&records);
	session_close(&session);
	return status;
}
