/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/*
 * On another commit the restored files are changes for git, and "git switch"
 * would refuse to take them along, or change them. So HEAD is moved without
 * them, and no branch is.
 */
static void warn_branch(struct strlist *out, const struct ckpt_record *target,
			const struct repo_state *now, const struct repo *repo)
{
	bool same_commit = !differ(target->head, now->head) && !now->operation;
	struct strbuf ref = STRBUF_INIT, quoted = STRBUF_INIT;
	const char *heads;
	char *tip;

	if (!target->branch) {
		if (same_commit)
			strlist_add(out, "no branch was checked out then; to detach HEAD again: git switch --detach");
		else
			strlist_addf(out, "no branch was checked out then; to detach HEAD again and keep the files: "
					  "git update-ref --no-deref HEAD %s && git reset",
				     target->head);
		return;
	}
	/* What is not a branch was recorded with its full name. */
	heads = strncmp(target->branch, "refs/", 5) ? "refs/heads/" : "";
	strbuf_addf(&ref, "%s%s", heads, target->branch);
	tip = repo_ref(repo, ref.buf);
	if (same_commit && *heads && now->head && !differ(tip, now->head)) {
		quote_shell(&quoted, target->branch);
		strlist_addf(out, "the branch was '%s' then; to go back to it: git switch %s",
			     target->branch, quoted.buf);
	} else {
		quote_shell(&quoted, ref.buf);
		strlist_addf(out, "the branch was '%s' then; to go back to it and keep the files: "
				  "git symbolic-ref HEAD %s && git reset",
			     target->branch, quoted.buf);
	}
	free(tip);
	strbuf_release(&ref);
	strbuf_release(&quoted);
}

static void warn_operation(struct strlist *out, const char *then, const char *now)
{
	if (now && differ(then, now))
		strlist_addf(out, "a %s is in progress now, but was not then; 'git %s %s' forgets "
				  "it", now,
			     now, strcmp(now, "bisect") ? "--quit" : "reset HEAD");
	else if (then && !now)
		strlist_addf(out, "a %s was in progress then", then);
}

static void warn_project(struct strlist *out, const struct session *session,
			 const struct ckpt_record *target)
{
	struct repo_state now = { 0 };

	if (!session->repo || repo_read_state(&now, session->repo))
		return;
	if (target->head && now.head && strcmp(target->head, now.head))
		strlist_addf(out, "HEAD moved since the checkpoint: %s -> %s", target->head, now.head);
	/* Before the others: forgetting a bisect detaches HEAD. */
	warn_operation(out, target->operation, now.operation);
	/* Without either there was no repository then. */
	if ((target->branch || target->head) && differ(target->branch, now.branch))
		warn_branch(out, target, &now, session->repo);
	else if (target->head && now.head && strcmp(target->head, now.head))
		strlist_addf(out, "'git reset %s' moves HEAD back and keeps the files",
			     target->head);
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
	if (restore_is_state_only(r)) {
		strlist_addf(&out->warnings, "checkpoint '%s' holds only state: no file is touched",
			     r->opts->target->id);
		return;
	}
	warn_project(&out->warnings, r->session, r->opts->target);
	strlist_extend(&out->warnings, &r->job.current.notes);
	warn_kept(&out->warnings, &r->plan);
	warn_skips(out, &r->plan, &r->job.current.scan->skips);
}
