/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "hooks/hooks.h"

enum { RECENT = 5 }; /* shown of the checkpoints */

/* The status of the checkpoints, and of the hooks that take them. */
struct overview {
	struct status status;
	struct hooks_report hooks;
	struct show_agents_view agents;
	json_t *watch; /* what the watcher says, or NULL */
	struct strlist warnings;
};

static int read_overview(struct overview *overview, struct session *session)
{
	const struct status *status = &overview->status;
	int err = status_read(&overview->status, session, RECENT, progress_show);

	progress_clear();
	if (err)
		return err;
	strlist_extend(&overview->warnings, &status->recent.damaged);
	if (session->repo) {
		(void)hooks_status(&overview->hooks, session->repo);
		hooks_check(&overview->warnings, &overview->hooks);
	}
	show_agents_look(&overview->agents, session);
	overview->watch = show_watcher_json(session->home, session->worktree);
	strlist_extend(&overview->warnings, &status->warnings);
	return 0;
}

static void print_verdict(const struct status *status, const struct session *session)
{
	size_t changes = status_changes_nr(&status->changes);
	bool safe = status->safety == STATUS_SAFE;

	report_text("Safe:        %s%s%s, ", term_color(safe ? TERM_GREEN : TERM_RED),
		    safe ? "yes" : "no", term_color(TERM_RESET));
	switch (status->safety) {
	case STATUS_SAFE:
		if (status->restored)
			report_text("everything is as in %s, which was restored\n",
				    status->base->id);
		else
			report_text("nothing changed since the newest checkpoint\n");
		break;
	case STATUS_NOTHING:
		/* Those whose checkpoints are elsewhere were already told what to do first. */
		report_text("no files are saved%s\n",
			    session->elsewhere ? " for this folder"
					       : "; 'git checkpoint save' saves them");
		break;
	case STATUS_SCOPE:
		report_text("only some paths are saved; 'git checkpoint save' saves all\n");
		break;
	case STATUS_CHANGED:
		report_text("%zu %s not saved; 'git checkpoint save' saves %s\n", changes,
			    changes == 1 ? "change is" : "changes are", changes == 1 ? "it" : "them");
		break;
	case STATUS_MISSING:
		report_text("%llu %s not be captured; 'git checkpoint show %s' says why\n",
			    (unsigned long long)status->base->missing,
			    status->base->missing == 1 ? "path could" : "paths could",
			    status->base->id);
		break;
	}
}

/* What was being restored, and the state before; null if nothing was interrupted. */
static json_t *interrupted_json(const struct session *session)
{
	struct ckpt_record target = CKPT_RECORD_INIT;
	struct journal journal;
	struct row object = ROW_INIT;

	if (!session->store || !journal_is_left(session->store) ||
	    journal_read(&journal, session->store))
		return json_null();
	/* Nobody can look up a state that is not a checkpoint: name the one that it leads to. */
	row_text(&object, "target",
		 lookup_target(&target, session->store, journal.target) ? journal.target
								      : lookup_target_name(&target));
	record_release(&target);
	row_text(&object, "safety_checkpoint", journal.safety);
	journal_release(&journal);
	return row_object(&object);
}

/* null if there are none. */
static json_t *hooks_json(const struct hooks_report *report)
{
	const struct hooks_report *hooks = hooks_in_force(report);
	json_t *object;

	if (!hooks->installed)
		return json_null();
	object = json_pack("{s:o,s:b,s:b}", "events", json_texts(&hooks->events), "guard",
			   hooks->guard, "ok", hooks_all_run(hooks));
	if (hooks != report)
		json_object_set_new(object, "global", json_true());
	return object;
}

