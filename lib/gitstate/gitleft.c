/* SPDX-License-Identifier: MIT */
/*
 * What a restore of files leaves, and what brings it back. One command does, where the checkpoint
 * has the state of the repository; other branches and stashes have one each. Otherwise, for nested
 * repositories above all, commands lead to the commit and the branch; git checks each of them.
 */
#include "gitstate/gitleft.h"

#include "gitstate/gitforeign.h"

#include "gitstate/gitback_internal.h"
#include "gitstate/gitstate_internal.h"
#include "session/session.h"

/* No list of branches or stashes is longer. */
enum { SHORT_ID = 7, TOLD_MAX = 20 };

/* The repository that is spoken of. */
struct subject {
	struct gitleft *out;
	const char *id; /* of the checkpoint */
	char *in;	/* "in 'lib': ", or "" */
	char *git;	/* how a command line for it begins, with -C if it is below */
};

__attribute__((format(printf, 2, 3))) static void say(const struct subject *subject,
						      const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	strbuf_addstr(&text, subject->in);
	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	strlist_add(&subject->out->tells, text.buf);
	strlist_take(&subject->out->says, strbuf_detach(&text, NULL));
}

/* To programs: people are told in tell_place(). */
static void note(const struct subject *subject, const char *what, const char *detail)
{
	strlist_addf(&subject->out->says, "%s%s%s", subject->in, what, detail);
}

/* `argument` is quoted; NULL: none. */
static void add_command(const struct subject *subject, const char *command, const char *argument)
{
	struct strbuf quoted = STRBUF_INIT;

	if (argument)
		quote_shell(&quoted, argument);
	strlist_addf(&subject->out->commands, "%s %s%s%s", subject->git, command,
		     argument ? " " : "", quoted.buf);
	strbuf_release(&quoted);
}

/* --- HEAD --- */

static bool has_head_changed(const struct repo_state *then, const struct repo_state *now)
{
	return gitstate_differ(then->head, now->head) ||
	       gitstate_differ(then->branch, now->branch) ||
	       gitstate_differ(then->operation, now->operation);
}

/* "on 'main' at 47120d2" */
static void add_place(struct strbuf *out, const struct repo_state *state)
{
	if (state->branch)
		strbuf_addf(out, "on '%s'", state->branch);
	else
		strbuf_addstr(out, "detached");
	if (state->head)
		strbuf_addf(out, " at %.*s", SHORT_ID, state->head);
}

static void tell_place(const struct subject *subject, const struct repo_state *then,
		       const struct repo_state *now)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%sgit is ", subject->in);
	add_place(&text, now);
	strbuf_addstr(&text, ", at the checkpoint it was ");
	add_place(&text, then);
	strlist_take(&subject->out->tells, strbuf_detach(&text, NULL));
}

static void say_head(const struct subject *subject, const struct repo_state *then,
		     const struct repo_state *now)
{
	struct strbuf moved = STRBUF_INIT;

	strbuf_addf(&moved, "%s -> %s", then->head ? then->head : "", now->head ? now->head : "");
	if (gitstate_differ(then->head, now->head) || gitstate_differ(then->branch, now->branch))
		tell_place(subject, then, now);
	if (then->head && now->head && gitstate_differ(then->head, now->head))
		note(subject, "HEAD moved since the checkpoint: ", moved.buf);
	if (now->operation && gitstate_differ(then->operation, now->operation))
		say(subject, "a %s is in progress, which was not at the checkpoint",
		    now->operation);
	else if (then->operation && !now->operation)
		say(subject, "a %s was in progress", then->operation);
	strbuf_reset(&moved);
	strbuf_addf(&moved, "the branch was '%s'", then->branch ? then->branch : "");
	if (gitstate_differ(then->branch, now->branch))
		note(subject, then->branch ? moved.buf : "no branch was checked out", "");
	strbuf_release(&moved);
}

/*
 * To the commit first, and from there to the branch: git refuses to move one that is checked out
 * elsewhere. The commands end every operation but one that was in progress then, too.
 */
