/* SPDX-License-Identifier: MIT */
/*
 * The repository's part of a restore. Invariants:
 *
 *  1. Everything that could prevent it is looked for before anything is touched;
 *     old values are given, so that what changes in between stops it halfway and
 *     is never overwritten.
 *  2. The journal has the branches with their old and new values before the first
 *     of them moves. Wherever it stops, going on or back is planned from what is
 *     then in the repository, and every step leaves alone what is done already.
 *  3. The safety checkpoint has the whole state before.
 */
#include "gitstate/gitback_internal.h"

#include "gitstate/gitforeign.h"
#include "session/session.h"

/* --- branches in the journal: "<ref> <old> <new>" --- */

static void format_refs(struct strlist *out, const struct gitplan *plan)
{
	for (size_t i = 0; i < plan->branches_nr; i++) {
		const struct gitwrite_ref *ref = &plan->refs.items[i];

		strlist_addf(out, "%s %s %s", ref->name, ref->old ? ref->old : "-",
			     ref->new ? ref->new : "-");
	}
}

static void parse_refs(struct gitwrite_refs *out, const struct strlist *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		char *name = xstrdup(lines->items[i]), *old = strchr(name, ' '), *new;

		new = old ? strchr(old + 1, ' ') : NULL;
		if (new) {
			*old++ = *new ++ = '\0';
			gitwrite_refs_add(out, name, strcmp(old, "-") ? old : NULL,
					  strcmp(new, "-") ? new : NULL);
		}
		free(name);
	}
}

/* --- the plan --- */

static int read_goal(struct strlist *says, struct gitback *back)
{
	const enum gitforeign_flags flags =
		(back->opts.what == JOURNAL_GIT ? GITFOREIGN_WHOLE : 0) |
		(back->force ? GITFOREIGN_FORCE : 0);
	const char *id = back->target->id;
	int err = gitrecord_load(&back->goal, back->session->store, back->target);

	if (err == CKPT_ENOTFOUND)
		return ckpt_error_set(
			CKPT_ERROR,
			"checkpoint '%s' has no state of a repository; 'git checkpoint "
			"restore %s' brings back the files",
			id, id);
	return err ? err
		   : gitforeign_admit(says, &back->goal, back->target, back->session->repo, flags);
}

static int find_objects(struct gitback *back, struct gitplan_facts *facts)
{
	struct store *store = back->session->store;
	int err = back->plan.index ? gitback_find_objects(&back->blobs, &facts->missing, store,
							  back->session->repo, &back->goal)
				   : 0;

	if (!err && !oid_is_zero(&back->goal.autostash))
		err = objects_check(store, &back->goal.autostash);
	return err ? record_damaged(err, store, back->target->id) : 0;
}

static void describe_side(struct gitback_side *out, const struct gitstate *state)
{
	const char *ref = state->ref;

	out->head = state->head ? xstrdup(state->head) : NULL;
	out->operation = state->operation ? xstrdup(state->operation) : NULL;
	if (ref)
		out->branch = xstrdup(strncmp(ref, "refs/heads/", 11) ? ref : ref + 11);
	gitstate_count(&out->index, state);
}

static void set_how(struct gitback *back)
{
	back->how = (struct gitplan_opts){
		.what = back->opts.what,
		.config = back->opts.config,
		.back = back->opts.reverse,
		.interrupted = back->interrupted,
		.machine = back->target->machine,
	};
	if (back->opts.refs) {
		parse_refs(&back->remembered, back->opts.refs);
		back->how.remembered = &back->remembered;
	}
}

/* What a process left that was killed while it did this. */
static void remove_leftovers(struct gitback *back)
{
	const struct journal *journal = back->journal;
	struct gitwrite_refs refs = { 0 };

	if (!back->interrupted || !journal->git_began)
		return;
	parse_refs(&refs, &journal->refs);
	gitwrite_remove_own(back->session->repo, journal->git == JOURNAL_GIT ? &refs : NULL,
			    journal->config.nr > 0, journal->git_began);
	gitwrite_refs_release(&refs);
}

