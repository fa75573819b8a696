/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "restore/restore_head_internal.h"
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

void restore_warn(struct restore_result *out, struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;
	const struct repo_state then = { .head = target->head,
					 .branch = target->branch,
					 .operation = target->operation };

	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds only state: no file is touched",
			     target->id);
		return;
	}
	if (*target->composed_for) {
		/* It has the repository as it is. */
	} else if (r->opts->paths->nr) {
		restore_head_look(&out->head, r->session->repo, &then, false);
		restore_head_cut(&out->head);
	} else if (r->opts->git != JOURNAL_GIT) {
		restore_rest_look(&out->head, r, &then);
	}
	restore_warn_nested(out, r);
	strlist_extend(&out->warnings, &r->job.current.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.current.scan->skips);
}
