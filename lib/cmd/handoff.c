/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/base.h"
#include "record/record.h"
#include "remote/remote.h"
#include "restore/restore.h"
#include "save/save.h"
#include "session/session.h"
#include "show/show.h"
#include "store/store.h"
#include "ui/ui.h"

static bool force, yes;

static int choose(const struct remotes_item **out, struct remotes *remotes,
		  struct session *session, const char *name)
{
	int err = remotes_read(remotes, session->store);

	return err ? err : remotes_choose(out, remotes, name);
}

/* ---- handoff ---- */

static const struct opt handoff_options[] = {
	{ OPT_FLAG, 0, "force", &force, NULL, "even if it may have secrets" },
	{ OPT_END },
};

static int tell(const struct remotes_item *remote, const struct ckpt_record *record, bool head)
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
		report_plain(stdout,
			     "Handed off %s to '%s'%s; on the other machine: git checkpoint takeover "
			     "<remote>\n",
			     record->id, remote->name, head ? ", with the commit at HEAD" : "");
	return EXIT_DONE;
}

static int push_one(struct session *session, const struct remotes_item *remote, const char *id)
{
	const struct push_opts opts = { .force = force, .shown = progress_enabled() };
	struct strlist names = STRLIST_INIT;
	struct push_result result = { 0 };
	int err;

	strlist_add(&names, id);
	err = push_checkpoints(&result, session, remote, &names, &opts);
	if (!err && result.items[0].state == PUSH_FAILED)
		err = ckpt_error_set(CKPT_ERROR, "'%s' was not pushed: %s", id,
				     result.items[0].why);
	push_result_release(&result);
	strlist_release(&names);
	return err;
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
static int take(struct ckpt_record *out, struct session *session)
{
	static const struct strlist nothing = STRLIST_INIT;
	struct save_opts opts = { .reason = "handoff", .source = "cli", .step = -1,
				  .scan = { .scope = &nothing, .progress = progress_show },
				  .extras.no_auto = true };
	struct save_result result = { 0 };
	int err = save_checkpoint(&result, session, &opts);

	progress_clear();
	if (!err)
		print_warnings(&result.record.warnings);
	save_result_release(&result);
	return err ? err : lookup_default(out, session->store);
}

static int check_doubt(struct session *session, const struct ckpt_record *record)
{
	char *why;
	int err = push_doubt(&why, session, record);

	if (!err && !why && session->repo && record->head)
		err = push_doubt_history(&why, session, record->head);
	if (!err && why)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' was not handed off: %s; use --force if others may read that",
				     record->id, why);
	free(why);
	return err;
}

static int handoff(struct session *session, const struct strlist *args)
{
	const struct remotes_item *remote = NULL;
	struct ckpt_record record = CKPT_RECORD_INIT;
	struct remotes remotes = { 0 };
	bool head = false;
	int err = choose(&remote, &remotes, session, args->nr ? args->items[0] : NULL);

	if (!err)
		err = take(&record, session);
	if (!err && !force)
		err = check_doubt(session, &record);
	/* The commit first: whoever sees the checkpoint must find it. */
	if (!err)
		err = handoff_push_head(&head, session, remote, &record);
	if (!err)
		err = push_one(session, remote, record.id);
	if (!err)
		err = tell(remote, &record, head);
	if (!err && record.missing)
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
	{ OPT_END },
};

static int choose_newest(struct ckpt_record *out, const struct fetch_result *result)
{
	const struct fetch_item *newest = NULL;

	for (size_t i = 0; i < result->nr; i++) {
		const struct fetch_item *item = &result->items[i];

		/* It may be the one. */
		if (item->state == FETCH_BAD)
			return ckpt_error_set(CKPT_ERROR, "'%s/%s' was refused: %s", item->at.machine,
					      item->at.ref.id, item->why);
		if (!newest || strcmp(item->record.id, newest->record.id) > 0)
			newest = item;
	}
	if (!newest)
		return ckpt_error_set(CKPT_ENOTFOUND, "there is nothing to take over any more");
	snprintf(out->id, sizeof(out->id), "%s", newest->record.id);
	return 0;
}

/* The newest of a machine, fetched and checked; its record is read from the store. */
static int bring(struct ckpt_record *out, struct session *session,
		 const struct remotes_item *remote, const char *machine)
{
	const struct fetch_opts opts = { .shown = progress_enabled() };
	struct ckpt_record newest = CKPT_RECORD_INIT;
	struct strlist names = STRLIST_INIT;
	struct fetch_result result = { 0 };
	int err;

	strlist_addf(&names, "%s/@", machine);
	err = fetch_checkpoints(&result, session, remote, &names, &opts);
	if (!err)
		err = choose_newest(&newest, &result);
	if (!err) {
		strlist_addf(&names, "%s/%s", machine, newest.id);
		err = session_lookup(out, session->store, names.items[1]);
	}
	fetch_result_release(&result);
	strlist_release(&names);
	return err;
}

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

static int restore(struct session *session, const struct ckpt_record *record)
{
	static const struct strlist all = STRLIST_INIT;
	const struct show_restore_how how = { .yes = yes };
	struct restore_opts opts = {
		.target = record,
		.kind = JOURNAL_RESTORE,
		.source = JOURNAL_SOURCE,
		.paths = &all,
		.force = force,
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
	char *machine = NULL;
	bool fetched = false;
	const char *wanted = NULL;
	int err = choose_machine(&remote, &wanted, &remotes, session, args);

	if (!err)
		err = handoff_machine(&machine, session, remote, wanted);
	if (!err)
		err = bring(&record, session, remote, machine);
	if (!err)
		err = handoff_fetch_head(&fetched, session, remote, &record);
	if (!err && !opt_common.quiet && !opt_common.json)
		report_plain(stdout, "Taking over %s/%s%s\n", machine, record.id,
			     fetched ? ", with the commit at its HEAD" : "");
	if (!err)
		err = restore(session, &record);
	record_release(&record);
	remotes_release(&remotes);
	free(machine);
	return err;
}

const struct opt_spec cmd_takeover_spec = {
	.command = "takeover",
	.summary = "fetch what another machine handed off, and continue here",
	.args = OPT_ARGS({ { "<remote>" }, 0, 1 }, { { "<machine>" }, 0, 1 }),
	.options = takeover_options,
	.run = takeover,
};
