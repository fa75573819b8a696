/* SPDX-License-Identifier: MIT */
#include "restore/gitplan_internal.h"

#include "base/base.h"
#include "gitstate/gitstate.h"

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

void gitplan_release(struct gitplan *plan)
{
	gitwrite_refs_release(&plan->refs);
	strlist_release(&plan->config);
	free(plan->config_branch);
	free(plan->moved);
	memset(plan, 0, sizeof(*plan));
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
	return oid || differ(state->ref, ref) ? oid : state->head;
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

static void take_config(struct gitplan *out, const char *ref, const struct strlist *lines,
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

	if (differ(at, to))
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
	if (rebased && differ(rebased, goal->ref) && gitplan_branch(goal, rebased))
		move_branch(out, now, rebased, gitplan_branch(goal, rebased));
	/* A branch that was deleted lost its configuration, too. */
	if (named && !gitplan_branch(now, named) && gitplan_branch(goal, named))
		take_config(out, named, &goal->branch_config, false);
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
			take_config(out, ref->name, opts->config, !to);
		if (!differ(at, to))
			continue;
		if (differ(at, from)) {
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
static bool stays(const char *name, const struct gitstate *goal, const struct gitplan_opts *opts)
{
	return !strcmp(name, "ORIG_HEAD") && !goal->operation && !opts->remembered;
}

static void move_private(struct gitplan *out, const struct gitstate *now,
			 const struct gitstate *goal, const struct gitplan_opts *opts)
{
	for (size_t i = 0; i < now->private_refs_nr; i++) {
		const char *name = now->private_refs[i].name, *at = now->private_refs[i].oid;
		const char *to = find_ref(goal->private_refs, goal->private_refs_nr, name);

		if (differ(at, to) && gitwrite_is_operation_ref(name) && !stays(name, goal, opts))
			gitwrite_refs_add(&out->refs, name, at, to);
	}
	for (size_t i = 0; i < goal->private_refs_nr; i++) {
		const char *name = goal->private_refs[i].name;

		if (!find_ref(now->private_refs, now->private_refs_nr, name) &&
		    gitwrite_is_operation_ref(name) && !stays(name, goal, opts))
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

static bool same_entries(const struct gitstate *a, const struct gitstate *b)
{
	if (a->entries_nr != b->entries_nr)
		return false;
	for (size_t i = 0; i < a->entries_nr; i++) {
		const struct gitstate_entry *x = &a->entries[i], *y = &b->entries[i];

		if (strcmp(x->path, y->path) || x->mode != y->mode || strcmp(x->oid, y->oid) ||
		    x->stage != y->stage || x->flags != y->flags)
			return false;
	}
	return true;
}

/* Against different trees the same entries mean different things. */
static bool same_index(const struct gitstate *a, const struct gitstate *b)
{
	return !differ(a->head_tree, b->head_tree) && same_entries(a, b);
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
	out->head = differ(now->ref, goal->ref) || (!goal->ref && differ(now->head, goal->head));
	out->operation = !same_files(now, goal);
}
