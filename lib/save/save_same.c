/* SPDX-License-Identifier: MIT */
#include "save/save_same_internal.h"

#include "base/base.h"
#include "record/record.h"
#include "save/save.h"

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* A commit, another branch, or what is staged is another state, though no file differs. */
static bool same_project(const struct save_job *save)
{
	return save->opts->state_only || gitsave_is_same(&save->git, &save->newest);
}

/* The same goes for repositories within it. */
static bool same_nested(const struct save_job *save)
{
	return nested_same(&save->newest_meta.nested, &save->meta.nested);
}

/* False if it may go before the one that is asked for would. */
static bool newest_serves(const struct save_job *save)
{
	const struct save_opts *opts = save->opts;
	const struct ckpt_record *newest = &save->newest;

	/* At any time, and restore refuses it. */
	if (record_expired(newest, clock_now()))
		return false;
	if (newest->pinned || opts->automatic || opts->safety_for)
		return true;
	/* An automatic one thins out, and what somebody asked for must not. */
	return !newest->automatic && (!newest->expiry || opts->expiry);
}

/* What the command line asks for, apart from files. */
static bool request_is_new(const struct save_job *save)
{
	const struct save_opts *opts = save->opts;

	if (!save->have_newest || opts->allow_empty)
		return true;
	if (!newest_serves(save))
		return true;
	if (!save->newest_is_latest || !same_project(save))
		return true;
	if (opts->step >= 0 && opts->step != save->newest.step)
		return true;
	if (opts->said && !opts->automatic && strcmp(opts->reason, save->newest.reason))
		return true;
	if (opts->pin && !save->newest.pinned)
		return true;
	if (opts->name && !same_text(opts->name, save->newest.name))
		return true;
	return extras_are_new(&opts->extras, &save->meta, &save->newest_meta, opts->state_only);
}

/* The same paths could not be captured, for the same reasons. */
static bool same_missing(const struct skip_list *a, const struct skip_list *b)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < a->nr && !skip_why_incomplete(a->items[i].why))
			i++;
		while (j < b->nr && !skip_why_incomplete(b->items[j].why))
			j++;
		if (i == a->nr || j == b->nr)
			return i == a->nr && j == b->nr;
		if (a->items[i].why != b->items[j].why || strcmp(a->items[i].path, b->items[j].path))
			return false;
		i++;
		j++;
	}
}

bool save_untouched(const struct save_job *save)
{
	const struct oid *cached = worktree_state_cached_commit(&save->current);

	return save->current.untouched && !request_is_new(save) && same_nested(save) &&
	       oid_equal(cached, &save->newest.commit) &&
	       same_missing(&save->current.scan->skips, &save->newest_meta.skips);
}

bool save_same_state(const struct save_job *save)
{
	if (save->opts->state_only)
		return !request_is_new(save);
	return !request_is_new(save) && same_nested(save) &&
	       oid_equal(&save->current.scan->root->tree, &save->newest.tree) &&
	       save->meta.modes.len == save->newest_meta.modes.len &&
	       !memcmp(save->meta.modes.buf, save->newest_meta.modes.buf, save->meta.modes.len) &&
	       same_missing(&save->current.scan->skips, &save->newest_meta.skips);
}
