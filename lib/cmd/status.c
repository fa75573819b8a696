/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "cmd/hint_internal.h"
#include "cmd/report.h"
#include "hooks/hooks.h"
#include "inspect/inspect.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"
#include "ui/ui.h"

#include <stdlib.h>
#include <string.h>

enum { RECENT = 5 }; /* shown of the checkpoints */

static const struct opt options[] = {
	{ OPT_END, 0, NULL, NULL, NULL, NULL, false },
};

const struct opt_spec cmd_status_spec = {
	.command = "status",
	.usage = "",
	.summary = "show whether everything is saved, what changed, disk use",
	.options = options,
};

struct overview {
	struct ckpt_records recent;
	struct ckpt_briefs all;
	const struct ckpt_record *newest; /* NULL: none */
	const struct ckpt_record *base;   /* the newest of the whole worktree, else the newest */
	struct ckpt_record base_held;
	bool restored;                    /* the base is what the last restore brought back */
	size_t added, modified, deleted;  /* since then */
	uint64_t bytes;
	struct hooks_report hooks;
};

/* The id of a checkpoint of the whole worktree that was sound when last seen. */
static bool is_whole(const struct overview *overview, const char *id)
{
	for (size_t i = 0; i < overview->all.nr; i++) {
		const struct ckpt_brief *brief = &overview->all.items[i];

		if (!strcmp(brief->ref.id, id))
			return !brief->scoped && !brief->state_only;
	}
	return false;
}

/*
 * The checkpoint that the last restore, undo or redo of everything brought back;
 * CKPT_ENOTFOUND if there is none that can be read.
 */
static int last_restored(struct ckpt_record *out, const struct overview *overview,
			 const struct session *session)
{
	const char *id = NULL;
	struct undo_stack stack;
	int err = CKPT_ENOTFOUND;

	journal_undo_read(&stack, session->store);
	if (stack.done < stack.nr && !stack.items[stack.done].paths.nr)
		id = stack.items[stack.done].before;
	else if (stack.done == stack.nr && stack.done && !stack.items[stack.done - 1].paths.nr)
		id = stack.items[stack.done - 1].restored;
	if (id && is_whole(overview, id))
		err = lookup_name(out, session->store, id);
	journal_undo_release(&stack);
	return err == CKPT_ECORRUPT ? CKPT_ENOTFOUND : err;
}

/* After a restore the newest is the state before it: what matters is the one that was restored. */
static int look_at_restored(struct overview *overview, struct session *session)
{
	struct ckpt_record restored;
	struct diff diff;
	int err = last_restored(&restored, overview, session);

	if (err)
		return err == CKPT_ENOTFOUND ? 0 : err;
	if (!strcmp(restored.id, overview->base->id))
		goto out;
	err = diff_worktree(&diff, session, &restored, NULL, progress_show);
	if (err)
		goto out;
	if (!diff.changes.nr) {
		record_release(&overview->base_held);
		overview->base_held = restored;
		restored = (struct ckpt_record)CKPT_RECORD_INIT;
		overview->restored = true;
		overview->added = overview->modified = overview->deleted = 0;
	}
	diff_release(&diff);
out:
	record_release(&restored);
	return err;
}

static int count_changes(struct overview *overview, struct session *session)
{
	struct diff diff;
	int err = diff_worktree(&diff, session, overview->base, NULL, progress_show);

	if (err)
		return err;
	for (size_t i = 0; i < diff.changes.nr; i++) {
		enum change_kind kind = diff.changes.items[i].kind;

		overview->added += kind == CHANGE_ADDED;
		overview->deleted += kind == CHANGE_DELETED;
		overview->modified += kind == CHANGE_MODIFIED || kind == CHANGE_TYPE;
	}
	err = diff.changes.nr ? look_at_restored(overview, session) : 0;
	diff_release(&diff);
	return err;
}

/* Said here and recorded by the next save. */
static void look_at_directory(struct strlist *warnings, const struct session *session)
{
	struct ref_list refs;

	if (refs_list(&refs, session->store))
		return;
	identity_check(warnings, session->store, session->repo, &refs, false);
	refs_release(&refs);
}

static void look_at_hooks(struct overview *overview, const struct session *session)
{
	if (!session->repo)
		return;
	hooks_check(&overview->recent.damaged, session->repo);
	(void)hooks_status(&overview->hooks, session->repo);
}

/* Settled by the next save. */
static void look_at_staging(struct strlist *warnings, const struct session *session)
{
	struct stage_dirs dirs;

	stage_dir_list(&dirs, session->store, session->worktree);
	for (size_t i = 0; i < dirs.nr; i++)
		if (dirs.items[i].kind == STAGE_DIR_STRAY)
			strlist_addf(warnings,
				     "'%s' is left over from a finished restore; 'git checkpoint save' "
				     "removes it",
				     dirs.items[i].name);
	stage_dirs_release(&dirs);
}

