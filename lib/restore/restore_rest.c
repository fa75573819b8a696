/* SPDX-License-Identifier: MIT */
#include "restore/restore_head_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "restore/restore_internal.h"
#include "session/session.h"

/* No list of branches or stashes is longer. */
enum { SHORT_ID = 7, TOLD_MAX = 20 };

static const char *short_name(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/* --- what to say: from what was and what is, nothing else --- */

/* `said` is a sentence, `command` does something about it; both become the list's. */
static void tell(struct restore_head *out, char *said, char *command, const char *does)
{
	strlist_addf(&out->says, "%s; '%s' %s", said, command, does);
	strlist_take(&out->also, command);
	free(said);
}

static void tell_branch(struct restore_head *out, const struct gitstate_ref *then, const char *now,
			bool checked_out, bool lost)
{
	struct strbuf name = STRBUF_INIT;
	char *said = now ? xstrfmt("branch '%s' was at %.*s then and is at %.*s now",
				   short_name(then->name), SHORT_ID, then->oid, SHORT_ID, now)
			 : xstrfmt("branch '%s', which was at %.*s then, is gone",
				   short_name(then->name), SHORT_ID, then->oid);

	if (lost) {
		strlist_addf(&out->says, "%s; that commit is no longer in the repository", said);
		free(said);
		return;
	}
	quote_shell(&name, now && checked_out ? then->name : short_name(then->name));
	if (!now)
		tell(out, said, xstrfmt("git branch %s %s", name.buf, then->oid), "makes it again");
	else if (checked_out)
		tell(out, said, xstrfmt("git update-ref %s %s %s", name.buf, then->oid, now),
		     "moves it back");
	else
		tell(out, said, xstrfmt("git branch -f %s %s", name.buf, then->oid),
		     "moves it back");
	strbuf_release(&name);
}

static void tell_stash(struct restore_head *out, const struct gitstate_ref *then, bool lost)
{
	const char *note = then->note ? then->note : "";
	char *said = xstrfmt("stash '%s' was dropped", note);
	struct strbuf quoted = STRBUF_INIT;

	quote_shell(&quoted, note);
	if (lost) {
		strlist_addf(&out->says, "%s; its commit %s is no longer in the repository", said,
			     then->oid);
		free(said);
	} else {
		tell(out, said,
		     xstrfmt("git stash store %s%s%s", then->oid, *note ? " -m " : "",
			     *note ? quoted.buf : ""),
		     "brings it back");
	}
	strbuf_release(&quoted);
}

/* --git moves these two itself. */
static bool comes_with_head(const struct gitstate *goal, const char *name)
{
	char *rebased = gitplan_rebased(goal);
	bool comes = !differ(name, goal->ref) || !differ(name, rebased);

	free(rebased);
	return comes;
}

static bool has_stash(const struct gitstate *state, const char *oid)
{
	for (size_t i = 0; i < state->stashes_nr; i++)
		if (!strcmp(state->stashes[i].oid, oid))
			return true;
	return false;
}

static void tell_others(struct restore_head *out, const struct gitstate *now,
			const struct gitstate *goal, const struct strlist *lost)
{
	size_t told = 0, more = 0;

	for (size_t i = 0; i < goal->branches_nr; i++) {
		const struct gitstate_ref *then = &goal->branches[i];
		const char *at = gitplan_branch(now, then->name);

		if (!differ(at, then->oid) || comes_with_head(goal, then->name))
			continue;
		if (told++ < TOLD_MAX)
			tell_branch(out, then, at, !differ(then->name, now->ref),
				    strlist_has(lost, then->oid));
		else
			more++;
	}
	for (size_t i = 0; i < goal->stashes_nr; i++) {
		if (has_stash(now, goal->stashes[i].oid))
			continue;
		if (told++ < TOLD_MAX)
			tell_stash(out, &goal->stashes[i], strlist_has(lost, goal->stashes[i].oid));
		else
			more++;
	}
	if (more)
		strlist_addf(&out->says, "so it is with %zu more branches and stashes", more);
}

static void describe(struct strbuf *out, const struct gitstate_counts *counts)
{
	static const char *const names[] = { "staged", "unmerged", "intended" };
	const size_t numbers[] = { counts->staged, counts->unmerged, counts->intent_to_add };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i])
			strbuf_addf(out, "%s%zu %s %s", out->len ? ", " : "", numbers[i], names[i],
				    numbers[i] == 1 ? "file" : "files");
	if (!out->len)
		strbuf_addstr(out, "nothing staged");
}

