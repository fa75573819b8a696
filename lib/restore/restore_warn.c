/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "session/session.h"

static void warn_kept(struct strlist *out, const struct plan *plan)
{
	struct strbuf quoted = STRBUF_INIT;

	for (size_t i = 0; i < plan->kept_nr; i++) {
		strbuf_reset(&quoted);
		quote_path(&quoted, plan->kept[i].path);
		strlist_addf(out, "Kept: %s (%s)", quoted.buf, plan->kept[i].why);
	}
	strbuf_release(&quoted);
}

static void warn_skips(struct restore_result *out, const struct plan *plan,
		       const struct skip_list *skips)
{
	struct strbuf quoted = STRBUF_INIT;

	for (size_t i = 0; i < skips->nr; i++) {
		if (!skip_why_incomplete(skips->items[i].why))
			continue;
		out->incomplete = true;
		if (plan_keeps(plan, skips->items[i].path))
			continue; /* said already */
		strbuf_reset(&quoted);
		quote_path(&quoted, skips->items[i].path);
		strlist_addf(&out->warnings, "Kept: %s (%s)", quoted.buf,
			     skip_why_name(skips->items[i].why));
	}
	strbuf_release(&quoted);
}

/* What is left as it is of the project's repository, and of those within the worktree. */
static void tell_left(struct restore_result *out, const struct restore *r)
{
	const struct restore_opts *opts = r->opts;
	const struct nested_list *list = &r->target.meta.nested;

	/* What is composed has the repository as it is. */
	if (!*opts->target->composed_for)
		gitleft_tell(&out->head, &r->job.git, opts->target, opts->git.what, opts->paths->nr);
	for (size_t i = 0; i < list->nr; i++) {
		const char *path = list->items[i].path;
		struct gitleft left = { STRLIST_INIT, STRLIST_INIT };

		if (plan_concerns(opts->paths, path))
			gitleft_tell_nested(&left, r->session, &list->items[i],
					    opts->paths->nr && !pathset_covers(opts->paths, path));
		if (!left.says.nr)
			continue;
		ALLOC_GROW(out->nested, out->nested_nr + 1, out->nested_alloc);
		out->nested[out->nested_nr++] = left;
	}
}

void restore_warn(struct restore_result *out, struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;

	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds only state: no file is touched",
			     target->id);
		return;
	}
	tell_left(out, r);
	strlist_extend(&out->warnings, &r->job.current.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.current.scan->skips);
}
