/* SPDX-License-Identifier: MIT */
#include "restore/restore_head_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "record/record.h"

enum { SHORT_ID = 12 };

/* What HEAD was and what it is; NULL: none. */
struct view {
	const char *then_head, *then_branch, *then_operation;
	const struct repo_state *now;
	char *tip;	 /* where that branch is now */
	char *elsewhere; /* another worktree that has it checked out now */
	bool lost;	 /* that commit no longer exists */
	bool recorded;	 /* the checkpoint has the whole state of git */
};

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/* What is not a branch was recorded with its full name. */
static bool is_branch(const char *branch)
{
	return strncmp(branch, "refs/", 5) != 0;
}

static char *full_name(const char *branch)
{
	return xstrfmt("%s%s", is_branch(branch) ? "refs/heads/" : "", branch);
}

static void add_command(struct restore_head *out, const char *command, const char *argument)
{
	struct strbuf quoted = STRBUF_INIT;

	quote_shell(&quoted, argument);
	strlist_addf(&out->commands, "%s %s", command, quoted.buf);
	strbuf_release(&quoted);
}

/* --- what to do: from what was and what is, nothing else --- */

static void say_operation(struct restore_head *out, const char *then, const char *now)
{
	if (now && differ(then, now)) {
		strlist_addf(&out->says, "a %s is in progress now, but was not then", now);
		strlist_addf(&out->commands, "git %s %s", now,
			     strcmp(now, "bisect") ? "--quit" : "reset HEAD");
	} else if (then && !now) {
		strlist_addf(&out->says, "a %s was in progress then", then);
	}
}

/* Of an operation that goes on, "git reset" would forget these. */
static void say_reset(struct restore_head *out, const struct view *view)
{
	const char *now = view->now->operation;

	if (now && !differ(view->then_operation, now) &&
	    (!strcmp(now, "merge") || !strcmp(now, "cherry-pick") || !strcmp(now, "revert")))
		strlist_addf(&out->says, "these commands end the %s that is in progress", now);
}

static void lead(struct restore_head *out, const char *where, const char *index)
{
	strlist_addf(&out->says, "to go back to %s: the files stay, the index %s", where, index);
}

static const char *const index_of_commit = "becomes that of the commit";

static void go_detached(struct restore_head *out, const struct view *view)
{
	bool same = !differ(view->then_head, view->now->head) && !view->now->operation;
	char *where = xstrfmt("commit %.*s without a branch", SHORT_ID, view->then_head);

	say_reset(out, view);
	lead(out, where, same ? "too" : index_of_commit);
	if (same) {
		strlist_add(&out->commands, "git switch --detach");
	} else {
		add_command(out, "git update-ref --no-deref HEAD", view->then_head);
		strlist_add(&out->commands, "git reset");
	}
	free(where);
}

static void go_branch(struct restore_head *out, const struct view *view)
{
	const struct repo_state *now = view->now;
	const char *branch = view->then_branch, *head = view->then_head;
	bool same = is_branch(branch) && !now->operation && !differ(head, now->head) &&
		    !differ(head, view->tip);
	char *ref = full_name(branch),
	     *where = xstrfmt("branch '%s' at %.*s", branch, SHORT_ID, head);

	if (!view->tip)
		strlist_addf(&out->says, "branch '%s' does not exist now", branch);
	else if (differ(view->tip, head))
		strlist_addf(
			&out->says,
			"branch '%s' is at %s now; its reflog and ORIG_HEAD will have that commit",
			branch, view->tip);
	say_reset(out, view);
	lead(out, where, same ? "too" : index_of_commit);
	if (same) {
		add_command(out, "git switch", branch);
	} else {
		/* "git reset" also makes the branch, if there is none. */
		if (differ(branch, now->branch) || now->operation)
			add_command(out, "git symbolic-ref HEAD", ref);
		add_command(out, "git reset", head);
	}
	free(where);
	free(ref);
}

/* To a branch without a commit. One that has commits now gets another name, which loses nothing. */
static void go_unborn(struct restore_head *out, const struct view *view)
{
	const char *branch = view->then_branch;
	char *ref = full_name(branch), *where = xstrfmt("branch '%s' without a commit", branch);
	bool emptied = view->now->head || view->now->operation;

	lead(out, where, emptied ? "is emptied" : "too");
	if (view->tip) {
		struct strbuf quoted = STRBUF_INIT;
		char *other = xstrfmt("%s-%.*s", branch, SHORT_ID, view->tip);

		quote_shell(&quoted, branch);
		strbuf_addch(&quoted, ' ');
		quote_shell(&quoted, other);
		strlist_addf(&out->commands, "git branch -m %s", quoted.buf);
		strbuf_release(&quoted);
		free(other);
	}
	add_command(out, "git symbolic-ref HEAD", ref);
	if (emptied)
		strlist_add(&out->commands, "git read-tree --empty");
	free(where);
	free(ref);
}