static void add_recipe(const struct subject *subject, const struct repo_state *then,
		       const struct repo_state *now)
{
	const char *branch =
		then->branch && strncmp(then->branch, "refs/", 5) ? then->branch : NULL;
	struct strbuf name = STRBUF_INIT;

	if (!then->head || (now->operation && !gitstate_differ(then->operation, now->operation)) ||
	    (!now->operation && !gitstate_differ(then->head, now->head) &&
	     !gitstate_differ(then->branch, now->branch)))
		return;
	if (branch)
		say(subject,
		    "to go back to branch '%s' at %.*s: the files stay, the index becomes "
		    "that of the commit",
		    branch, SHORT_ID, then->head);
	else
		say(subject,
		    "to go back to commit %.*s without a branch: the files stay, the index "
		    "becomes that of the commit",
		    SHORT_ID, then->head);
	if (now->operation && !strcmp(now->operation, "bisect"))
		add_command(subject, "bisect reset HEAD", NULL);
	else if (now->operation)
		strlist_addf(&subject->out->commands, "%s %s --quit", subject->git, now->operation);
	add_command(subject, "update-ref --no-deref HEAD", then->head);
	add_command(subject, "reset", NULL);
	if (branch) {
		quote_shell(&name, branch);
		strlist_addf(&subject->out->commands, "%s branch -f %s %s", subject->git, name.buf,
			     then->head);
		add_command(subject, "switch", branch);
	}
	strbuf_release(&name);
}

/* --- all the rest, where it is recorded --- */

/* --git moves these two itself. */
static bool comes_with_head(const struct gitstate *goal, const char *name)
{
	char *rebased = gitplan_rebased(goal);
	bool comes = !gitstate_differ(name, goal->ref) || !gitstate_differ(name, rebased);

	free(rebased);
	return comes;
}

static void tell_branch(const struct subject *subject, const struct gitstate_ref *then,
			const char *now)
{
	const char *name = repo_short_branch(then->name);
	struct strbuf quoted = STRBUF_INIT;

	if (now)
		say(subject, "branch '%s' moved since the checkpoint: %.*s -> %.*s", name, SHORT_ID,
		    then->oid, SHORT_ID, now);
	else
		say(subject, "branch '%s' (was %.*s) no longer exists", name, SHORT_ID, then->oid);
	quote_shell(&quoted, then->name);
	strlist_addf(&subject->out->commands, "git update-ref %s %s", quoted.buf, then->oid);
	strbuf_release(&quoted);
}

static void tell_stash(const struct subject *subject, const struct gitstate_ref *then)
{
	struct strbuf quoted = STRBUF_INIT;

	say(subject, "stash '%s' was dropped", then->note);
	quote_shell(&quoted, then->note);
	strlist_addf(&subject->out->commands, "git stash store -m %s %s", quoted.buf, then->oid);
	strbuf_release(&quoted);
}

static bool has_stash(const struct gitstate *state, const char *oid)
{
	for (size_t i = 0; i < state->stashes_nr; i++)
		if (!strcmp(state->stashes[i].oid, oid))
			return true;
	return false;
}

static void tell_others(const struct subject *subject, const struct gitstate *now,
			const struct gitstate *goal)
{
	size_t told = 0;

	for (size_t i = 0; i < goal->branches_nr; i++) {
		const struct gitstate_ref *then = &goal->branches[i];
		const char *at = gitplan_branch(now, then->name);

		if (gitstate_differ(at, then->oid) && !comes_with_head(goal, then->name) &&
		    told++ < TOLD_MAX)
			tell_branch(subject, then, at);
	}
	for (size_t i = 0; i < goal->stashes_nr; i++)
		if (!has_stash(now, goal->stashes[i].oid) && told++ < TOLD_MAX)
			tell_stash(subject, &goal->stashes[i]);
	if (told > TOLD_MAX)
		say(subject, "and %zu more branches and stashes", told - TOLD_MAX);
}

