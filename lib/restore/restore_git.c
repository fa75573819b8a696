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
#include "restore/restore_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "gitstate/gitstate.h"
#include "record/record.h"
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

enum { COMMANDS_SHOWN = 5 }; /* in a message */

static int read_goal(struct restore *r)
{
	struct restore_gitwork *git = &r->git;
	const char *id = r->opts->target->id;
	int err = gitrecord_load(&git->goal, r->session->store, r->opts->target);

	if (err == CKPT_ENOTFOUND)
		return ckpt_error_set(
			CKPT_ERROR,
			"checkpoint '%s' has no state of a repository; 'git checkpoint "
			"restore %s' brings back the files",
			id, id);
	return err;
}

/* What a path has that is only intended to be added: everybody knows its contents. */
static bool is_empty_blob(const char *oid)
{
	return !strcmp(oid, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") ||
	       !strcmp(oid, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

int restore_git_sort_out(struct strlist *blobs, struct strlist *missing, struct store *store,
			 const struct gitrecord *goal)
{
	struct strlist all = *missing;
	int err = 0;

	memset(missing, 0, sizeof(*missing));
	for (size_t i = 0; i < all.nr && !err; i++) {
		const struct oid *stored = gitrecord_find(goal, all.items[i]);

		strlist_add(stored || is_empty_blob(all.items[i]) ? blobs : missing, all.items[i]);
		err = stored ? objects_check(store, stored) : 0;
	}
	strlist_release(&all);
	return err;
}

static int sort_out_blobs(struct restore *r, struct restore_git_facts *facts)
{
	struct store *store = r->session->store;
	int err = restore_git_sort_out(&r->git.blobs, &facts->missing, store, &r->git.goal);

	if (!err && !oid_is_zero(&r->git.goal.autostash))
		err = objects_check(store, &r->git.goal.autostash);
	return err ? record_damaged(err, store, r->opts->target->id) : 0;
}

static void describe_side(struct restore_git_side *out, const struct gitstate *state)
{
	const char *ref = state->ref;

	out->head = state->head ? xstrdup(state->head) : NULL;
	out->operation = state->operation ? xstrdup(state->operation) : NULL;
	if (ref)
		out->branch = xstrdup(strncmp(ref, "refs/heads/", 11) ? ref : ref + 11);
	gitstate_count(&out->index, state);
}

static void set_opts(struct restore *r)
{
	struct gitplan_opts *opts = &r->git.opts;

	opts->what = r->opts->git;
	opts->config = r->opts->git_config;
	opts->back = r->opts->git_back;
	opts->interrupted = r->opts->interrupted != NULL;
	opts->machine = r->opts->target->machine;
	if (r->opts->git_refs) {
		parse_refs(&r->git.remembered, r->opts->git_refs);
		opts->remembered = &r->git.remembered;
	}
}

/* What a process left that was killed while it did this. */
static void remove_leftovers(struct restore *r)
{
	const struct journal *journal = &r->journal;
	struct gitwrite_refs refs = { 0 };

	if (!r->opts->interrupted || !journal->git_began)
		return;
	parse_refs(&refs, &journal->refs);
	gitwrite_remove_own(r->session->repo, journal->git == JOURNAL_GIT ? &refs : NULL,
			    journal->config.nr > 0, journal->git_began);
	gitwrite_refs_release(&refs);
}

/* An operation of somebody else: its steps may be commands, which git runs when it is continued. */
static bool is_foreign(const struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;

	return r->opts->git == JOURNAL_GIT && (target->imported || target->machine) &&
	       r->git.goal.state.operation;
}

static int check_origin(const struct restore *r)
{
	const struct ckpt_record *target = r->opts->target;
	struct strlist commands = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;

	if (!is_foreign(r) || r->opts->force)
		return 0;
	gitplan_commands(&commands, &r->git.goal.state);
	strbuf_addf(&text, "checkpoint '%s' was %s, and a %s is in progress in it, which can run "
			   "commands when it is continued",
		    target->id, target->imported ? "imported" : "taken on another machine",
		    r->git.goal.state.operation);
	for (size_t i = 0; i < commands.nr && i < COMMANDS_SHOWN; i++)
		strbuf_addf(&text, "%s'%s'", i ? ", " : " (", commands.items[i]);
	if (commands.nr)
		strbuf_addstr(&text, commands.nr > COMMANDS_SHOWN ? ", ...)" : ")");
	strbuf_addstr(&text, "; use --force if you trust it, or 'restore --index'");
	(void)ckpt_error_set(CKPT_EREFUSED, "%s", text.buf);
	strbuf_release(&text);
	strlist_release(&commands);
	return CKPT_EREFUSED;
}

static void say_commands(struct strlist *out, const struct restore *r)
{
	struct strlist commands = STRLIST_INIT;

	if (is_foreign(r))
		gitplan_commands(&commands, &r->git.goal.state);
	for (size_t i = 0; i < commands.nr; i++)
		strlist_addf(out, "'git rebase --continue' will run: %s", commands.items[i]);
	strlist_release(&commands);
}

int restore_git_plan(struct restore_result *out, struct restore *r)
{
	const struct repo *repo = r->session->repo;
	struct restore_gitwork *git = &r->git;
	struct restore_git_facts facts = { 0 };
	int err;

	out->git.what = r->opts->git;
	if (r->opts->git == JOURNAL_FILES)
		return 0;
	if (!repo)
		return ckpt_error_set(CKPT_ERROR, "'%s' is not in a git repository",
				      r->session->worktree);
	remove_leftovers(r);
	strbuf_init(&git->stat);
	err = read_goal(r);
	if (!err)
		err = check_origin(r);
	if (!err)
		err = gitstate_read_noted(&git->now, &git->stat, repo, 0);
	if (err)
		return err;
	set_opts(r);
	gitplan_decide(&git->plan, &git->now, &git->goal.state, &git->opts);
	git->planned = true;
	/* What is there already is not ours to take back. */
	if (!git->opts.remembered)
		gitwrite_config_drop_present(&(struct gitwrite){ repo, "" }, &git->plan.config);
	err = restore_git_look(&facts, &git->plan, repo, &git->now, &git->goal.state,
			       r->opts->git == JOURNAL_GIT);
	if (!err)
		err = sort_out_blobs(r, &facts);
	if (!err)
		err = gitplan_check(&git->plan, &git->now, &git->goal.state, &facts.facts,
				    &git->opts, r->opts->target->id);
	if (!err) {
		gitplan_say(&out->git.says, &git->plan, &git->now, &git->goal.state, &facts.facts);
		say_commands(&out->git.says, r);
		describe_side(&out->git.from, &git->now);
		describe_side(&out->git.to,
			      r->opts->git == JOURNAL_GIT ? &git->goal.state : &git->now);
		gitstate_count(&out->git.to.index, &git->goal.state);
	}
	restore_git_facts_release(&facts);
	return err;
}

bool restore_git_is_empty(const struct restore *r)
{
	return !r->git.planned || gitplan_is_empty(&r->git.plan);
}

void restore_git_release(struct restore_gitwork *git)
{
	gitstate_release(&git->now);
	strbuf_release(&git->stat);
	gitrecord_release(&git->goal);
	gitwrite_refs_release(&git->remembered);
	gitplan_release(&git->plan);
	strlist_release(&git->blobs);
	memset(git, 0, sizeof(*git));
}

static void release_side(struct restore_git_side *side)
{
	free(side->head);
	free(side->branch);
	free(side->operation);
}

void restore_git_result_release(struct restore_git *git)
{
	strlist_release(&git->says);
	release_side(&git->from);
	release_side(&git->to);
}

/* --- the journal --- */

void restore_git_note(struct restore *r)
{
	struct journal *journal = &r->journal;

	journal->git = r->opts->git;
	format_refs(&journal->refs, &r->git.plan);
	strlist_extend(&journal->config, &r->git.plan.config);
}

/* --- safety --- */

int restore_git_check_safety(const struct restore *r, const struct ckpt_record *safety)
{
	char hash[STATEHASH_SIZE];

	if (restore_git_is_empty(r) ||
	    !strcmp(gitrecord_hash(hash, &r->git.now), safety->git_hash))
		return 0;
	ckpt_error_set(CKPT_EREFUSED, *safety->git_hash ? "the repository changed meanwhile"
							: "the repository could not be read");
	return ckpt_error_prefix(CKPT_EREFUSED, RESTORE_NO_SAFETY);
}

/* --- doing it --- */

static int read_stored(struct strbuf *out, struct restore *r, const struct oid *oid)
{
	int err = objects_read(out, r->session->store, oid, OBJECT_BLOB);

	return err ? record_damaged(err, r->session->store, r->opts->target->id) : 0;
}

static int give_blob(struct strbuf *out, const char *oid, void *payload)
{
	struct restore *r = payload;
	const struct oid *stored = gitrecord_find(&r->git.goal, oid);

	/* Otherwise it is the empty one. */
	return stored ? read_stored(out, r, stored) : 0;
}

static int write_objects(struct restore *r, const struct gitwrite *how)
{
	struct strbuf pack = STRBUF_INIT;
	int err = 0;

	if (r->git.blobs.nr)
		err = gitwrite_blobs(how, &r->git.blobs, give_blob, r);
	if (!err && !oid_is_zero(&r->git.goal.autostash) && r->opts->git == JOURNAL_GIT) {
		err = read_stored(&pack, r, &r->git.goal.autostash);
		if (!err)
			err = gitwrite_pack(how, pack.buf, pack.len);
	}
	strbuf_release(&pack);
	return err;
}

static int write_whole(struct restore *r, const struct gitwrite *how)
{
	const struct gitplan *plan = &r->git.plan;
	const struct gitstate *now = &r->git.now, *goal = &r->git.goal.state;
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
static int check_unchanged(struct restore *r)
{
	const struct gitplan_opts opts = { .what = r->opts->git };
	struct gitstate now = GITSTATE_INIT;
	struct gitplan change = { 0 };
	int err;

	if (gitstate_is_same(r->git.stat.buf, r->git.stat.len, r->session->repo))
		return 0;
	err = gitstate_read(&now, r->session->repo);
	if (!err) {
		gitplan_decide(&change, &now, &r->git.now, &opts);
		if (!gitplan_is_empty(&change))
			err = ckpt_error_set(CKPT_EREFUSED, "the repository changed meanwhile");
	}
	gitplan_release(&change);
	gitstate_release(&now);
	return err;
}

/* With the lock of the index held, so that no other git command comes in between. */
static int write_all(struct restore *r, const struct gitwrite *how)
{
	int err = write_objects(r, how);

	if (!err)
		err = gitwrite_index_lock(how->repo, &r->git.goal.state);
	if (!err)
		err = check_unchanged(r);
	if (!err && r->opts->git == JOURNAL_GIT)
		err = write_whole(r, how);
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
static int check_result(struct restore_result *out, struct restore *r)
{
	struct gitplan_opts opts = r->git.opts;
	struct gitstate now = GITSTATE_INIT;
	struct gitplan rest = { 0 };
	bool gone;
	int err = gitstate_read(&now, r->session->repo);

	if (!err) {
		gitplan_decide(&rest, &now, &r->git.goal.state, &opts);
		err = restore_git_compare_index(&gone, &rest, r->session->repo, &r->git.goal.state);
	}
	if (!err) {
		/* Not by all refs: some were taken out of the plan because their objects are gone. */
		out->git.checked = true;
		out->git.match = !rest.head && !rest.index && !rest.operation &&
				 !rest.branches_nr && !rest.moved;
	}
	gitplan_release(&rest);
	gitstate_release(&now);
	return err;
}

int restore_git_apply(struct restore_result *out, struct restore *r)
{
	char *message =
		xstrfmt("checkpoint: %s %s", journal_kind_name(r->opts->kind), r->opts->target->id);
	const struct gitwrite how = { r->session->repo, message };
	int err = 0;

	if (out->verified && !out->match && !restore_git_is_empty(r)) {
		out->git.left = true;
	} else if (!restore_git_is_empty(r)) {
		r->journal.git_began = clock_now();
		err = journal_write(&r->journal, r->session->store);
		if (!err)
			err = write_all(r, &how);
		if (!err)
			err = check_result(out, r);
	}
	free(message);
	return err;
}