static void decide(struct restore_head *out, const struct view *view)
{
	const struct repo_state *now = view->now;
	bool moved = differ(view->then_head, now->head),
	     switched = differ(view->then_branch, now->branch);

	/* One command does it all, unless something prevents that. */
	out->whole = view->recorded && !view->lost && !view->elsewhere;
	/* Without either there was no repository then. */
	if (!view->then_head && !view->then_branch)
		return;
	if (view->then_head && now->head && moved)
		strlist_addf(&out->says, "HEAD moved since the checkpoint: %s -> %s",
			     view->then_head, now->head);
	/* Before the others: to forget a bisect detaches HEAD. */
	say_operation(out, view->then_operation, now->operation);
	if (switched && view->then_branch)
		strlist_addf(&out->says, "the branch was '%s' then", view->then_branch);
	else if (switched)
		strlist_add(&out->says, "no branch was checked out then");
	if (!moved && !switched && !out->commands.nr)
		return;
	if (view->lost) {
		strlist_addf(&out->says, "commit %s is no longer in the repository",
			     view->then_head);
		strlist_release(&out->commands);
		return;
	}
	if (view->elsewhere)
		strlist_addf(&out->says, "branch '%s' is checked out in '%s' now",
			     view->then_branch, view->elsewhere);
	if (!view->then_head)
		go_unborn(out, view);
	else if (!view->then_branch || view->elsewhere)
		go_detached(out, view);
	else
		go_branch(out, view);
}

/* --- what is --- */

static char *line_of(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (end)
		*end++ = '\0';
	*text = end ? end : line + strlen(line);
	return line;
}

/* Where the branch of then is now; git alone knows it for each way to store refs. */
static void look_at_branch(struct view *view, const struct repo *repo)
{
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	char *ref = full_name(view->then_branch);
	const char *const args[] = { "for-each-ref",
				     "--format=%(refname)%0a%(objectname)%0a%(worktreepath)", ref,
				     NULL };
	struct strbuf answer = STRBUF_INIT;
	char *at, *path;

	if (!askgit_check_ref(repo->commondir, ref) && !askgit(&answer, &how, args) && answer.len) {
		at = answer.buf;
		if (!strcmp(line_of(&at), ref)) {
			view->tip = xstrdup(line_of(&at));
			path = line_of(&at);
			if (*path && differ(view->then_branch, view->now->branch))
				view->elsewhere = xstrdup(path);
		}
	}
	strbuf_release(&answer);
	free(ref);
}

static bool is_lost(const char *commit, const struct repo *repo)
{
	const struct gitrun how = { .gitdir = repo->gitdir, .worktree = repo->worktree };
	char *name = xstrfmt("%s^{commit}", commit);
	const char *const args[] = { "rev-parse", "-q", "--verify", name, NULL };
	struct strbuf answer = STRBUF_INIT;
	bool lost = askgit(&answer, &how, args) || !answer.len;

	strbuf_release(&answer);
	free(name);
	return lost;
}

void restore_head_look(struct restore_head *out, const struct repo *repo,
		       const struct repo_state *then, bool recorded)
{
	struct repo_state now = { 0 };
	struct view view = { .then_head = then->head,
			     .then_branch = then->branch,
			     .then_operation = then->operation,
			     .now = &now,
			     .recorded = recorded };

	if (!repo || repo_read_state(&now, repo))
		return;
	out->whole = recorded;
	if (differ(then->head, now.head) || differ(then->branch, now.branch) ||
	    differ(then->operation, now.operation)) {
		if (then->branch)
			look_at_branch(&view, repo);
		view.lost = then->head && is_lost(then->head, repo);
		decide(out, &view);
	}
	free(view.tip);
	free(view.elsewhere);
	repo_state_release(&now);
}

void restore_head_cut(struct restore_head *head)
{
	strlist_release(&head->commands);
	while (head->says.nr > 1)
		free(head->says.items[--head->says.nr]);
}

void restore_head_release(struct restore_head *head)
{
	strlist_release(&head->says);
	strlist_release(&head->commands);
	strlist_release(&head->also);
}
