/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static json_t *answer_of(const struct try *try, const struct ckpt_record *target,
			 const struct strlist *command)
{
	struct row answer = ROW_INIT;

	show_run_row(&answer, command, &try->child);
	row_json(&answer, "checkpoint", report_checkpoint(target));
	row_json(&answer, "verification", show_copy_verification(&try->copy));
	row_path(&answer, "left", try->left);
	row_seconds(&answer, "seconds", try->child.seconds);
	return row_object(&answer);
}

static int try_one(struct session *session, const struct strlist *args)
{
	struct strlist command = STRLIST_INIT;
	struct ckpt_record target = CKPT_RECORD_INIT;
	struct try try;
	int status, err;

	run_unheard();
	for (size_t i = 1; i < args->nr; i++)
		strlist_add(&command, args->items[i]);
	err = session_lookup(&target, session->store, args->items[0]);
	if (!err) {
		/* stdout belongs to the command, unless it is to be one answer. */
		err = show_try_run(&try, session, &target, &command,
				   opt_common.json ? RUN_TO_STDERR : 0);
		status = try.copy.match ? try.child.exit_status : EXIT_UNVERIFIED;
		if (!err && opt_common.json)
			status = report_json(answer_of(&try, &target, &command), status);
		try_release(&try);
	}
	strlist_release(&command);
	record_release(&target);
	return err ? err : status;
}

static int check(const struct strlist *args UNUSED)
{
	return show_try_check(&cmd_try_spec, 1);
}

const struct opt_spec cmd_try_spec = {
	.command = "try",
	.summary = "run a command in a temporary copy of a checkpoint",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1), { { "<command>" }, 1, OPT_MANY, .dashes = true, .dashed = true }),
	.check = check,
	.session = SESSION_STORE,
	.run = try_one,
};
