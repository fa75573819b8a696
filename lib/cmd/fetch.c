/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static struct fetch_opts opts;

static const struct opt options[] = {
	{ OPT_FLAG, 0, "all", &opts.all, NULL, "all checkpoints of other machines" },
	{ OPT_END },
};

static const char *const states[] = {
	[FETCH_NEW] = "fetched",
	[FETCH_KNOWN] = "known",
	[FETCH_BAD] = "bad",
};

static int print(const struct remotes_item *remote, const struct fetch_result *result, int status)
{
	json_t *items = json_array();
	struct row answer = ROW_INIT;

	for (size_t i = 0; i < result->nr; i++) {
		const struct fetch_item *item = &result->items[i];
		struct row row = ROW_INIT;

		row_text(&row, "machine", item->at.machine);
		row_text(&row, "id", item->at.ref.id);
		row_text(&row, "state", states[item->state]);
		row_text(&row, "why", item->why);
		json_array_append_new(items, row_object(&row));
	}
	row_text(&answer, "remote", remote->name);
	row_json(&answer, "checkpoints", items);
	row_texts(&answer, "odd", &result->odd);
	row_number(&answer, "namesakes", result->namesakes);
	return report_json(row_object(&answer), status);
}

static int tell(const struct remotes_item *remote, const struct fetch_result *result, bool said)
{
	int status = EXIT_DONE;
	size_t nr = 0;

	for (size_t i = 0; i < result->nr; i++) {
		const struct fetch_item *item = &result->items[i];
		char *text;

		nr += item->state == FETCH_NEW;
		if (item->state == FETCH_NEW && !said && !opt_common.quiet) {
			text = title_of(&item->record);
			term_say(stdout, "Fetched %s/%s  %s\n", item->at.machine, item->at.ref.id,
				 text);
			free(text);
		}
		if (item->state != FETCH_BAD)
			continue;
		status = EXIT_NO;
		if (said)
			continue;
		text = xstrfmt("'%s/%s' was refused: %s", item->at.machine, item->at.ref.id,
			       item->why);
		report_message("error", text);
		free(text);
	}
	for (size_t i = 0; i < result->odd.nr && !said; i++) {
		char *text = xstrfmt("'%s' on '%s' is not a checkpoint of ours", result->odd.items[i],
				     remote->name);

		report_message("warning", text);
		free(text);
	}
	if (!nr && status == EXIT_DONE && !said)
		report_text("Nothing new from other machines\n");
	if (!nr && status == EXIT_DONE && !said && result->namesakes)
		report_messagef("warning",
				"%zu there are not of this working directory, but have the name of this "
				"machine\n"
				"to bring them in all the same:\n"
				"    git checkpoint fetch %s <machine>/@\n"
				"to call this machine something else:\n"
				"    git checkpoint config machine <name>",
				result->namesakes, remote->name);
	return status;
}

static int fetch(struct session *session, const struct strlist *args)
{
	struct strlist names = STRLIST_INIT;
	const struct remotes_item *remote = NULL;
	struct fetch_result result = { 0 };
	struct remotes remotes;
	int err = remotes_read(&remotes, session->store), status = EXIT_DONE;

	if (!err)
		err = remotes_choose_first(&remote, &names, &remotes, args);
	opts.shown = progress_enabled();
	if (!err)
		err = fetch_checkpoints(&result, session, remote, &names, &opts);
	if (!err) {
		status = tell(remote, &result, opt_common.json);
		if (opt_common.json)
			status = print(remote, &result, status);
	}
	fetch_result_release(&result);
	remotes_release(&remotes);
	strlist_release(&names);
	return err ? err : status;
}

const struct opt_spec cmd_fetch_spec = {
	.command = "fetch",
	.summary = "fetch checkpoints of other machines",
	.args = OPT_ARGS({ { "<remote>" }, 0, 1 }, { { "<machine>/<id>" }, 0, OPT_MANY }),
	.options = options,
	.run = fetch,
};
