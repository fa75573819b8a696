/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static struct push_opts opts;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "all", &opts.all, NULL, "all checkpoints, without those of restores" },
	{ OPT_FLAG, 0, "pinned", &opts.pinned, NULL, "all pinned ones", OPT_OR },
	{ OPT_FLAG, 'n', "dry-run", &opts.dry_run, NULL, "only say what would be sent" },
	{ OPT_FLAG, 0, "force", &opts.force, NULL, "also what may have secrets" },
	{ OPT_FLAG, 0, "with-prompts", &opts.prompts, NULL, "also what coding agents were asked" },
	{ OPT_FLAG, 0, "prune", &opts.prune, NULL,
	  "then remove there what this store has dropped or evicted" },
	{ OPT_END },
};

enum { SHOWN = 20 };

/* What is not in the newest checkpoint, if that was meant because none was named. */
struct unsaved {
	bool known;
	size_t paths;
};

static const char *const states[] = {
	[PUSH_SENT] = "pushed", /* of a dry run: see state_of() */
	[PUSH_THERE] = "there",
	[PUSH_REFUSED] = "refused",
	[PUSH_FAILED] = "failed",
};

static const char *state_of(const struct push_item *item)
{
	return opts.dry_run && item->state == PUSH_SENT ? "to push" : states[item->state];
}

static int print_json(const struct remotes_item *remote, const struct push_result *result,
		 const struct unsaved *unsaved, int status)
{
	json_t *items = json_array();
	struct row answer = ROW_INIT;

	for (size_t i = 0; i < result->nr; i++) {
		struct row row = ROW_INIT;

		row_text(&row, "id", result->items[i].record.id);
		row_text(&row, "state", state_of(&result->items[i]));
		row_text(&row, "why", result->items[i].why);
		json_array_append_new(items, row_object(&row));
	}
	row_text(&answer, "remote", remote->name);
	row_json(&answer, "checkpoints", items);
	row_number(&answer, "bytes", result->bytes);
	row_texts(&answer, "pruned", &result->pruned);
	row_bool(&answer, "dry_run", opts.dry_run);
	if (unsaved->known)
		row_number(&answer, "unsaved", unsaved->paths);
	return report_json(row_object(&answer), status);
}

static void tell_items(const struct push_result *result)
{
	size_t nr = 0;

	for (size_t i = 0; i < result->nr; i++) {
		char *title;

		if (result->items[i].state != PUSH_SENT || nr++ >= SHOWN)
			continue;
		title = title_of(&result->items[i].record);
		term_say(stdout, "  %s  %s\n", result->items[i].record.id, title);
		free(title);
	}
	if (nr > SHOWN)
		term_say(stdout, "  and %zu more\n", nr - SHOWN);
}

static void tell_people(const struct remotes_item *remote, const struct push_result *result,
		 const struct unsaved *unsaved)
{
	size_t sent = 0, there = 0;
	char size[UNITS_SIZE];

	for (size_t i = 0; i < result->nr; i++) {
		const struct push_item *item = &result->items[i];
		char *text;

		sent += item->state == PUSH_SENT;
		there += item->state == PUSH_THERE;
		if (item->state != PUSH_REFUSED && item->state != PUSH_FAILED)
			continue;
		text = xstrfmt("'%s' was not pushed: %s", item->record.id, item->why);
		report_message("warning", text);
		free(text);
	}
	if (opt_common.quiet)
		return;
	if (sent)
		term_say(stdout, "%s %zu %s to '%s' (about %s)\n",
			 opts.dry_run ? "Would push" : "Pushed", sent,
			 sent == 1 ? "checkpoint" : "checkpoints", remote->name,
			 units_format_size(size, result->bytes));
	else if (there)
		term_say(stdout, "'%s' has %s already\n", remote->name,
			 there == 1 ? "it" : "all of them");
	else if (!result->nr)
		term_say(stdout, "Nothing to push\n");
	tell_items(result);
	if (result->pruned.nr)
		term_say(stdout, "%s %zu that are gone here\n",
			 opts.dry_run ? "Would remove" : "Removed", result->pruned.nr);
	for (size_t i = 0; i < result->pruned.nr && i < SHOWN; i++)
		term_say(stdout, "  %s\n", result->pruned.items[i]);
	if (result->pruned.nr > SHOWN)
		term_say(stdout, "  and %zu more\n", result->pruned.nr - SHOWN);
	if (unsaved->paths)
		term_say(stdout, "Not in it: %zu %s changed since; 'git checkpoint save' takes %s\n",
			 unsaved->paths, unsaved->paths == 1 ? "path has" : "paths have",
			 unsaved->paths == 1 ? "it" : "them");
}

