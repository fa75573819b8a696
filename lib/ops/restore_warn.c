/* SPDX-License-Identifier: MIT */
#include "ops/restore_run.h"

#include "base/quote.h"
#include "ops/session.h"
#include "worktree/repo.h"

#include <stdlib.h>
#include <string.h>

static void warn_project(struct strlist *out, const struct session *session,
			 const struct ckpt_record *target)
{
	struct repo_state now = { 0 };

	if (!session->repo || repo_read_state(&now, session->repo))
		return;
	if (target->head && now.head && strcmp(target->head, now.head))
		strlist_addf(out, "HEAD moved since the checkpoint: %s -> %s", target->head, now.head);
	if (target->branch && (!now.branch || strcmp(target->branch, now.branch)))
		strlist_addf(out, "the branch was '%s' then; 'git switch %s' goes back to it",
			     target->branch, target->branch);
	else if (target->head && now.head && strcmp(target->head, now.head))
		strlist_addf(out, "'git reset %s' moves HEAD back and keeps the files",
			     target->head);
	if (now.operation && (!target->operation || strcmp(target->operation, now.operation)))
		strlist_addf(out, "a %s is in progress that was not then; 'git %s --quit' forgets it",
			     now.operation, now.operation);
	else if (target->operation && !now.operation)
		strlist_addf(out, "a %s was in progress then", target->operation);
	repo_state_release(&now);
}

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

static bool is_kept(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->kept_nr; i++)
		if (!strcmp(plan->kept[i].path, path))
			return true;
	return false;
}

static void warn_skips(struct restore_result *out, const struct plan *plan,
		       const struct skip_list *skips)
{
	struct strbuf quoted = STRBUF_INIT;

	for (size_t i = 0; i < skips->nr; i++) {
		if (!skip_why_incomplete(skips->items[i].why))
			continue;
		out->incomplete = true;
		if (is_kept(plan, skips->items[i].path))
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
	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds state alone: no file is touched",
			     r->opts->target->id);
		return;
	}
	warn_project(&out->warnings, r->session, r->opts->target);
	strlist_extend(&out->warnings, &r->job.capture.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.capture.scan->skips);
}
