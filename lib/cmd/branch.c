/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static int print(const struct ckpt_record *record, const struct branch_result *result)
{
	struct row answer = ROW_INIT;

	row_text(&answer, "branch", result->ref + strlen("refs/heads/"));
	row_text(&answer, "commit", result->commit);
	row_text(&answer, "parent", result->parent);
	row_text(&answer, "checkpoint", record->id);
	row_number(&answer, "ignored", result->ignored);
	row_texts(&answer, "warnings", &result->warnings);
	return report_json(row_object(&answer), EXIT_DONE);
}

static int tell(const struct ckpt_record *record, const struct branch_result *result)
{
	const char *name = result->ref + strlen("refs/heads/");

	report_warnings(&result->warnings);
	if (opt_common.quiet)
		return EXIT_DONE;
	term_say(stdout, "Created branch '%s' from %s: %.12s%s%.12s\n", name, record->id,
		 result->commit, result->parent ? " on top of " : "",
		 result->parent ? result->parent : "");
	if (result->ignored)
		report_text("%zu ignored %s left out\n", result->ignored,
			    result->ignored == 1 ? "file was" : "files were");
	return EXIT_DONE;
}

static int branch(struct session *session, const struct strlist *args)
{
	struct branch_result result = { 0 };
	struct ckpt_record record;
	int err = session_lookup(&record, session->store, args->items[1]), status = EXIT_DONE;

	if (err)
		return err;
	err = branch_make(&result, session, &record, args->items[0]);
	if (!err)
		status = opt_common.json ? print(&record, &result) : tell(&record, &result);
	branch_result_release(&result);
	record_release(&record);
	return err ? err : status;
}

const struct opt_spec cmd_branch_spec = {
	.command = "branch",
	.summary = "create a branch in the project from a checkpoint",
	.args = OPT_ARGS({ { "<name>" }, 1, 1 }, CMD_CHECKPOINTS(1, 1)),
	.session = SESSION_STORE,
	.run = branch,
};
