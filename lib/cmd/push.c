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

static const char *const states[] = {
	[PUSH_SENT] = "pushed",
	[PUSH_THERE] = "there",
	[PUSH_REFUSED] = "refused",
	[PUSH_FAILED] = "failed",
};

static int print(const struct remotes_item *remote, const struct push_result *result, int status)
{
	json_t *items = json_array();
	struct row answer = ROW_INIT;

	for (size_t i = 0; i < result->nr; i++) {
		struct row row = ROW_INIT;

		row_text(&row, "id", result->items[i].record.id);
		row_text(&row, "state", states[result->items[i].state]);
		row_text(&row, "why", result->items[i].why);
		json_array_append_new(items, row_object(&row));
	}
	row_text(&answer, "remote", remote->name);
	row_json(&answer, "checkpoints", items);
	row_number(&answer, "bytes", result->bytes);
	row_texts(&answer, "pruned", &result->pruned);
	return report_json(row_object(&answer), status);
}

static void tell(const struct remotes_item *remote, const struct push_result *result)
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
	if (result->pruned.nr)
		term_say(stdout, "%s %zu that are gone here\n",
			 opts.dry_run ? "Would remove" : "Removed", result->pruned.nr);
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
	if (!err) {
		status = exit_status(&result);
		if (opt_common.json)
			status = print(remote, &result, status);
		else
			tell(remote, &result);
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