static int look(struct overview *overview, struct session *session)
{
	int err = inspect_overview(&overview->recent, &overview->all, session, RECENT);

	if (!err)
		look_at_hooks(overview, session);
	if (err || !session->store)
		return err;
	look_at_directory(&overview->recent.damaged, session);
	look_at_staging(&overview->recent.damaged, session);
	overview->bytes = fs_disk_usage(session->store->dirfd, ".");
	if (!overview->recent.nr)
		return 0;
	overview->newest = &overview->recent.items[overview->recent.nr - 1];
	/* One of a few paths says nothing about the others: "am I safe?" is about all. */
	err = lookup_default(&overview->base_held, session->store);
	if (err)
		return err == CKPT_ENOTFOUND ? 0 : err;
	overview->base = &overview->base_held;
	return count_changes(overview, session);
}

/* --- am I safe? --- */

enum safety {
	SAFE,
	SAFE_NOTHING, /* no checkpoint of any file */
	SAFE_SCOPE,   /* of some paths only */
	SAFE_CHANGED, /* something changed since */
	SAFE_MISSING, /* the checkpoint is not whole */
};

static size_t changes_of(const struct overview *overview)
{
	return overview->added + overview->modified + overview->deleted;
}

static enum safety judge(const struct overview *overview)
{
	if (!overview->base)
		return SAFE_NOTHING;
	if (overview->base->scope.nr)
		return SAFE_SCOPE;
	if (changes_of(overview))
		return SAFE_CHANGED;
	return overview->base->missing ? SAFE_MISSING : SAFE;
}

static void print_verdict(const struct overview *overview, const struct session *session)
{
	size_t changes = changes_of(overview);
	enum safety safety = judge(overview);

	report_text("Safe:        %s%s%s, ", term_color(safety == SAFE ? TERM_GREEN : TERM_RED),
		    safety == SAFE ? "yes" : "no", term_color(TERM_RESET));
	switch (safety) {
	case SAFE:
		if (overview->restored)
			report_text("everything is as in %s, which was restored\n", overview->base->id);
		else
			report_text("nothing changed since the newest checkpoint\n");
		break;
	case SAFE_NOTHING:
		/* Whose checkpoints lie elsewhere has been told what to do first. */
		report_text("no files are saved%s\n",
			    session->hint ? " for this folder" : "; 'git checkpoint save' takes one");
		break;
	case SAFE_SCOPE:
		report_text("only some paths are saved; 'git checkpoint save' saves all\n");
		break;
	case SAFE_CHANGED:
		report_text("%zu %s not saved; 'git checkpoint save' saves %s\n", changes,
			    changes == 1 ? "change is" : "changes are", changes == 1 ? "it" : "them");
		break;
	case SAFE_MISSING:
		report_text("%llu %s not be captured; 'git checkpoint show %s' says why\n",
			    (unsigned long long)overview->base->missing,
			    overview->base->missing == 1 ? "path could" : "paths could",
			    overview->base->id);
		break;
	}
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
	json_object_set_new(answer, "safe", json_boolean(judge(overview) == SAFE));
	json_object_set_new(answer, "newest",
			    overview->newest ? report_listed(overview->newest) : json_null());
	json_object_set_new(answer, "compared_with",
			    json_text(overview->base ? overview->base->id : NULL));
	json_object_set_new(answer, "changes",
			    json_pack("{s:I,s:I,s:I}", "added", (json_int_t)overview->added,
				      "modified", (json_int_t)overview->modified, "deleted",
				      (json_int_t)overview->deleted));
	json_object_set_new(answer, "checkpoints", json_integer((json_int_t)overview->all.nr));
	json_object_set_new(disk, "bytes", json_integer((json_int_t)overview->bytes));
	json_object_set_new(disk, "budget", budget ? json_integer((json_int_t)budget) : json_null());
	json_object_set_new(answer, "disk", disk);
	json_object_set_new(answer, "interrupted_restore", interrupted(session));
	json_object_set_new(answer, "hooks", hooks_json(&overview->hooks));
	json_object_set_new(answer, "warnings", json_texts(&overview->recent.damaged));
	return report_json(answer, EXIT_DONE);
}

