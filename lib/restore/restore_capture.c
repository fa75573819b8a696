/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"
#include "session/session.h"

const char *restore_capture_status_name(enum restore_capture_status status)
{
	static const char *const names[] = {
		[RESTORE_CAPTURE_PLANNED] = "planned",
		[RESTORE_CAPTURE_DONE] = "restored",
		[RESTORE_CAPTURE_FAILED] = "failed",
		[RESTORE_CAPTURE_UNCONFIGURED] = "not configured",
		[RESTORE_CAPTURE_LEFT] = "not replayed",
	};

	return names[status];
}

bool restore_captures_failed(const struct restore_result *result)
{
	for (size_t i = 0; i < result->captures_nr; i++)
		if (result->captures[i].status != RESTORE_CAPTURE_DONE && result->done)
			return true;
	return false;
}

static const struct capture_def *find_command(const struct restore *r, const char *name)
{
	const struct capture_def *def = capture_defs_find(&r->defs, name);

	return def && def->restore ? def : NULL;
}

/*
 * Those of the checkpoint. Not for named paths: undo and redo of such a restore
 * lead to checkpoints without captures, since a safety checkpoint takes exactly
 * what is restored. Going back before anything was restored needs none either.
 */
static bool come_back(const struct restore *r)
{
	if (journal_kind_is_new(r->opts->kind) && r->opts->paths->nr)
		return false;
	return !r->opts->abort || r->journal.replaying;
}

int restore_open_captures(struct restore *r)
{
	int err;

	if (!r->target.meta.captures.nr || !come_back(r))
		return 0;
	/* Takes them over. */
	r->captures = r->target.meta.captures;
	memset(&r->target.meta.captures, 0, sizeof(r->captures));
	err = capture_load(&r->defs, r->session);
	for (size_t i = 0; i < r->captures.nr && !err; i++)
		if (find_command(r, r->captures.items[i].name))
			strlist_add(&r->replayed, r->captures.items[i].name);
	return err;
}

void restore_close_captures(struct restore *r)
{
	capture_defs_release(&r->defs);
	record_captures_release(&r->captures);
	strlist_release(&r->replayed);
}

void restore_plan_captures(struct restore_result *out, struct restore *r)
{
	strlist_release(&r->plan.captures);
	strlist_extend(&r->plan.captures, &r->replayed);
	out->captures = xcalloc(r->captures.nr ? r->captures.nr : 1, sizeof(*out->captures));
	out->captures_nr = r->captures.nr;
	for (size_t i = 0; i < r->captures.nr; i++) {
		struct restore_capture *capture = &out->captures[i];

		capture->name = xstrdup(r->captures.items[i].name);
		capture->status = RESTORE_CAPTURE_PLANNED;
		if (find_command(r, capture->name))
			continue;
		capture->status = RESTORE_CAPTURE_UNCONFIGURED;
		strlist_addf(&out->warnings, "capture '%s' no longer has a restore command and is left as "
					     "it is",
			     capture->name);
	}
}

int restore_save_captures(struct restore_result *out, struct restore *r)
{
	int err = capture_check(r->session, &r->captures, NULL);

	if (err == CKPT_ECANCELLED)
		return err;
	if (err)
		return ckpt_error_prefix(CKPT_ECORRUPT, "checkpoint '%s' is damaged",
					 r->opts->target->id);
	err = extras_take(&r->job);
	if (!err || err == CKPT_ECANCELLED)
		return err;
	if (!r->journal.replaying)
		return ckpt_error_prefix(CKPT_EREFUSED, RESTORE_NO_SAFETY);
	/*
	 * Half restored, it may not be in a state to be saved; the state before is in a checkpoint.
	 */
	strlist_addf(&out->warnings, "the current state could not be saved: %s", ckpt_error_last());
	extras_release(&r->job);
	record_captures_release(&r->job.meta.captures);
	return 0;
}

static int replay_one(struct restore_result *out, struct restore *r, size_t index)
{
	struct restore_capture *capture = &out->captures[index];
	int err = capture_replay(&out->warnings, r->session, find_command(r, capture->name),
				 &r->captures.items[index]);

	if (err == CKPT_ECANCELLED)
		return err;
	capture->status = err ? RESTORE_CAPTURE_FAILED : RESTORE_CAPTURE_DONE;
	if (err)
		strlist_add(&out->warnings, ckpt_error_last());
	return 0;
}

int restore_replay(struct restore_result *out, struct restore *r)
{
	bool stop = out->verified && !out->match;
	int err = r->replayed.nr && !stop ? restore_note_replay(r) : 0;

	for (size_t i = 0; i < out->captures_nr && !err; i++) {
		if (out->captures[i].status != RESTORE_CAPTURE_PLANNED)
			continue;
		if (stop)
			out->captures[i].status = RESTORE_CAPTURE_LEFT;
		else
			err = replay_one(out, r, i);
	}
	return err;
}
