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

void restore_warn(struct restore_result *out, struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;

	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds only state: no file is touched",
			     target->id);
		return;
	}
	restore_tell_rest(out, r);
	strlist_extend(&out->warnings, &r->job.current.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.current.scan->skips);
}