/* The push is done: a failure of this is not told. */
static void count_unsaved(struct unsaved *out, struct session *session,
			  const struct push_result *result)
{
	const struct ckpt_record *record = result->nr ? &result->items[0].record : NULL;
	struct diff diff;

	if (!record || record->state_only || opt_common.quiet ||
	    diff_worktree(&diff, session, record, NULL, progress_show))
		return;
	*out = (struct unsaved){ true, diff.changes.nr };
	diff_release(&diff);
	progress_clear();
}

static int exit_status(const struct push_result *result)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < result->nr; i++) {
		if (result->items[i].state == PUSH_FAILED)
			return EXIT_NO;
		if (result->items[i].state == PUSH_REFUSED)
			status = EXIT_INCOMPLETE;
	}
	return status;
}

/* The first word may be either, so say so if it is neither. */
static int check_first(struct session *session, const char *word)
{
	struct ckpt_record record;
	int err = session_lookup(&record, session->store, word);

	if (!err)
		record_release(&record);
	return err != CKPT_ENOTFOUND
		       ? err
		       : ckpt_error_set(err, "'%s' is neither a remote nor a checkpoint; see 'git "
					     "checkpoint remote list' and 'git checkpoint list'", word);
}

static int push(struct session *session, const struct strlist *args)
{
	struct strlist names = STRLIST_INIT;
	const struct remotes_item *remote = NULL;
	struct push_result result = { 0 };
	struct unsaved unsaved = { 0 };
	struct remotes remotes;
	int err = remotes_read(&remotes, session->store), status = EXIT_DONE;

	if (!err)
		err = remotes_choose_first(&remote, &names, &remotes, args);
	if (names.nr && (opts.all || opts.pinned))
		err = ckpt_error_set(CKPT_EUSAGE, "give checkpoints, '--all' or '--pinned'");
	if (!err && names.nr && names.nr == args->nr && remotes_name_valid(names.items[0]))
		err = check_first(session, names.items[0]);
	opts.shown = progress_enabled();
	if (!err)
		err = push_checkpoints(&result, session, remote, &names, &opts);
	if (!err && !names.nr && !opts.all && !opts.pinned)
		count_unsaved(&unsaved, session, &result);
	if (!err) {
		status = exit_status(&result);
		if (opt_common.json)
			status = print_json(remote, &result, &unsaved, status);
		else
			tell_people(remote, &result, &unsaved);
	}
	push_result_release(&result);
	remotes_release(&remotes);
	strlist_release(&names);
	return err ? err : status;
}

void cmd_push_auto(struct session *session, const char *id)
{
	const struct push_opts quiet = { 0 };
	struct strlist names = STRLIST_INIT, warnings = STRLIST_INIT;
	struct remotes remotes;
	int err = remotes_read(&remotes, session->store);

	strlist_add(&names, id);
	for (size_t i = 0; i < remotes.nr && !err; i++) {
		struct push_result result = { 0 };
		const char *why = NULL;

		if (!remotes.items[i].push_auto)
			continue;
		if (push_checkpoints(&result, session, &remotes.items[i], &names, &quiet))
			why = ckpt_error_last();
		else if (result.items[0].state == PUSH_FAILED)
			why = result.items[0].why;
		if (why)
			strlist_addf(&warnings, "not pushed to '%s': %s", remotes.items[i].name, why);
		push_result_release(&result);
	}
	report_warnings(&warnings);
	strlist_release(&names);
	strlist_release(&warnings);
	remotes_release(&remotes);
}

const struct opt_spec cmd_push_spec = {
	.command = "push",
	.summary = "send checkpoints to a remote",
	.args = OPT_ARGS({ { "<remote>" }, 0, 1 }, CMD_CHECKPOINTS(0, OPT_MANY)),
	.options = options,
	.run = push,
};