static int print_json(const struct overview *overview, const struct session *session)
{
	struct row answer = ROW_INIT, disk = ROW_INIT;
	const struct status *status = &overview->status;
	uint64_t budget = session->settings.max_size;

	row_path(&answer, "worktree", session->worktree);
	row_path(&answer, "store", session->store ? session->store->path : NULL);
	row_bool(&answer, "safe", status->safety == STATUS_SAFE);
	row_json(&answer, "newest",
		 status->newest ? report_listed(status->newest) : json_null());
	row_text(&answer, "compared_with", status->base ? status->base->id : NULL);
	row_json(&answer, "changes",
		 json_pack("{s:I,s:I,s:I}", "added", (json_int_t)status->changes.added, "modified",
			   (json_int_t)status->changes.modified, "deleted",
			   (json_int_t)status->changes.deleted));
	row_number(&answer, "checkpoints", status->all.nr);
	row_number(&disk, "bytes", status->bytes);
	row_json(&disk, "budget", budget ? json_integer((json_int_t)budget) : json_null());
	row_json(&answer, "disk", row_object(&disk));
	row_json(&answer, "interrupted_restore", interrupted_json(session));
	row_json(&answer, "hooks", hooks_json(&overview->hooks));
	row_json(&answer, "agents", show_agents_json(&overview->agents));
	row_json(&answer, "watch", overview->watch ? json_incref(overview->watch) : json_null());
	row_texts(&answer, "warnings", &overview->warnings);
	return report_json(row_object(&answer), EXIT_DONE);
}

static void print_newest(const struct status *status)
{
	const struct ckpt_record *newest = status->newest, *base = status->base;
	char age[CLOCK_ISO_SIZE];

	if (!status->newest) {
		report_text("Newest:      %snone%s\n", term_color(TERM_RED), term_color(TERM_RESET));
		return;
	}
	report_text("Newest:      %s, %s\n", report_id(newest->id),
		    clock_format_age(age, newest->created_at, clock_now()));
	if (newest->missing)
		report_text("             %sincomplete, %llu left out%s\n", term_color(TERM_RED),
			    (unsigned long long)newest->missing, term_color(TERM_RESET));
	if (newest->state_only)
		report_text("             only state, no files\n");
	if (newest->scope.nr)
		report_text("             of '%s'%s only\n", newest->scope.items[0],
			    newest->scope.nr > 1 ? " and others" : "");
	if (!status->base)
		return;
	if (strcmp(base->id, newest->id) != 0)
		report_text("%-12s %s, %s\n",
			    status->restored ? "Restored:"
			    : base->scope.nr ? "Files:"
					     : "Whole:",
			    report_id(base->id),
			    clock_format_age(age, base->created_at, clock_now()));
	if (status_changes_nr(&status->changes))
		report_text("Since then:  %zu added, %zu modified, %zu deleted\n",
			    status->changes.added, status->changes.modified,
			    status->changes.deleted);
	else
		report_text("Since then:  %snothing changed%s\n", term_color(TERM_GREEN),
			    term_color(TERM_RESET));
}

static void print_hooks(const struct hooks_report *report, const struct session *session)
{
	const struct hooks_report *hooks = hooks_in_force(report);

	if (!session->repo)
		return;
	report_text("Hooks:       ");
	for (size_t i = 0; i < hooks->events.nr; i++)
		report_text("%s%s", i ? ", " : "before ", hooks->events.items[i]);
	if (!hooks->installed)
		report_text("none; 'git checkpoint hooks install' adds them");
	else if (hooks->guard)
		report_text("%s what the guard sees", hooks->events.nr ? ", and" : "before");
	report_text("%s%s\n", hooks != report ? ", for all repositories" : "",
		    hooks_all_run(hooks) ? "" : ", but not all of them run");
}