static void print_newest(const struct overview *overview)
{
	const struct ckpt_record *newest = overview->newest;
	char age[CLOCK_ISO_SIZE];

	if (!newest) {
		report_text("Newest:      %snone%s\n", term_color(TERM_RED), term_color(TERM_RESET));
		return;
	}
	report_text("Newest:      %s%s%s, %s\n", term_color(TERM_YELLOW), newest->id,
		    term_color(TERM_RESET), clock_format_age(age, newest->created_at, clock_now()));
	if (newest->missing)
		report_text("             %sincomplete, %llu left out%s\n", term_color(TERM_RED),
			    (unsigned long long)newest->missing, term_color(TERM_RESET));
	if (newest->state_only)
		report_text("             only state, no files\n");
	if (newest->scope.nr)
		report_text("             of '%s'%s only\n", newest->scope.items[0],
			    newest->scope.nr > 1 ? " and others" : "");
	if (!overview->base)
		return;
	if (strcmp(overview->base->id, newest->id) != 0)
		report_text("%-12s %s%s%s, %s\n",
			    overview->restored ? "Restored:" :
			    overview->base->scope.nr ? "Files:" : "Whole:",
			    term_color(TERM_YELLOW), overview->base->id, term_color(TERM_RESET),
			    clock_format_age(age, overview->base->created_at, clock_now()));
	if (changes_of(overview))
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
		report_text("none; 'git checkpoint hooks install' adds them");
	else if (hooks->guard)
		report_text("%sguard", hooks->events.nr ? " and with the " : "");
	report_text("%s\n", hooks_run(hooks) ? "" : ", but not all of them run");
}

/* Downwards into the past, by the names that can be typed. */
static void print_timeline(const struct overview *overview)
{
	static const struct table_column columns[] = {
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 0, TERM_YELLOW, TABLE_KEEP },
		{ NULL, TABLE_RIGHT, 0, TERM_RESET, TABLE_KEEP },
		{ NULL, TABLE_LEFT, 60, TERM_RESET, TABLE_KEEP },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t nr = overview->all.nr, shown = overview->recent.nr;
	int64_t now = clock_now();

	if (changes_of(overview)) {
		table_add(table, "now");
		table_add(table, "o");
		table_add(table, "");
		table_addf(table, "%zu changed", changes_of(overview));
		table_add(table, "not saved yet");
	}
	for (size_t i = 0; i < shown; i++) {
		const struct ckpt_record *record = &overview->recent.items[shown - 1 - i];
		char age[CLOCK_ISO_SIZE], *line = report_marked_reason(record, now);

		table_add(table, clock_format_age_short(age, record->created_at, now));
		table_add(table, "*");
		if (i)
			table_addf(table, "@~%zu", i);
		else
			table_add(table, "@");
		table_addf(table, "%llu changed", (unsigned long long)record->changed);
		table_add(table, line);
		free(line);
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

static void print_count(const struct overview *overview, const struct session *session)
{
	size_t nr = overview->all.nr, pinned = 0;

	for (size_t i = 0; i < nr; i++)
		pinned += overview->all.items[i].pinned;
	report_text("Checkpoints: %zu", nr);
	if (pinned)
		report_text(", %zu of them pinned", pinned);
	if (nr && session->settings.max_count)
		report_text("; the newest %llu are kept",
			    (unsigned long long)session->settings.max_count);
	report_text("\n");
}

static void print_path(const char *title, const char *path)
{
	struct strbuf quoted = STRBUF_INIT;

	quote_path(&quoted, path);
	report_text("%-13s%s\n", title, quoted.buf);
	strbuf_release(&quoted);
}

static int print_text(const struct overview *overview, const struct session *session)
{
	char used[UNITS_SIZE], budget[UNITS_SIZE];

	report_warnings(&overview->recent.damaged);
	print_verdict(overview, session);
	print_path("Worktree:", session->worktree);
	print_newest(overview);
	print_count(overview, session);
	report_text("Disk use:    %s", units_format_size(used, overview->bytes));
	if (session->settings.max_size)
		report_text(" of %s", units_format_size(budget, session->settings.max_size));
	report_text("\n");
	print_hooks(&overview->hooks, session);
	if (session->store)
		print_path("Store:", session->store->path);
	if (overview->recent.nr && !opt_common.quiet)
		print_timeline(overview);
	return report_done(EXIT_DONE);
}

int cmd_status(int argc, char **argv)
{
	struct overview overview = { .base_held = CKPT_RECORD_INIT };
	struct session session;
	int err = cmd_parse_options(&cmd_status_spec, argc, argv), status;

	if (err > 0)
		return EXIT_DONE;
	if (!err)
		err = cmd_session_open(&session, 0);
	if (err)
		return report_failure(err);
	err = look(&overview, &session);
	progress_clear();
	if (err)
		status = report_failure(err);
	else
		status = opt_common.json ? print_json(&overview, &session) :
					   print_text(&overview, &session);
	if (!err && session.settings.max_count &&
	    overview.all.nr >= session.settings.max_count)
		hint_say(&session, HINT_PIN);
	lookup_records_release(&overview.recent);
	brief_release(&overview.all);
	record_release(&overview.base_held);
	hooks_report_release(&overview.hooks);
	session_close(&session);
	return status;
}
