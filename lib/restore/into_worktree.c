/* SPDX-License-Identifier: MIT */
/*
 * A copy as a linked worktree of the repository: git makes it, detached at the
 * recorded commit; then its index is written and, last, its branch made. Each
 * step leaves alone what is done already, so that an interruption is continued.
 */
#include "restore/into_internal.h"

void into_git_release(struct into_git *git)
{
	gitrecord_release(&git->goal);
	strlist_release(&git->blobs);
	free(git->ref);
}

/* --- before anything is written --- */

static int refuse_missing(const char *what, const struct strlist *oids)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "the repository no longer has %s %s; without --worktree the files can "
			      "be copied",
			      what, oids->items[0]);
}

static int look_at_objects(struct into *into)
{
	const struct repo *repo = into->session->repo;
	const struct gitstate *goal = &into->git.goal.state;
	struct strlist gone = STRLIST_INIT, missing = STRLIST_INIT;
	int err = gitback_check_history(&gone, repo, goal->head);

	if (!err && gone.nr)
		err = refuse_missing("all of the commit", &gone);
	if (!err)
		err = gitback_find_objects(&into->git.blobs, &missing, into->session->store, repo,
					   &into->git.goal);
	if (!err && missing.nr)
		err = refuse_missing("the staged object", &missing);
	strlist_release(&gone);
	strlist_release(&missing);
	return err;
}

/* An interrupted call may have made it, as its last step. */
static int look_at_branch(struct into *into)
{
	const char *branch = into->opts->branch, *head = into->git.goal.state.head;
	char *now;
	bool made;

	if (!branch)
		return 0;
	into->git.ref = xstrfmt("refs/heads/%s", branch);
	now = repo_ref(into->session->repo, into->git.ref);
	made = now && into->out->continued && !strcmp(now, head) &&
	       !faccessat(into->fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW);
	free(now);
	return made ? 0 : gitwrite_check_branch(into->session->repo, branch, head);
}

/* Where git keeps what it knows of worktrees; through a link it would write elsewhere. */
static int look_at_worktrees(const struct repo *repo)
{
	char *path = xstrfmt("%s/worktrees", repo->commondir);
	struct stat st;
	int err = !lstat(path, &st) && !S_ISDIR(st.st_mode) ? gitwrite_refuse_link(path) : 0;

	free(path);
	return err;
}

int into_git_plan(struct into *into)
{
	const char *id = into->opts->target->id;
	int err;

	if (!into->opts->worktree)
		return 0;
	if (!into->session->repo)
		return ckpt_error_set(CKPT_ERROR, "'%s' is not in a git repository",
				      into->session->worktree);
	err = gitrecord_load(&into->git.goal, into->session->store, into->opts->target);
	if (err == CKPT_ENOTFOUND)
		return ckpt_error_set(CKPT_ERROR,
				      "checkpoint '%s' has no state of a repository; without "
				      "--worktree the files can be copied",
				      id);
	if (!err)
		err = gitforeign_admit(NULL, &into->git.goal, into->opts->target, into->session->repo,
				       0);
	if (!err && !into->git.goal.state.head)
		return ckpt_error_set(CKPT_EREFUSED,
				      "checkpoint '%s' was taken before the first commit; without "
				      "--worktree the files can be copied",
				      id);
	if (!err)
		err = look_at_objects(into);
	if (!err)
		err = gitforeign_check_index(into->session->store, into->session->repo,
					     &into->git.goal, into->opts->target);
	if (!err)
		err = look_at_branch(into);
	if (!err)
		err = look_at_worktrees(into->session->repo);
	if (!err)
		into->out->head = xstrdup(into->git.goal.state.head);
	return err;
}

/* --- doing it --- */

/* An interrupted call may have come so far: true if the copy is a worktree of this repository. */
static bool open_linked(struct repo **out, const struct into *into)
{
	const struct repo *repo = into->session->repo;

	if (repo_open_at(out, into->out->path))
		return false;
	if (!strcmp((*out)->commondir, repo->commondir) && strcmp((*out)->gitdir, repo->commondir) != 0)
		return true;
	repo_free(*out);
	*out = NULL;
	return false;
}

static int make_worktree(struct repo **out, struct into *into, const char *message)
{
	const struct gitwrite how = { into->session->repo, message };
	const char *head = into->git.goal.state.head, *path = into->out->path;
	char *aside = into_aside_name(into);
	int err = 0;

	if (open_linked(out, into)) {
		repo_free(*out);
		*out = NULL;
		err = gitwrite_worktree_settle(&how, path, aside);
	} else {
		/* One that leads nowhere: `git worktree prune` came in between. */
		if (unlinkat(into->fd, ".git", 0) < 0 && errno != ENOENT)
			err = ckpt_error_errno("unable to remove '%s/.git'", path);
		if (!err)
			err = gitwrite_worktree(&how, path, aside, head);
	}
	if (!err && !open_linked(out, into))
		err = ckpt_error_set(CKPT_ERROR, "git did not make a worktree of '%s'", path);
	free(aside);
	return err;
}

static int give_blob(struct strbuf *out, const char *oid, void *payload)
{
	struct into *into = payload;
	struct store *store = into->session->store;
	const struct oid *stored = gitrecord_find(&into->git.goal, oid);
	/* Otherwise it is the empty one. */
	int err = stored ? objects_read(out, store, stored, OBJECT_BLOB) : 0;

	return err ? record_damaged(err, store, into->opts->target->id) : 0;
}

static int write_index(struct into *into, const struct gitwrite *how)
{
	int err = 0;

	if (into->git.blobs.nr)
		err = gitwrite_blobs(how, &into->git.blobs, give_blob, into);
	if (!err)
		err = gitwrite_index_lock(into->session->store, how->repo, &into->git.goal.state);
	if (!err)
		err = gitwrite_index_place(how->repo);
	return err;
}

static int make_branch(struct into *into, const struct gitwrite *how)
{
	struct gitwrite_refs refs = { 0 };
	struct repo_state state = { 0 };
	char *now = repo_ref(how->repo, into->git.ref);
	int err = repo_read_state(&state, how->repo);

	if (!err) {
		const struct gitstate head = { .head = state.head, .ref = state.ref };

		if (!now)
			gitwrite_refs_add(&refs, into->git.ref, NULL, into->git.goal.state.head);
		err = gitwrite_move(how, &refs, into->git.ref, NULL, &head);
	}
	gitwrite_refs_release(&refs);
	repo_state_release(&state);
	free(now);
	return err;
}

/* Read it again. */
static int check_result(struct into *into, const struct repo *linked)
{
	struct repo_state state = { 0 };
	bool same = false;
	int err = gitwrite_index_is(&same, linked, &into->git.goal.state);

	if (!err)
		err = repo_read_state(&state, linked);
	into->out->git_match = !err && same && state.head &&
			       !strcmp(state.head, into->git.goal.state.head) &&
			       (into->git.ref ? state.ref && !strcmp(state.ref, into->git.ref)
					      : !state.ref);
	repo_state_release(&state);
	return err;
}

int into_git_apply(struct into *into)
{
	char *message = xstrfmt("checkpoint: worktree of %s", into->opts->target->id);
	struct repo *linked = NULL;
	int err = make_worktree(&linked, into, message);
	const struct gitwrite how = { linked, message };

	if (!err)
		err = write_index(into, &how);
	if (!err && into->git.ref)
		err = make_branch(into, &how);
	if (!err)
		err = check_result(into, linked);
	repo_free(linked);
	free(message);
	return err;
}
