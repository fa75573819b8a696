/* SPDX-License-Identifier: MIT */
#include "captures/capture_internal.h"

#include "session/session.h"

/*
 * The error is set, or not if it succeeded; what follows from the failure and
 * what the command printed are added to it, or become a warning.
 */
static int conclude(struct strlist *warnings, const struct command *command, const char *name,
		    const char *what, const char *hence, int err)
{
	struct strbuf said = STRBUF_INIT;

	if (command)
		command_said(&said, command);
	if (err)
		ckpt_error_set(err, "capture '%s': %s%s%s%s", name, ckpt_error_last(), hence,
			       said.len ? "; it said:" : "", said.buf);
	else if (said.len)
		strlist_addf(warnings, "capture '%s': %s said:%s", name, what, said.buf);
	strbuf_release(&said);
	return err;
}

static int take_piece(const void *data, size_t len, void *payload)
{
	return spool_add(payload, data, len);
}

int capture_save(struct spool *out, struct strlist *warnings, struct session *session,
		 const struct capture_def *def)
{
	struct command_opts opts = {
		.command = def->save,
		.name = "the save command",
		.dir = session->worktree,
		.timeout = def->timeout,
		.take = take_piece,
		.payload = out,
	};
	struct command *command = NULL;
	int err;

	if (!def->save)
		return ckpt_error_set(CKPT_ERROR, "capture '%s' has no save command; see git-checkpoint-config(5)",
				      def->name);
	err = spool_open(out, session);
	if (err)
		return err;
	err = command_start(&command, &opts);
	if (!err)
		err = command_finish(command);
	err = conclude(warnings, command, def->name, opts.name, ", so no checkpoint was taken",
		       err);
	command_free(command);
	return err ? err : spool_close(out);
}

static int feed_piece(const void *data, size_t len, void *payload)
{
	return command_write(payload, data, len);
}

int capture_replay(struct strlist *warnings, struct session *session, const struct capture_def *def,
		   const struct ckpt_capture *capture)
{
	struct command_opts opts = {
		.command = def->restore,
		.name = "the restore command",
		.dir = session->worktree,
		.timeout = def->timeout,
	};
	struct command *command = NULL;
	int err = command_start(&command, &opts);

	if (!err)
		err = objects_stream(session->store, &capture->oid, feed_piece, command);
	if (!err)
		err = command_finish(command);
	err = conclude(warnings, command, def->name, opts.name, "", err);
	command_free(command);
	return err;
}

int capture_check(struct session *session, const struct ckpt_captures *captures,
		  struct oidset *sound)
{
	for (size_t i = 0; i < captures->nr; i++) {
		const struct oid *oid = &captures->items[i].oid;
		int err = sound && oidset_has(sound, oid) ? 0 : objects_check(session->store, oid);

		if (err && err != CKPT_ECANCELLED)
			return ckpt_error_prefix(CKPT_ECORRUPT, "capture '%s'",
						 captures->items[i].name);
		if (err)
			return err;
		if (sound)
			oidset_add(sound, oid);
	}
	return 0;
}