/* Where files are restored with the index, that is there already. */
static void tell_recorded(const struct subject *subject, const struct repo *repo,
			  const struct gitstate *now, const struct gitstate *goal, bool index)
{
	const struct gitplan_opts opts = { .what = JOURNAL_GIT };
	struct gitplan plan;
	bool gone;

	gitplan_decide(&plan, now, goal, &opts);
	plan.index = plan.index && !index;
	(void)gitback_compare_index(&gone, &plan, repo, goal);
	if (plan.index && !plan.head && !plan.branches_nr) {
		struct strbuf then = STRBUF_INIT;
		struct gitindex_counts counts;

		gitstate_count(&counts, goal);
		gitplan_describe_index(&then, &counts);
		say(subject, "the index is not as it was: it had %s",
		    then.len ? then.buf : "nothing staged");
		strbuf_release(&then);
	}
	if (!gitplan_is_empty(&plan))
		add_command(subject, "checkpoint restore --git", subject->id);
	if (subject->out->commands.nr)
		say(subject, "left as they are; to bring them back, too");
	gitplan_release(&plan);
}

void gitleft_tell(struct gitleft *out, const struct gitsave *now_known,
		  const struct ckpt_record *target, enum journal_git what, bool part)
{
	const struct repo_state then = { .head = target->head,
					 .branch = target->branch,
					 .operation = target->operation };
	const struct subject subject = { out, target->id, "", "git" };
	const struct session *session = now_known->session;
	const struct repo *repo = session->repo;
	bool recorded;
	struct repo_state head = { 0 };
	struct gitrecord goal = { 0 };
	struct gitstate now = GITSTATE_INIT;

	/* Usually nothing has to be read for this: the safety checkpoint needs it, too. */
	if (!repo || what == JOURNAL_GIT ||
	    (*target->git_hash && now_known->known && !strcmp(now_known->hash, target->git_hash)) ||
	    repo_read_state(&head, repo))
		return;
	recorded = *target->git_hash && !part && !gitrecord_load(&goal, session->store, target) &&
		   !gitstate_read(&now, repo);
	/* Without either there was no repository. */
	if ((then.head || then.branch) && has_head_changed(&then, &head)) {
		say_head(&subject, &then, &head);
		if (!recorded && !part)
			add_recipe(&subject, &then, &head);
	}
	/* This repository never had the branches and stashes of another machine. */
	if (recorded && !gitforeign_is(target))
		tell_others(&subject, &now, &goal.state);
	if (recorded)
		tell_recorded(&subject, repo, &now, &goal.state, what == JOURNAL_INDEX);
	gitstate_release(&now);
	gitrecord_release(&goal);
	repo_state_release(&head);
}

/* --- repositories within the worktree --- */

void gitleft_tell_nested(struct gitleft *out, const struct session *session,
			 const struct nested *nested, bool part)
{
	const struct repo_state *then = &nested->state;
	char *dir = xstrfmt("%s/%s", session->worktree, nested->path);
	struct strbuf path = STRBUF_INIT, here = STRBUF_INIT, quoted = STRBUF_INIT;
	struct subject subject = { .out = out };
	struct repo_state now = { 0 };
	struct repo *repo = NULL;

	quote_path(&path, nested->path);
	session_from_here(&here, session, nested->path);
	quote_shell(&quoted, here.buf);
	subject.in = xstrfmt("in '%s': ", path.buf);
	subject.git = xstrfmt("git -C %s", quoted.buf);
	if (!then->head && !then->branch) {
		/* There was no repository. */
	} else if (repo_open_at(&repo, dir)) {
		say(&subject, "the repository is gone, only its files come back; HEAD was %s",
		    then->head ? then->head : then->branch);
	} else if (!repo_read_state(&now, repo) && has_head_changed(then, &now)) {
		say_head(&subject, then, &now);
		if (!part)
			add_recipe(&subject, then, &now);
	}
	repo_state_release(&now);
	repo_free(repo);
	free(subject.in);
	free(subject.git);
	strbuf_release(&path);
	strbuf_release(&here);
	strbuf_release(&quoted);
	free(dir);
}

void gitleft_release(struct gitleft *left)
{
	strlist_release(&left->says);
	strlist_release(&left->tells);
	strlist_release(&left->commands);
}
