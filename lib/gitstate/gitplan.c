/* SPDX-License-Identifier: MIT */
#include "gitstate/gitplan.h"

#include "gitstate/gitstate_internal.h"

enum { SHORT_ID = 7 };

#define ARROW "\xe2\x86\x92"

void gitplan_release(struct gitplan *plan)
{
	gitwrite_refs_release(&plan->refs);
	strlist_release(&plan->config);
	free(plan->config_branch);
	free(plan->moved);
	memset(plan, 0, sizeof(*plan));
}

void gitplan_facts_release(struct gitplan_facts *facts)
{
	free(facts->lock);
	free(facts->link);
	free(facts->elsewhere);
	free(facts->elsewhere_ref);
	free(facts->alias);
	free(facts->alias_of);
	strlist_release(&facts->gone);
	strlist_release(&facts->missing);
	free(facts->leaving);
	free(facts->coming);
	free(facts->logged);
}

bool gitplan_is_empty(const struct gitplan *plan)
{
	return !plan->refs.nr && !plan->head && !plan->index && !plan->operation &&
	       !plan->config.nr && !plan->moved;
}

static const char *find_ref(const struct gitstate_ref *refs, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(refs[i].name, name))
			return refs[i].oid;
	return NULL;
}

const char *gitplan_branch(const struct gitstate *state, const char *ref)
{
	const char *oid = find_ref(state->branches, state->branches_nr, ref);

	/* HEAD may be on a ref that is not a branch. */
	return oid || gitstate_differ(state->ref, ref) ? oid : state->head;
}

char *gitplan_rebased(const struct gitstate *state)
{
	for (size_t i = 0; i < state->files_nr; i++) {
		const struct gitstate_file *file = &state->files[i];

		if ((!strcmp(file->path, "rebase-merge/head-name") ||
		     !strcmp(file->path, "rebase-apply/head-name")) &&
		    !strncmp(file->data, "refs/heads/", 11))
			return xmemdupz(file->data, strcspn(file->data, "\n"));
	}
	return NULL;
}

/* --- branches --- */

static void note_config(struct gitplan *out, const char *ref, const struct strlist *lines,
			bool removed)
{
	if (!lines->nr || out->config_branch || strncmp(ref, "refs/heads/", 11) != 0)
		return;
	out->config_branch = xstrdup(ref + 11);
	out->config_removed = removed;
	strlist_extend(&out->config, lines);
}

static void move_branch(struct gitplan *out, const struct gitstate *now, const char *ref,
			const char *to)
{
	const char *at = gitplan_branch(now, ref);

	if (gitstate_differ(at, to))
		gitwrite_refs_add(&out->refs, ref, at, to);
}

/*
 * That of HEAD, and the one that a rebase in progress then was to move: it checks
 * at its end that the branch is where it was. No other is touched.
 */
static void move_to_goal(struct gitplan *out, const struct gitstate *now,
			 const struct gitstate *goal)
{
	char *rebased = gitplan_rebased(goal);
	const char *named = goal->ref ? goal->ref : rebased;

	if (goal->ref)
		move_branch(out, now, goal->ref, goal->head);
	if (rebased && gitstate_differ(rebased, goal->ref) && gitplan_branch(goal, rebased))
		move_branch(out, now, rebased, gitplan_branch(goal, rebased));
	/* A branch that was deleted lost its configuration, too. */
	if (named && !gitplan_branch(now, named) && gitplan_branch(goal, named))
		note_config(out, named, &goal->branch_config, false);
	free(rebased);
}

static void move_remembered(struct gitplan *out, const struct gitstate *now,
			    const struct gitplan_opts *opts)
{
	for (size_t i = 0; i < opts->remembered->nr; i++) {
		const struct gitwrite_ref *ref = &opts->remembered->items[i];
		const char *from = opts->back ? ref->new : ref->old;
		const char *to = opts->back ? ref->old : ref->new;
		const char *at = gitplan_branch(now, ref->name);

		if (opts->config && !from != !to)
			note_config(out, ref->name, opts->config, !to);
		if (!gitstate_differ(at, to))
			continue;
		if (gitstate_differ(at, from)) {
			if (!out->moved)
				out->moved = xstrdup(ref->name);
			continue;
		}
		gitwrite_refs_add(&out->refs, ref->name, at, to);
	}
}

/* --- the operation --- */

