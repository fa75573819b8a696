/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "remote/remote.h"

static const char *message;
static bool force, yes, captures;

/* ---- handoff ---- */

static const struct opt handoff_options[] = {
	{ OPT_STRING, 'm', "message", &message, "<reason>", "why it is handed off" },
	{ OPT_FLAG, 0, "force", &force, NULL, "even if it may have secrets" },
	{ OPT_END },
};

static int tell_handoff(const struct remotes_item *remote, const struct ckpt_record *record, bool head)
{
	struct row answer = ROW_INIT;

	if (opt_common.json) {
		row_text(&answer, "handed_off", record->id);
		row_text(&answer, "remote", remote->name);
		row_text(&answer, "head", record->head);
		row_bool(&answer, "head_pushed", head);
		return report_json(row_object(&answer), EXIT_DONE);
	}
	if (!opt_common.quiet)
		term_say(stdout,
			 "Handed off %s to '%s'%s; on the other machine: git checkpoint takeover "
			 "<remote>\n",
			 record->id, remote->name, head ? ", with the commit at HEAD" : "");
	return EXIT_DONE;
}

/* Without the options of `save` that they name, which this command does not have. */
static void print_warnings(const struct strlist *all)
{
	struct strlist some = STRLIST_INIT;

	for (size_t i = 0; i < all->nr; i++) {
		const char *option = strstr(all->items[i], "; --include-");
		size_t len = option ? (size_t)(option - all->items[i]) : strlen(all->items[i]);

		strlist_addf(&some, "%.*s", (int)len, all->items[i]);
	}
	report_warnings(&some);
	strlist_release(&some);
}

/* The state now: a new checkpoint, or the newest if that has it. */
static int save_now(struct ckpt_record *out, struct session *session)
{
	struct save_opts opts = { .reason = message ? message : "handoff", .said = message,
				  .source = "cli", .step = -1,
				  .scan = { .scope = &strlist_empty, .progress = progress_show },
				  .extras.no_auto = true };
	struct save_result result = { 0 };
	int err = save_checkpoint(&result, session, &opts);

	progress_clear();
	if (!err)
		print_warnings(&result.record.warnings);
	save_result_release(&result);
	return err ? err : lookup_default(out, session->store);
}

static int handoff(struct session *session, const struct strlist *args)
{
	const struct remotes_item *remote = NULL;
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct remotes remotes = { 0 };
	bool head = false;
	int err = remotes_read(&remotes, session->store);

	if (!err)
		err = remotes_choose(&remote, &remotes, args->nr ? args->items[0] : NULL);
	if (!err)
		err = save_now(&record, session);
	if (!err)
		err = handoff_give(&head, session, remote, &record, force, progress_enabled());
	if (!err)
		err = tell_handoff(remote, &record, head);
	/* Without HEAD and index nobody can go on where this machine was. */
	if (!err && (record.missing || (session->repo && !*record.git_hash)))
		err = EXIT_INCOMPLETE;
	record_release(&record);
	remotes_release(&remotes);
	return err;
}

const struct opt_spec cmd_handoff_spec = {
	.command = "handoff",
	.summary = "save and push, to continue on another machine",
	.args = OPT_ARGS({ { "<remote>" }, 0, 1 }),
	.options = handoff_options,
	.run = handoff,
};

/* ---- takeover ---- */

static const struct opt takeover_options[] = {
	{ OPT_FLAG, 'y', "yes", &yes, NULL, "do not ask before the restore" },
	{ OPT_FLAG, 0, "force", &force, NULL, "also what restore needs --force for" },
	{ OPT_FLAG, 0, "captures", &captures, NULL,
	  "give captures from there to your own restore commands" },
	{ OPT_END },
};

/* One word is a machine if it is not a remote, and it is clear which remote is meant. */
static int choose_machine(const struct remotes_item **out, const char **machine,
			  struct remotes *remotes, struct session *session,
			  const struct strlist *args)
{
	int err = remotes_read(remotes, session->store);
	bool only = args->nr == 1 && remotes->nr == 1 && !remotes_find(remotes, args->items[0]);

	*machine = only ? args->items[0] : args->nr > 1 ? args->items[1] : NULL;
	return err ? err : remotes_choose(out, remotes, only || !args->nr ? NULL : args->items[0]);
}

static int restore_handed(struct session *session, const struct ckpt_record *record)
{
	const struct show_restore_how how = { .yes = yes };
	struct restore_opts opts = {
		.target = record,
		.kind = JOURNAL_RESTORE,
		.source = JOURNAL_SOURCE,
		.paths = &strlist_empty,
		.force = force,
		.captures = captures,
		.git.what = session->repo && *record->git_hash ? JOURNAL_GIT : JOURNAL_FILES,
	};
	int err = force ? 0 : show_restore_check_expired(record);

	return err ? err : show_restore_carry_out(session, &opts, &how);
}

static int takeover(struct session *session, const struct strlist *args)
{
	const struct remotes_item *remote = NULL;
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct remotes remotes = { 0 };
	bool fetched = false;
	const char *machine = NULL;
	int err = choose_machine(&remote, &machine, &remotes, session, args);

	if (!err)
		err = handoff_take(&record, &fetched, session, remote, machine,
				   progress_enabled());
	if (!err && !opt_common.quiet && !opt_common.json)
		term_say(stdout, "Taking over %s/%s%s\n", record.machine, record.id,
			 fetched ? ", with the commit at its HEAD" : "");
	if (!err)
		err = restore_handed(session, &record);
	record_release(&record);
	remotes_release(&remotes);
	return err;
}

const struct opt_spec cmd_takeover_spec = {
	.command = "takeover",
	.summary = "fetch what another machine handed off, and continue here",
	.args = OPT_ARGS({ { "<remote>" }, 0, 1 }, { { "<machine>" }, 0, 1 }),
	.options = takeover_options,
	.run = takeover,
};
