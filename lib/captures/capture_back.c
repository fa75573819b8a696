/* SPDX-License-Identifier: MIT */
#include "captures/capture_internal.h"

const char *capture_status_name(enum capture_status status)
{
	static const char *const names[] = {
		[CAPTURE_PLANNED] = "planned",	 [CAPTURE_DONE] = "restored",
		[CAPTURE_FAILED] = "failed",	 [CAPTURE_UNCONFIGURED] = "not configured",
		[CAPTURE_LEFT] = "not replayed",	 [CAPTURE_FOREIGN] = "foreign",
	};

	return names[status];
}

void capture_outcomes_release(struct capture_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->nr; i++)
		free(outcomes->items[i].name);
	free(outcomes->items);
	memset(outcomes, 0, sizeof(*outcomes));
}

static const struct capture_def *find_command(const struct capture_back *back, const char *name)
{
	const struct capture_def *def = capture_defs_find(&back->defs, name);

	return def && def->restore ? def : NULL;
}

int capture_back_open(struct capture_back *back, struct session *session, struct ckpt_meta *meta)
{
	int err;

	if (!meta->captures.nr)
		return 0;
	back->captures = meta->captures;
	memset(&meta->captures, 0, sizeof(meta->captures));
	err = capture_load(&back->defs, session);
	for (size_t i = 0; i < back->captures.nr && !back->foreign && !err; i++)
		if (find_command(back, back->captures.items[i].name))
			strlist_add(&back->replayed, back->captures.items[i].name);
	return err;
}

void capture_back_close(struct capture_back *back)
{
	capture_defs_release(&back->defs);
	record_captures_release(&back->captures);
	strlist_release(&back->replayed);
}

void capture_back_plan(struct capture_outcomes *out, struct strlist *warnings,
		       const struct capture_back *back)
{
	out->nr = back->captures.nr;
	out->items = xcalloc(out->nr + 1, sizeof(*out->items));
	for (size_t i = 0; i < out->nr; i++) {
		struct capture_outcome *item = &out->items[i];

		item->name = xstrdup(back->captures.items[i].name);
		item->status = back->foreign ? CAPTURE_FOREIGN : CAPTURE_PLANNED;
		if (back->foreign)
			strlist_addf(warnings,
				     "capture '%s' comes from elsewhere and is left alone; with "
				     "--captures your own command gets it",
				     item->name);
		if (back->foreign || find_command(back, item->name))
			continue;
		item->status = CAPTURE_UNCONFIGURED;
		strlist_addf(warnings,
			     "capture '%s' no longer has a restore command and is left as it is",
			     item->name);
	}
}

int capture_back_replay(struct capture_outcomes *out, struct strlist *warnings,
			struct session *session, const struct capture_back *back, bool left)
{
	for (size_t i = 0; i < out->nr; i++) {
		struct capture_outcome *item = &out->items[i];
		int err = 0;

		if (item->status != CAPTURE_PLANNED)
			continue;
		if (!left)
			err = capture_replay(warnings, session, find_command(back, item->name),
					     &back->captures.items[i]);
		if (err == CKPT_ECANCELLED)
			return err;
		if (err)
			strlist_add(warnings, ckpt_error_last());
		item->status = left ? CAPTURE_LEFT : err ? CAPTURE_FAILED : CAPTURE_DONE;
	}
	return 0;
}