/*
 * ORIG_HEAD outlives every operation. It comes back with one, which may need it,
 * and with a step back; otherwise it is the user's way back from what was last done.
 */
static bool keeps_orig_head(const char *name, const struct gitstate *goal, const struct gitplan_opts *opts)
{
	return !strcmp(name, "ORIG_HEAD") && !goal->operation && !opts->remembered;
}

static void move_private(struct gitplan *out, const struct gitstate *now,
			 const struct gitstate *goal, const struct gitplan_opts *opts)
{
	for (size_t i = 0; i < now->private_refs_nr; i++) {
		const char *name = now->private_refs[i].name, *at = now->private_refs[i].oid;
		const char *to = find_ref(goal->private_refs, goal->private_refs_nr, name);

		if (gitstate_differ(at, to) && gitstate_is_operation_ref(name) && !keeps_orig_head(name, goal, opts))
			gitwrite_refs_add(&out->refs, name, at, to);
	}
	for (size_t i = 0; i < goal->private_refs_nr; i++) {
		const char *name = goal->private_refs[i].name;

		if (!find_ref(now->private_refs, now->private_refs_nr, name) &&
		    gitstate_is_operation_ref(name) && !keeps_orig_head(name, goal, opts))
			gitwrite_refs_add(&out->refs, name, NULL, goal->private_refs[i].oid);
	}
}

static bool same_files(const struct gitstate *a, const struct gitstate *b)
{
	if (a->files_nr != b->files_nr)
		return false;
	for (size_t i = 0; i < a->files_nr; i++)
		if (strcmp(a->files[i].path, b->files[i].path) ||
		    a->files[i].len != b->files[i].len ||
		    memcmp(a->files[i].data, b->files[i].data, a->files[i].len))
			return false;
	return true;
}

/* --- the index --- */

/* Against different trees the same entries mean different things. */
static bool same_index(const struct gitstate *a, const struct gitstate *b)
{
	return !gitstate_differ(a->head_tree, b->head_tree) && gitstate_same_entries(a, b);
}

void gitplan_decide(struct gitplan *out, const struct gitstate *now, const struct gitstate *goal,
		    const struct gitplan_opts *opts)
{
	memset(out, 0, sizeof(*out));
	out->index = !same_index(now, goal);
	if (opts->what != JOURNAL_GIT)
		return;
	if (opts->remembered)
		move_remembered(out, now, opts);
	else
		move_to_goal(out, now, goal);
	out->branches_nr = out->refs.nr;
	move_private(out, now, goal, opts);
	out->head = gitstate_differ(now->ref, goal->ref) || (!goal->ref && gitstate_differ(now->head, goal->head));
	out->operation = !same_files(now, goal);
}

static const char *short_name(const char *ref)
{
	return strncmp(ref, "refs/heads/", 11) ? ref : ref + 11;
}

/* --- what is said of branches --- */

static const char *where_left(bool one, bool logged)
{
	if (logged)
		return one ? "it stays in the reflog" : "they stay in the reflog";
	return one ? "it is then reachable only by id" : "they are then reachable only by id";
}

static void add_commits(struct strbuf *out, const struct gitplan_facts *facts, size_t i)
{
	unsigned leaving = facts->leaving[i], coming = facts->coming[i];
	bool one = leaving == 1;

	if (coming)
		strbuf_addf(out, "%u %s%s", coming, coming == 1 ? "commit comes" : "commits come",
			    " back");
	if (leaving)
		strbuf_addf(out, "%s%u %s it; %s", coming ? ", " : "", leaving,
			    one ? "commit leaves" : "commits leave",
			    where_left(one, facts->logged[i]));
}

static void say_branch(struct strlist *out, const struct gitplan *plan, size_t i,
		       const struct gitplan_facts *facts)
{
	const struct gitwrite_ref *ref = &plan->refs.items[i];
	const char *name = short_name(ref->name);
	struct strbuf commits = STRBUF_INIT, text = STRBUF_INIT;

	add_commits(&commits, facts, i);
	if (ref->old && ref->new)
		strbuf_addf(&text, "branch %s: %.*s " ARROW " %.*s", name, SHORT_ID, ref->old,
			    SHORT_ID, ref->new);
	else if (ref->new)
		strbuf_addf(&text, "branch %s: created at %.*s%s", name, SHORT_ID, ref->new,
			    plan->config.nr && !plan->config_removed &&
					    !strcmp(plan->config_branch, name)
				    ? ", with its configuration"
				    : "");
	else
		strbuf_addf(&text, "branch %s: %.*s " ARROW " no commit", name, SHORT_ID, ref->old);
	/* All of its history is nothing that comes back. */
	if (commits.len && ref->old)
		strbuf_addf(&text, " (%s)", commits.buf);
	strlist_take(out, strbuf_detach(&text, NULL));
	strbuf_release(&commits);
	strbuf_release(&text);
}

