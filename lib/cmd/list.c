/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/changes_internal.h"
#include "cmd/complete.h"
#include "cmd/hint_internal.h"
#include "cmd/listed_internal.h"
#include "cmd/report.h"
#include "git/git.h"
#include "inspect/inspect.h"
#include "remote/remote.h"
#include "session/session.h"
#include "ui/ui.h"

static const char *source, *since, *until, *grep;
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
	{ OPT_FLAG, 0, "stat", &changes_opts.stat, NULL, "also show what changed in each" },
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

static bool says(const struct ckpt_record *record, const char *text)
{
	char *title = title_of(record);
	bool found = strstr(record->reason, text) || strstr(title, text);

	free(title);
	return found;
}

static bool wanted(const struct ckpt_record *record, void *payload)
{
	const struct span *span = payload;

	return (!source || !strcmp(record->source, source)) && record->created_at >= span->from &&
	       record->created_at <= span->to && (step < 0 || record->step == step) &&
	       (!grep || says(record, grep));
}

/* Of another machine: by what it can be named. */
static char *remote_position(const struct ckpt_records *records, size_t i)
{
	const char *machine = records->items[i].machine;
	bool newest = i + 1 == records->nr || strcmp(machine, records->items[i + 1].machine) != 0;

	return xstrfmt("%s%s", machine, newest ? "/@" : "");
}

/* Those that match, newest first, in `out`, which has room for all; returns how many. */
static size_t choose(struct listed *out, const struct ckpt_records *records, struct span *span)
{
	size_t nr = 0, back = 0;

	for (size_t i = records->nr; i-- && (count < 0 || nr < (size_t)count);) {
		const struct ckpt_record *record = &records->items[i];
		char *position = remote ? remote_position(records, i)
					: report_position(&back, record);

		if (wanted(record, span))
			out[nr++] = (struct listed){ record, position };
		else
			free(position);
	}
	return nr;
}

static int print_json(struct session *session, const struct listed *chosen, size_t nr)
{
	json_t *array = json_array();
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		json_t *listed = report_listed(chosen[i].record), *changed = NULL;

		if (remote)
			json_object_set_new(listed, "machine", json_text(chosen[i].record->machine));
		if (changes_opts.stat)
			err = changes_of(&changed, session, chosen[i].record, NULL);
		if (changed)
			json_object_set_new(listed, "changed_files", changed);
		json_array_append_new(array, listed);
	}
	if (err) {
		json_decref(array);
		return err;
	}
	return report_json(json_pack("{s:o}", "checkpoints", array), EXIT_DONE);
}

static int print_text(struct session *session, const struct listed *chosen, size_t nr)
{
	struct table *table = listed_table(chosen, nr, clock_now());
	int err = 0;

	if (!changes_opts.stat)
		table_print(table);
	for (size_t i = 0; changes_opts.stat && i < nr && !err; i++) {
		table_print_row(table, i);
		err = changes_of(NULL, session, chosen[i].record, NULL);
	}
	table_free(table);
	return err;
}

static int print(struct session *session, const struct ckpt_records *records, struct span *span)
{
	struct listed *chosen = xcalloc(records->nr + 1, sizeof(*chosen));
	size_t nr = choose(chosen, records, span);
	int status = EXIT_DONE;

	if (opt_common.json)
		status = print_json(session, chosen, nr);
	else if (!opt_common.quiet)
		status = print_text(session, chosen, nr);
	for (size_t i = 0; i < nr; i++)
		free(chosen[i].position);
	free(chosen);
	return status;
}

static struct span span;

static int check(const struct strlist *args)
{
	(void)args;
	return parse_span(&span);
}

static int list(struct session *session, const struct strlist *args)
{
	struct ckpt_enough enough = { .max = count < 0 ? 0 : (size_t)count,
				      .counts = wanted,
				      .payload = &span };
	struct ckpt_records records = { 0 };
	int err = remote ? fetch_list(&records, session)
			 : inspect_list(&records, session, count < 0 ? NULL : &enough);

	(void)args;
	if (err)
		return err;
	if (!opt_common.json && !opt_common.quiet)
		pager_start(session->gitconfig);
	report_warnings(&records.damaged);
	if (!records.nr && !records.unread && !opt_common.json && !opt_common.quiet)
		report_plain(stderr,
			     remote ? "nothing was fetched for '%s' yet; 'git checkpoint fetch' does\n"
				    : "no checkpoints of '%s' yet; 'git checkpoint save' takes one\n",
			     session->worktree);
	err = print(session, &records, &span);
	pager_end();
	if (records.nr || records.unread)
		hint_say(session, HINT_LISTED);
	lookup_records_release(&records);
	return err;
}

const struct opt_spec cmd_list_spec = {
	.command = "list",
	.summary = "list checkpoints, newest first",
	.options = options,
	.offer = offer,
	.check = check,
	.run = list,
};