int gitback_plan(struct gitback_told *out, struct gitback *back)
{
	const struct repo *repo = back->session->repo;
	struct gitplan_facts facts = { 0 };
	struct strlist foreign = STRLIST_INIT;
	int err;

	out->what = back->opts.what;
	if (back->opts.what == JOURNAL_FILES)
		return 0;
	if (!repo)
		return ckpt_error_set(CKPT_ERROR, "'%s' is not in a git repository",
				      back->session->worktree);
	remove_leftovers(back);
	strbuf_init(&back->stat);
	err = read_goal(&foreign, back);
	if (!err)
		err = gitstate_read_noted(&back->now, &back->stat, repo, 0);
	if (err)
		goto out;
	set_how(back);
	gitplan_decide(&back->plan, &back->now, &back->goal.state, &back->how);
	back->planned = true;
	/* What is there already is not ours to take back. */
	if (!back->how.remembered)
		gitwrite_config_drop_present(&(struct gitwrite){ repo, "" }, &back->plan.config);
	err = gitback_look(&facts, &back->plan, repo, &back->now, &back->goal.state,
			   back->opts.what == JOURNAL_GIT);
	if (!err)
		err = find_objects(back, &facts);
	if (!err)
		err = gitplan_check(&back->plan, &back->now, &back->goal.state, &facts, &back->how,
				    back->target->id);
	if (!err && back->plan.index)
		err = gitforeign_check_index(back->session->store, repo, &back->goal, back->target);
	if (!err) {
		gitplan_say(&out->says, &back->plan, &back->now, &back->goal.state, &facts);
		if (!gitplan_is_empty(&back->plan))
			strlist_extend(&out->says, &foreign);
		describe_side(&out->from, &back->now);
		describe_side(&out->to,
			      back->opts.what == JOURNAL_GIT ? &back->goal.state : &back->now);
		gitstate_count(&out->to.index, &back->goal.state);
	}
out:
	gitplan_facts_release(&facts);
	strlist_release(&foreign);
	return err;
}

bool gitback_is_empty(const struct gitback *back)
{
	return !back->planned || gitplan_is_empty(&back->plan);
}

void gitback_release(struct gitback *back)
{
	gitstate_release(&back->now);
	strbuf_release(&back->stat);
	gitrecord_release(&back->goal);
	gitwrite_refs_release(&back->remembered);
	gitplan_release(&back->plan);
	strlist_release(&back->blobs);
	memset(back, 0, sizeof(*back));
}

static void release_side(struct gitback_side *side)
{
	free(side->head);
	free(side->branch);
	free(side->operation);
}

void gitback_told_release(struct gitback_told *told)
{
	strlist_release(&told->says);
	release_side(&told->from);
	release_side(&told->to);
}

/* --- the journal --- */

void gitback_note(struct gitback *back)
{
	struct journal *journal = back->journal;

	journal->git = back->opts.what;
	format_refs(&journal->refs, &back->plan);
	strlist_extend(&journal->config, &back->plan.config);
}

/* --- safety --- */

int gitback_check_safety(const struct gitback *back, const struct ckpt_record *safety)
{
	char hash[STATEHASH_SIZE];

	if (gitback_is_empty(back) || !strcmp(gitrecord_hash(hash, &back->now), safety->git_hash))
		return 0;
	return ckpt_error_set(CKPT_EREFUSED, *safety->git_hash
						     ? "the repository changed meanwhile"
						     : "the repository could not be read");
}

/* --- doing it --- */

static int read_stored(struct strbuf *out, struct gitback *back, const struct oid *oid)
{
	int err = objects_read(out, back->session->store, oid, OBJECT_BLOB);

	return err ? record_damaged(err, back->session->store, back->target->id) : 0;
}

static int give_blob(struct strbuf *out, const char *oid, void *payload)
{
	struct gitback *back = payload;
	const struct oid *stored = gitrecord_find(&back->goal, oid);

	/* Otherwise it is the empty one. */
	return stored ? read_stored(out, back, stored) : 0;
}