static void add_head(struct strbuf *out, const struct gitstate *state)
{
	if (state->ref)
		strbuf_addf(out, "branch %s", short_name(state->ref));
	else
		strbuf_addf(out, "%.*s without a branch", SHORT_ID, state->head ? state->head : "");
}

static void say_head(struct strlist *out, const struct gitstate *now, const struct gitstate *goal,
		     const struct gitplan_facts *facts)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, "HEAD: ");
	add_head(&text, now);
	strbuf_addstr(&text, " " ARROW " ");
	add_head(&text, goal);
	if (facts->lone)
		strbuf_addf(&text, " (%u %s on no branch; %s)", facts->lone,
			    facts->lone == 1 ? "commit is" : "commits are",
			    where_left(facts->lone == 1, facts->lone_logged));
	strlist_take(out, strbuf_detach(&text, NULL));
}

/* --- of the index --- */

static void add_count(struct strbuf *out, size_t nr, const char *what)
{
	if (nr)
		strbuf_addf(out, "%s%zu %s %s", out->len ? ", " : "", nr, what,
			    nr == 1 ? "file" : "files");
}

static size_t count_all(const struct gitindex_counts *counts)
{
	return counts->staged + counts->unmerged + counts->intent_to_add;
}

void gitplan_describe_index(struct strbuf *out, const struct gitindex_counts *counts)
{
	add_count(out, counts->staged, "staged");
	add_count(out, counts->unmerged, "unmerged");
	add_count(out, counts->intent_to_add, "intended");
}

static void say_index(struct strlist *out, const struct gitstate *goal,
		      const struct gitplan_facts *facts)
{
	struct strbuf then = STRBUF_INIT, here = STRBUF_INIT;

	gitplan_describe_index(&then, &facts->goal);
	gitplan_describe_index(&here, &facts->now);
	if (then.len)
		strlist_addf(out, "index: %s %s back", then.buf,
			     count_all(&facts->goal) == 1 ? "comes" : "come");
	else if (goal->head)
		strlist_addf(out, "index: as in %.*s", SHORT_ID, goal->head);
	else
		strlist_add(out, "index: empty, as it was");
	if (here.len)
		strlist_addf(out, "index: replaces %s; the safety checkpoint keeps %s", here.buf,
			     count_all(&facts->now) == 1 ? "it" : "them");
	strbuf_release(&then);
	strbuf_release(&here);
}

/* --- of the operation --- */

static void say_operation(struct strlist *out, const struct gitstate *now,
			  const struct gitstate *goal)
{
	char progress[48] = "";

	if (goal->total)
		snprintf(progress, sizeof(progress), " %u/%u", goal->step, goal->total);
	if (now->operation && gitstate_differ(now->operation, goal->operation))
		strlist_addf(out, "%s in progress: will be abandoned", now->operation);
	if (goal->operation && !gitstate_differ(now->operation, goal->operation))
		strlist_addf(out, "%s in progress: goes back to where it was%s%s", goal->operation,
			     *progress ? "," : "", progress);
	else if (goal->operation)
		strlist_addf(out, "%s%s: will be in progress again", goal->operation, progress);
}

void gitplan_say(struct strlist *out, const struct gitplan *plan, const struct gitstate *now,
		 const struct gitstate *goal, const struct gitplan_facts *facts)
{
	if (plan->head)
		say_head(out, now, goal, facts);
	for (size_t i = 0; i < plan->branches_nr; i++)
		say_branch(out, plan, i, facts);
	if (plan->index)
		say_index(out, goal, facts);
	if (plan->operation || plan->refs.nr > plan->branches_nr)
		say_operation(out, now, goal);
}

/* --- what prevents it --- */

/* A ref and one below it cannot exist together. */
static const char *find_conflict(const char *ref, const struct gitplan *plan,
				 const struct gitstate *now)
{
	for (size_t i = 0; i < now->branches_nr; i++) {
		const char *other = now->branches[i].name;
		const char *below = path_below(ref, other), *above = path_below(other, ref);
		bool goes = false;

		if (!strcmp(ref, other) || (!below && !above))
			continue;
		for (size_t j = 0; j < plan->branches_nr; j++)
			goes |= !plan->refs.items[j].new &&
				!strcmp(plan->refs.items[j].name, other);
		if (!goes)
			return other;
	}
	return NULL;
}