static void tell_index(struct restore_head *out, const struct gitstate *now,
		       const struct gitstate *goal)
{
	struct strbuf then_text = STRBUF_INIT, now_text = STRBUF_INIT;
	struct gitstate_counts then_counts, now_counts;

	gitstate_count(&then_counts, goal);
	gitstate_count(&now_counts, now);
	describe(&then_text, &then_counts);
	describe(&now_text, &now_counts);
	if (strbuf_equal(&then_text, &now_text))
		strlist_add(&out->says, "the index was different then");
	else
		strlist_addf(&out->says, "the index had %s then, and has %s now", then_text.buf,
			     now_text.buf);
	strbuf_release(&then_text);
	strbuf_release(&now_text);
}

/* --- what is --- */

/* Commits of branches and stashes that are gone from the repository. */
static int find_lost(struct strlist *out, const struct repo *repo, const struct gitstate *goal)
{
	struct strlist oids = STRLIST_INIT;
	int err;

	for (size_t i = 0; i < goal->branches_nr; i++)
		strlist_add(&oids, goal->branches[i].oid);
	for (size_t i = 0; i < goal->stashes_nr; i++)
		strlist_add(&oids, goal->stashes[i].oid);
	err = gitwrite_missing(out, repo, &oids);
	strlist_release(&oids);
	return err;
}

/*
 * Name the one command that brings back what it can, as the last one; `announced` is the sentence
 * about those before it, or NULL.
 */
static void lead(struct restore_head *out, struct restore *r, const struct gitstate *now,
		 const struct gitstate *goal, const char *announced)
{
	const struct gitplan_opts opts = { .what = JOURNAL_GIT };
	struct gitplan plan;

	gitplan_decide(&plan, now, goal, &opts);
	/* --index brings that back itself. */
	if (r->opts->git == JOURNAL_INDEX)
		plan.index = false;
	(void)restore_git_compare_index(&plan, r->session->repo, now, goal);
	if (plan.index && !plan.head && !plan.branches_nr)
		tell_index(out, now, goal);
	if (!gitplan_is_empty(&plan) && out->whole) {
		if (out->commands.nr)
			strlist_addf(&out->says, "%s; the last command alone brings back all of it",
				     announced);
		else
			strlist_addf(&out->says,
				     "left as they are: HEAD%s what git was doing; to bring %s",
				     r->opts->git == JOURNAL_INDEX ? " and" : ", the index and",
				     "them back, too");
		strlist_addf(&out->commands, "git checkpoint restore --git %s",
			     r->opts->target->id);
	} else if (announced && out->commands.nr) {
		strlist_add(&out->says, announced);
	}
	gitplan_release(&plan);
}

void restore_rest_look(struct restore_head *out, struct restore *r, const struct repo_state *then)
{
	const struct ckpt_record *target = r->opts->target;
	const struct repo *repo = r->session->repo;
	struct record_git goal = { 0 };
	struct gitstate now = { 0 };
	struct strlist lost = STRLIST_INIT;
	char hash[STATEHASH_SIZE];
	bool recorded = repo && *target->git_hash;
	bool same = recorded && r->job.git.known && !strcmp(r->job.git.hash, target->git_hash);

	/* Usually nothing has to be read for this: the safety checkpoint needs it, too. */
	recorded = recorded && !same && !record_git_load(&goal, r->session->store, target) &&
		   !gitstate_read(&now, repo);
	if (!same)
		restore_head_look(out, repo, then, recorded);
	if (recorded && strcmp(record_git_hash(hash, &now), target->git_hash) &&
	    !find_lost(&lost, repo, &goal.state)) {
		char *announced = out->commands.nr ? out->says.items[--out->says.nr] : NULL;

		/* They would change the index that has just come back. */
		if (r->opts->git == JOURNAL_INDEX && out->whole)
			strlist_release(&out->commands);
		tell_others(out, &now, &goal.state, &lost);
		lead(out, r, &now, &goal.state, announced);
		free(announced);
	}
	strlist_release(&lost);
	gitstate_release(&now);
	record_git_release(&goal);
}
