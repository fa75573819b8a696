/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static int print(const struct import_result *result)
{
	json_t *imported = json_array();
	struct row answer = ROW_INIT;

	for (size_t i = 0; i < result->nr; i++)
		json_array_append_new(imported, report_listed(&result->items[i]));
	row_json(&answer, "imported", imported);
	row_texts(&answer, "known", &result->known);
	row_texts(&answer, "warnings", &result->warnings);
	return report_json(row_object(&answer), EXIT_DONE);
}

static int tell(const struct import_result *result)
{
	report_warnings(&result->warnings);
	for (size_t i = 0; i < result->nr && !opt_common.quiet; i++) {
		char *title = report_marked_title(&result->items[i], clock_now());

		term_say(stdout, "Imported %s  %s\n", result->items[i].id, title);
		free(title);
	}
	for (size_t i = 0; i < result->known.nr; i++)
		report_text("%s is already here\n", result->known.items[i]);
	return EXIT_DONE;
}

static int import(struct session *session, const struct strlist *args)
{
	struct import_result result;
	int err = 0, status;

	if (!session->store)
		err = store_open_or_create(&session->store, session->worktree);
	if (!err)
		err = import_bundle(&result, session, args->items[0]);
	if (err)
		return err;
	status = opt_common.json ? print(&result) : tell(&result);
	import_result_release(&result);
	return status;
}

const struct opt_spec cmd_import_spec = {
	.command = "import",
	.summary = "take checkpoints from a bundle that 'export' wrote",
	.args = OPT_ARGS({ { "<bundle>" }, 1, 1 }),
	.session = SESSION_SAVE,
	.run = import,
};