/* It was never here, but it is somewhere. */
static int refuse_foreign(const char *commit, const char *machine, bool index, const char *id)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "the project does not have commit %s of the machine '%s'; bring it with "
			      "'git fetch' if it was pushed to a remote of the project, or with 'git "
			      "checkpoint takeover' if it was handed off; 'git checkpoint restore%s %s' "
			      "brings back the files%s without it",
			      commit, machine, index ? " --index" : "", id,
			      index ? " and the index" : "");
}

static int refuse_gone(const char *commit, const struct gitplan_facts *facts,
		       const struct gitplan_opts *opts, const char *id)
{
	bool index = !facts->tree_gone && !facts->missing.nr;

	if (opts->machine)
		return refuse_foreign(commit, opts->machine, index, id);
	return ckpt_error_set(
		CKPT_EREFUSED,
		"commit %s is no longer in the repository; 'git checkpoint restore%s %s' "
		"brings back the files%s without it",
		commit, index ? " --index" : "", id, index ? " and the index" : "");
}

static int check_objects(const struct gitstate *goal, const struct gitplan_facts *facts,
			 const struct gitplan_opts *opts, const char *id)
{
	if (facts->gone.nr)
		return refuse_gone(facts->gone.items[0], facts, opts, id);
	if (facts->tree_gone && opts->machine && goal->head)
		return refuse_foreign(goal->head, opts->machine, false, id);
	if (facts->tree_gone)
		return ckpt_error_set(
			CKPT_EREFUSED,
			"the tree %s of the commit %s, on which the index was based, is no "
			"longer in the repository; 'git checkpoint restore %s' brings back "
			"the files",
			goal->head_tree, goal->head ? goal->head : "of the checkpoint", id);
	if (facts->missing.nr)
		return ckpt_error_set(
			CKPT_EREFUSED,
			"object '%s', which the index had, is neither in the checkpoint nor in "
			"the repository; 'git checkpoint restore %s' brings back the files",
			facts->missing.items[0], id);
	return 0;
}

int gitplan_check(const struct gitplan *plan, const struct gitstate *now,
		  const struct gitstate *goal, const struct gitplan_facts *facts,
		  const struct gitplan_opts *opts, const char *id)
{
	int err;

	if (facts->lock)
		return ckpt_error_set(
			CKPT_EREFUSED,
			"'%s' exists: another git process is at work, or one was killed and "
			"left it; nothing was touched",
			facts->lock);
	if (facts->link)
		return gitwrite_refuse_link(facts->link);
	if (plan->moved && opts->interrupted)
		return ckpt_error_set(CKPT_EREFUSED,
				      "branch '%s' has moved since the interruption; move it back "
				      "('git reflog %s' shows where it was) and try again; nothing "
				      "was touched",
				      short_name(plan->moved), short_name(plan->moved));
	if (plan->moved)
		return ckpt_error_set(CKPT_EREFUSED,
				      "branch '%s' has moved since; 'git checkpoint restore --git "
				      "%s' goes back all the same; nothing was touched",
				      short_name(plan->moved), id);
	err = check_objects(goal, facts, opts, id);
	if (err)
		return err;
	if (facts->elsewhere)
		return ckpt_error_set(CKPT_EREFUSED, "branch '%s' is checked out in '%s'",
				      short_name(facts->elsewhere_ref), facts->elsewhere);
	if (facts->alias)
		return ckpt_error_set(
			CKPT_EREFUSED,
			"branch '%s' is only another name of '%s'; 'git symbolic-ref HEAD %s' "
			"goes to that one",
			short_name(facts->alias), short_name(facts->alias_of), facts->alias_of);
	for (size_t i = 0; i < plan->branches_nr; i++) {
		const struct gitwrite_ref *ref = &plan->refs.items[i];
		const char *other =
			ref->old || !ref->new ? NULL : find_conflict(ref->name, plan, now);

		if (other)
			return ckpt_error_set(
				CKPT_EREFUSED,
				"branch '%s' cannot be created while there is a branch "
				"'%s'; rename that first",
				short_name(ref->name), short_name(other));
	}
	return 0;
}
