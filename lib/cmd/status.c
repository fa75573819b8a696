/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/fsio.h"
#include "base/units.h"
#include "ops/diff.h"
#include "ops/hooks.h"
#include "ops/list.h"
#include "ops/session.h"
#include "record/identity.h"
#include "record/journal.h"
#include "record/snapshot.h"
#include "store/store.h"
#include "ui/options.h"
#include "ui/report.h"
#include "ui/term.h"

#include <stdlib.h>

static const struct opt options[] = {
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

const struct opt_spec cmd_status_spec = {
	.command = "status",
	.usage = "",
	.summary = "the newest checkpoint, what changed since, disk use",
	.options = options,
};

struct overview {
	struct ckpt_records records;
	const struct ckpt_record *newest; /* NULL: none */
	const struct ckpt_record *base;   /* the newest of the whole worktree, else the newest */
	size_t added, modified, deleted;  /* since then */
	uint64_t bytes;
	struct hooks_report hooks;
};

static int count_changes(struct overview *overview, struct session *session)
{
	struct diff diff;
	int err = diff_worktree(&diff, session, overview->base, NULL, term_progress);

	if (err)
		return err;
	for (size_t i = 0; i < diff.changes.nr; i++) {
		enum change_kind kind = diff.changes.items[i].kind;

		overview->added += kind == CHANGE_ADDED;
		overview->deleted += kind == CHANGE_DELETED;
		overview->modified += kind == CHANGE_MODIFIED || kind == CHANGE_TYPE;
	}
	diff_release(&diff);
	return 0;
}

/* Said here and recorded by the next save. */
static void look_at_directory(struct strlist *warnings, const struct session *session)
{
	struct ref_list refs;

	if (refs_list(&refs, session->store))
		return;
	identity_check(warnings, session->store, session->repo, &refs, false);
	ref_list_release(&refs);
}

static void look_at_hooks(struct overview *overview, const struct session *session)
{
	if (!session->repo)
		return;
	hooks_check(&overview->records.damaged, session->repo);
	(void)hooks_status(&overview->hooks, session->repo);
}

static int look(struct overview *overview, struct session *session)
{
	int err = ops_list(&overview->records, session);

	if (!err)
		look_at_hooks(overview, session);
	if (err || !session->store)
		return err;
	look_at_directory(&overview->records.damaged, session);
	overview->bytes = fs_disk_usage(session->store->dirfd, ".");
	if (!overview->records.nr)
		return 0;
	overview->newest = &overview->records.items[overview->records.nr - 1];
	/* One of a few paths says nothing about the others: "am I safe?" is about all. */
	overview->base = NULL;
	for (size_t i = overview->records.nr; i--;) {
		const struct ckpt_record *record = &overview->records.items[i];

		if (record->state_only)
			continue;
		if (!overview->base || !record->scope.nr)
			overview->base = record;
		if (!record->scope.nr)
			break;
	}
	return overview->base ? count_changes(overview, session) : 0;
}

/* What was being restored, and the state before; null if nothing was interrupted. */
static json_t *interrupted(const struct session *session)
{
	struct journal journal;
	json_t *object;

	if (!session->store || !journal_is_left(session->store) ||
	    journal_read(&journal, session->store))
		return json_null();
	object = json_object();
	json_object_set_new(object, "target", json_string(journal.target));
	json_object_set_new(object, "safety_checkpoint", json_string(journal.safety));
	journal_release(&journal);
	return object;
}

static bool hooks_run(const struct hooks_report *hooks)
{
	for (size_t i = 0; i < hooks->nr; i++)
		if (hooks->items[i].state != HOOKS_RUNS)
			return false;
	return true;
}

/* null if there are none. */
static json_t *hooks_json(const struct hooks_report *hooks)
{
	if (!hooks->installed)
		return json_null();
	return json_pack("{s:o,s:b,s:b}", "events", json_texts(&hooks->events), "guard", hooks->guard,
			 "ok", hooks_run(hooks));
}

static int print_json(const struct overview *overview, const struct session *session)
{
	json_t *answer = json_object(), *disk = json_object();
	uint64_t budget = session->settings.max_size;

	json_object_set_new(answer, "worktree", json_path(session->worktree));
	json_object_set_new(answer, "store",
			    session->store ? json_path(session->store->path) : json_null());
	json_object_set_new(answer, "newest",
			    overview->newest ? report_listed(overview->newest) : json_null());
	json_object_set_new(answer, "compared_with",
			    json_text(overview->base ? overview->base->id : NULL));
	json_object_set_new(answer, "changes",
			    json_pack("{s:I,s:I,s:I}", "added", (json_int_t)overview->added,
				      "modified", (json_int_t)overview->modified, "deleted",
				      (json_int_t)overview->deleted));
	json_object_set_new(answer, "checkpoints", json_integer((json_int_t)overview->records.nr));
	json_object_set_new(disk, "bytes", json_integer((json_int_t)overview->bytes));
	json_object_set_new(disk, "budget", budget ? json_integer((json_int_t)budget) : json_null());
	json_object_set_new(answer, "disk", disk);
	json_object_set_new(answer, "interrupted_restore", interrupted(session));
	json_object_set_new(answer, "hooks", hooks_json(&overview->hooks));
	json_object_set_new(answer, "warnings", json_texts(&overview->records.damaged));
	return report_json(answer, EXIT_DONE);
}

static void print_newest(const struct overview *overview)
{
	const struct ckpt_record *newest = overview->newest;
	size_t changes = overview->added + overview->modified + overview->deleted;
	char age[CLOCK_ISO_SIZE];
	char *line;

	if (!newest) {
		report_text("Newest:      %snone%s, 'git checkpoint save' takes one\n",
			    term_color(TERM_RED), term_color(TERM_RESET));
		return;
	}
	line = report_reason_line(newest);
	report_text("Newest:      %s%s%s, %s: %s\n", term_color(TERM_YELLOW), newest->id,
		    term_color(TERM_RESET), clock_format_age(age, newest->created_at, clock_now()),
		    line);
	free(line);
	if (newest->missing)
		report_text("             %sincomplete, %llu left out%s\n", term_color(TERM_RED),
			    (unsigned long long)newest->missing, term_color(TERM_RESET));
	if (newest->state_only)
		report_text("             of state alone, no files\n");
	if (newest->scope.nr)
		report_text("             of '%s'%s only\n", newest->scope.items[0],
			    newest->scope.nr > 1 ? " and others" : "");
	if (!overview->base) {
		report_text("Files:       %sin no checkpoint%s, 'git checkpoint save' takes one\n",
			    term_color(TERM_RED), term_color(TERM_RESET));
		return;
	}
	if (overview->base != newest)
		report_text("%s       %s%s%s, %s\n", overview->base->scope.nr ? "Files:" : "Whole:",
			    term_color(TERM_YELLOW), overview->base->id, term_color(TERM_RESET),
			    clock_format_age(age, overview->base->created_at, clock_now()));
	if (changes)
		report_text("Since then:  %zu added, %zu modified, %zu deleted\n", overview->added,
			    overview->modified, overview->deleted);
	else
		report_text("Since then:  %snothing changed%s\n", term_color(TERM_GREEN),
			    term_color(TERM_RESET));
}

static void print_hooks(const struct hooks_report *hooks, const struct session *session)
{
	if (!session->repo)
		return;
	report_text("Hooks:       ");
	for (size_t i = 0; i < hooks->events.nr; i++)
		report_text("%s%s", i ? ", " : "before ", hooks->events.items[i]);
	if (!hooks->installed)
		report_text("none, 'git checkpoint hooks install' puts them in place");
	else if (hooks->guard)
		report_text("%sguard", hooks->events.nr ? " and with the " : "");
	report_text("%s\n", hooks_run(hooks) ? "" : ", but not all of them run");
}

static int print_text(const struct overview *overview, const struct session *session)
{
	char used[UNITS_SIZE], budget[UNITS_SIZE];

	report_warnings(&overview->records.damaged);
	report_text("Worktree:    %s\n", session->worktree);
	print_newest(overview);
	report_text("Checkpoints: %zu\n", overview->records.nr);
	report_text("Disk use:    %s", units_format_size(used, overview->bytes));
	if (session->settings.max_size)
		report_text(" of %s", units_format_size(budget, session->settings.max_size));
	report_text("\n");
	print_hooks(&overview->hooks, session);
	if (session->store)
		report_text("Store:       %s\n", session->store->path);
	return report_done(EXIT_DONE);
}

int cmd_status(int argc, char **argv)
{
	struct overview overview = { 0 };
	struct session session;
	int err = cmd_parse_options(&cmd_status_spec, argc, argv), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = cmd_session_open(&session, 0);
	if (err)
		return report_failure(err);
	err = look(&overview, &session);
	term_progress_clear();
	if (err)
		status = report_failure(err);
	else
		status = opt_common.json ? print_json(&overview, &session) :
					   print_text(&overview, &session);
	ckpt_records_release(&overview.records);
	hooks_report_release(&overview.hooks);
	session_close(&session);
	return status;
}
