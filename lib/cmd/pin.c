/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

/* --- pin, unpin --- */

static const char *given;
static bool move_name;

static const struct opt pin_options[] = {
	{ OPT_STRING, 0, "name", &given, "<name>", "a name for it" },
	{ OPT_FLAG, 0, "move-name", &move_name, NULL, "give it the name even if another has it" },
	{ OPT_END },
};

static bool offer(struct complete *complete, const char *what)
{
	return !strcmp(what, "--name") && complete_given_names(complete);
}

static int mark(struct session *session, const char *checkpoint, bool pin)
{
	const struct drop_pin request = {
		.checkpoint = checkpoint,
		.pin = pin,
		.name = given,
		.move_name = move_name,
	};
	struct ckpt_record record = CKPT_RECORD_INIT;
	int err = cmd_check_name(given, move_name);

	if (!err)
		err = drop_set_pinned(&record, session, &request);
	if (!err && opt_common.json)
		err = report_json(json_pack("{s:o}", "checkpoint", report_listed(&record)),
				  EXIT_DONE);
	else if (!err)
		report_text("%s %s%s%s\n", pin ? "Pinned" : "Unpinned", report_id(record.id),
			    given ? " as " : "", given ? given : "");
	record_release(&record);
	return err;
}

static int pin(struct session *session, const struct strlist *args)
{
	return mark(session, args->items[0], true);
}

static int unpin(struct session *session, const struct strlist *args)
{
	return mark(session, args->items[0], false);
}

const struct opt_spec cmd_pin_spec = {
	.command = "pin",
	.summary = "protect a checkpoint from eviction",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1)),
	.options = pin_options,
	.offer = offer,
	.session = SESSION_STORE,
	.run = pin,
};

const struct opt_spec cmd_unpin_spec = {
	.command = "unpin",
	.summary = "let a checkpoint be evicted again",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, 1)),
	.session = SESSION_STORE,
	.run = unpin,
};

/* --- drop --- */

static bool force, yes, dry_run;

static const struct opt drop_options[] = {
	{ OPT_FLAG, 'n', "dry-run", &dry_run, NULL, "only show what would be removed" },
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask" },
	{ OPT_FLAG, 0, "force", &force, NULL, "drop even if pinned or needed by undo" },
	{ OPT_END },
};

/* The ids of what was shown: "@" may be another one after somebody thought about it. */
static int confirm(struct strlist *ids, struct session *session, const struct strlist *args)
{
	struct retain_result result = { 0 };
	int err = drop_checkpoints(&result, session, args, force, true);

	if (!err)
		err = show_drop_confirm(&result);
	for (size_t i = 0; i < result.nr; i++)
		strlist_take(ids, show_drop_name(&result.items[i].record));
	retain_result_release(&result);
	return err;
}

static int drop(struct session *session, const struct strlist *args)
{
	struct retain_result result = { 0 };
	struct strlist ids = STRLIST_INIT;
	bool asks = show_drop_asks(yes, dry_run);
	int err = asks ? confirm(&ids, session, args) : 0;

	if (session->store)
		session->store->progress = progress_show;
	if (!err)
		err = drop_checkpoints(&result, session, asks ? &ids : args, force, dry_run);
	progress_clear();
	if (!err)
		err = show_drop_report(&result, dry_run);
	strlist_release(&ids);
	retain_result_release(&result);
	return err;
}

const struct opt_spec cmd_drop_spec = {
	.command = "drop",
	.summary = "delete checkpoints",
	.args = OPT_ARGS(CMD_CHECKPOINTS(1, OPT_MANY)),
	.options = drop_options,
	.session = SESSION_STORE,
	.run = drop,
};