/* Downwards into the past, with the names that can be typed. */
static void print_timeline(const struct status *status)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 60, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const struct ckpt_records *recent = &status->recent;
	size_t nr = status->all.nr, shown = recent->nr < RECENT ? recent->nr : RECENT;
	size_t changes = status_changes_nr(&status->changes), back = 0;
	int64_t now = clock_now();

	if (changes) {
		table_add(table, "now");
		table_add(table, "o");
		table_add(table, "");
		table_addf(table, "%zu changed", changes);
		table_add(table, "not saved yet");
	}
	for (size_t i = 0; i < shown; i++) {
		const struct ckpt_record *record = &recent->items[recent->nr - 1 - i];
		char age[CLOCK_ISO_SIZE], *title = report_marked_title(record, now);
		char *position = report_position(&back, record);

		table_add(table, clock_format_age_short(age, record->created_at, now));
		table_add(table, "*");
		table_add(table, position);
		table_addf(table, "%llu changed", (unsigned long long)record->changed);
		table_add(table, title);
		if (record->safety)
			table_dim_row(table);
		free(position);
		free(title);
	}
	if (shown < nr) {
		table_add(table, "");
		table_add(table, ":");
		table_add(table, "");
		table_add(table, "");
		table_addf(table, "%zu more, 'git checkpoint list' shows all", nr - shown);
	}
	report_text("\n");
	table_print(table);
	table_free(table);
}

static size_t count_automatic(const struct status *status)
{
	size_t automatic = 0;

	for (size_t i = 0; i < status->all.nr; i++)
		automatic += status->all.items[i].automatic;
	return automatic;
}

static void print_count(const struct status *status, const struct session *session)
{
	size_t nr = status->all.nr, pinned = 0, automatic = count_automatic(status);

	for (size_t i = 0; i < nr; i++)
		pinned += status->all.items[i].pinned;
	report_text("Checkpoints: %zu", nr);
	if (pinned)
		report_text(", %zu of them pinned", pinned);
	if (automatic)
		report_text(", %zu %sautomatic", automatic, pinned ? "" : "of them ");
	if (nr && session->settings.max_count)
		report_text("; the newest %llu %sare kept",
			    (unsigned long long)session->settings.max_count,
			    automatic ? "of the others " : "");
	report_text("\n");
}

static void print_path(const char *title, const char *path)
{
	report_text("%-13s%s\n", title, report_path(path));
}

/* Nothing, if nobody asked to watch this worktree. */
static void print_watch(const json_t *watch)
{
	const char *problem = json_string_value(json_object_get(watch, "problem"));
	struct strbuf text = STRBUF_INIT;

	if (!watch)
		return;
	show_watcher_sum_up(&text, watch);
	report_text("Watch:       %s\n", text.buf);
	if (problem && !opt_common.quiet)
		term_say(stdout, "             %s\n", problem);
	strbuf_release(&text);
}

static void print_text(const struct overview *overview, const struct session *session)
{
	const struct status *status = &overview->status;
	char used[UNITS_SIZE], budget[UNITS_SIZE];

	report_warnings(&overview->warnings);
	print_verdict(status, session);
	print_path("Worktree:", session->worktree);
	print_newest(status);
	print_count(status, session);
	report_text("Disk use:    %s", units_format_size(used, status->bytes));
	if (session->settings.max_size)
		report_text(" of %s", units_format_size(budget, session->settings.max_size));
	report_text("\n");
	print_hooks(&overview->hooks, session);
	show_agents_sum_up(&overview->agents);
	print_watch(overview->watch);
	if (session->store)
		print_path("Store:", session->store->path);
	if (status->recent.nr && !opt_common.quiet)
		print_timeline(status);
}

static int show_status(struct session *session, const struct strlist *args UNUSED)
{
	struct overview overview = { 0 };
	int err = read_overview(&overview, session), status = EXIT_DONE;

	if (!err && opt_common.json)
		status = print_json(&overview, session);
	else if (!err)
		print_text(&overview, session);
	if (!err && session->settings.max_count &&
	    overview.status.all.nr - count_automatic(&overview.status) >=
		    session->settings.max_count)
		advice_say(session, ADVICE_PIN);
	status_release(&overview.status);
	hooks_report_release(&overview.hooks);
	show_agents_release(&overview.agents);
	json_decref(overview.watch);
	strlist_release(&overview.warnings);
	return err ? err : status;
}

const struct opt_spec cmd_status_spec = {
	.command = "status",
	.summary = "show whether everything is saved, what changed, disk use",
	.run = show_status,
};