static int write_objects(struct gitback *back, const struct gitwrite *how)
{
	struct strbuf pack = STRBUF_INIT;
	int err = 0;

	if (back->blobs.nr)
		err = gitwrite_blobs(how, &back->blobs, give_blob, back);
	if (!err && !oid_is_zero(&back->goal.autostash) && back->opts.what == JOURNAL_GIT) {
		err = read_stored(&pack, back, &back->goal.autostash);
		if (!err)
			err = gitwrite_pack(how, pack.buf, pack.len, gitforeign_is(back->target));
	}
	strbuf_release(&pack);
	return err;
}

static int write_whole(struct gitback *back, const struct gitwrite *how)
{
	const struct gitplan *plan = &back->plan;
	const struct gitstate *now = &back->now, *goal = &back->goal.state;
	int err = 0;

	if (plan->config.nr && !plan->config_removed)
		err = gitwrite_config(how, plan->config_branch, &plan->config, true);
	if (!err && (plan->refs.nr || plan->head))
		err = gitwrite_move(how, &plan->refs, goal->ref, goal->head, now);
	if (!err && plan->config.nr && plan->config_removed)
		err = gitwrite_config(how, plan->config_branch, &plan->config, false);
	return !err && plan->operation ? gitwrite_operation(how->repo, now, goal) : err;
}

/*
 * With the lock of the index held: what another process staged, committed or
 * began since the safety checkpoint was taken is nowhere else.
 */
static int check_unchanged(struct gitback *back)
{
	const struct gitplan_opts opts = { .what = back->opts.what };
	struct gitstate now = GITSTATE_INIT;
	struct gitplan change = { 0 };
	int err;

	if (gitstate_is_same(back->stat.buf, back->stat.len, back->session->repo))
		return 0;
	err = gitstate_read(&now, back->session->repo);
	if (!err) {
		gitplan_decide(&change, &now, &back->now, &opts);
		if (!gitplan_is_empty(&change))
			err = ckpt_error_set(CKPT_EREFUSED, "the repository changed meanwhile");
	}
	gitplan_release(&change);
	gitstate_release(&now);
	return err;
}

/* With the lock of the index held, so that no other git command comes in between. */
static int write_all(struct gitback *back, const struct gitwrite *how)
{
	int err = write_objects(back, how);

	if (!err)
		err = gitwrite_index_lock(back->session->store, how->repo, &back->goal.state);
	if (!err)
		err = check_unchanged(back);
	if (!err && back->opts.what == JOURNAL_GIT)
		err = write_whole(back, how);
	if (!err)
		err = gitwrite_index_place(how->repo);
	if (err) {
		char *kept = ckpt_error_keep();

		gitwrite_remove_own(how->repo, NULL, false, 0);
		err = ckpt_error_put_back(err, kept);
	}
	return err;
}

/* Read it again: what git says now must be what was wanted. */
static int check_result(struct gitback_told *out, struct gitback *back)
{
	const struct gitplan *plan = &back->plan;
	struct gitstate now = GITSTATE_INIT;
	struct gitplan rest = { .index = true };
	bool gone;
	int err = 0;

	/* Where nothing but the index was to change, nothing else is asked for. */
	if (plan->refs.nr || plan->head || plan->operation || plan->config.nr || plan->moved) {
		err = gitstate_read(&now, back->session->repo);
		if (!err)
			gitplan_decide(&rest, &now, &back->goal.state, &back->how);
	}
	if (!err)
		err = gitback_compare_index(&gone, &rest, back->session->repo, &back->goal.state);
	if (!err) {
		/* Not by all refs: some were taken out of the plan because their objects are gone. */
		out->checked = true;
		out->match = !rest.head && !rest.index && !rest.operation && !rest.branches_nr &&
			     !rest.moved;
	}
	gitplan_release(&rest);
	gitstate_release(&now);
	return err;
}

int gitback_apply(struct gitback_told *out, struct gitback *back, bool left)
{
	char *message;
	int err;

	if (gitback_is_empty(back))
		return 0;
	out->left = left;
	if (left)
		return 0;
	back->journal->git_began = clock_now();
	err = journal_write(back->journal, back->session->store);
	message = xstrfmt("checkpoint: %s %s", journal_kind_name(back->kind), back->target->id);
	if (!err)
		err = write_all(back, &(struct gitwrite){ back->session->repo, message, NULL });
	if (!err)
		err = check_result(out, back);
	free(message);
	return err;
}
