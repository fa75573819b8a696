/* SPDX-License-Identifier: MIT */
#include "repair/repair_internal.h"

#include "keep/keep.h"
#include "record/record.h"
#include "session/session.h"

struct relink {
	struct session *session;
	const char *name;
	bool force;
	struct store *store;  /* what is adopted */
	char *to;             /* the folder that adopts it */
	char key[STORE_KEY_SIZE]; /* of that */
	struct store *own;    /* the store that it has now, or NULL */
	size_t own_checkpoints;
	int packing, own_packing; /* locks against those who pack */
	bool interrupted;     /* the store is already in its new place */
	struct identity recorded;
	bool have_recorded;
	size_t checkpoints;
};

void relink_result_release(struct relink_result *result)
{
	free(result->from);
	free(result->to);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

/* --- for which folder? --- */

/*
 * Outside git nothing tells where a folder begins, except that it is the same
 * directory: then it may be adopted from below, too.
 */
static int find_folder(struct relink *job)
{
	const struct repo *repo = job->session->repo;
	const char *dir = repo ? repo->worktree : job->session->cwd;
	char *found = NULL;

	job->have_recorded = !identity_read(&job->recorded, job->store->dirfd);
	if (job->have_recorded)
		found = inventory_moved_to(&job->recorded, job->store->worktree, dir, true);
	if (found && repo && strcmp(found, dir) && !job->force) {
		int err = ckpt_error_set(CKPT_EREFUSED,
					 "the checkpoints belong to '%s', not to '%s' in it; run the "
					 "command there, or use --force",
					 found, dir);

		free(found);
		return err;
	}
	if (found && !repo) {
		job->to = found;
	} else {
		job->to = xstrdup(dir);
		free(found);
	}
	store_key(job->key, job->to);
	return 0;
}

/* --- is that allowed? --- */

static int count_checkpoints(size_t *out, struct store *store)
{
	struct ref_list refs;
	int err = refs_list(&refs, store);

	*out = err ? 0 : refs.nr;
	if (!err)
		refs_release(&refs);
	return err;
}

static int refuse_own(const char *dir, size_t nr)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' already has %zu %s; nothing was adopted", dir, nr,
			      nr == 1 ? "checkpoint" : "checkpoints");
}

/* No store was found but the folder has one: then say that. */
static int check_own_first(struct relink *job)
{
	const struct repo *repo = job->session->repo;
	const char *dir = repo ? repo->worktree : job->session->cwd;
	char *kept = ckpt_error_keep();
	struct store *own = NULL;
	size_t nr = 0;
	int err;

	store_key(job->key, dir);
	if (inventory_open(&own, job->session->home, job->key) || count_checkpoints(&nr, own))
		nr = 0;
	store_close(own);
	err = ckpt_error_put_back(CKPT_ENOTFOUND, kept);
	if (nr)
		err = ckpt_error_set(CKPT_EREFUSED,
				     "there are no checkpoints of '%s', and '%s' already has %zu; nothing "
				     "was adopted",
				     job->name, dir, nr);
	return err;
}

/* Whether this is a copy of a folder that still exists. */
static bool old_is_there(const struct relink *job)
{
	const char *from = job->store->worktree;
	struct stat st;

	if (job->interrupted || !*from || !strcmp(from, job->to) || lstat(from, &st) < 0 ||
	    !S_ISDIR(st.st_mode))
		return false;
	return !job->have_recorded || identity_is_at(&job->recorded, from);
}

static int refuse_merge(const struct relink *job)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	strbuf_addf(&text, "'%s' already has %zu %s", job->to, job->own_checkpoints,
		    job->own_checkpoints == 1 ? "checkpoint" : "checkpoints");
	if (old_is_there(job))
		strbuf_addf(&text, ", and '%s' still exists", job->store->worktree);
	strbuf_addstr(&text, "; nothing was adopted; to merge both here: ");
	inventory_relink_command(&text, strrchr(job->store->path, '/') + 1, job->store->worktree,
				 true);
	err = ckpt_error_set(CKPT_EREFUSED, "%s", text.buf);
	strbuf_release(&text);
	return err;
}

/* Each has its own target for the worktree; one would be forgotten. */
static int check_merge(const struct relink *job)
{
	if (journal_exists(job->own))
		return ckpt_error_set(CKPT_EREFUSED,
				      "a restore of '%s' was interrupted; finish it first, with 'git "
				      "checkpoint restore --continue' or '--abort'",
				      job->to);
	if (journal_exists(job->store))
		return ckpt_error_set(CKPT_EREFUSED,
				      "a restore of '%s' was interrupted; finish it first: move the "
				      "folder back there and use 'git checkpoint restore --continue' or "
				      "'--abort'",
				      job->store->worktree);
	return 0;
}

static int check_own(struct relink *job)
{
	const char *at = strrchr(job->store->path, '/') + 1;
	int err;

	if (!strcmp(at, job->key)) {
		job->interrupted = strcmp(job->store->worktree, job->to) != 0;
		return job->interrupted ? 0 : refuse_own(job->to, job->checkpoints);
	}
	err = inventory_open(&job->own, job->session->home, job->key);
	if (err == CKPT_ENOTFOUND)
		return 0;
	if (!err && *job->own->worktree && strcmp(job->own->worktree, job->to))
		return ckpt_error_set(CKPT_EREFUSED,
				      "a relink of '%s' to '%s' was interrupted; 'git checkpoint "
				      "relink %s' finishes it",
				      job->own->worktree, job->to, job->key);
	if (!err)
		err = health_check_version(job->own);
	/* A process that waits for it to save something must not continue with a store that was replaced. */
	if (!err)
		err = store_lock(job->own, job->session->settings.lock_timeout);
	if (!err)
		err = count_checkpoints(&job->own_checkpoints, job->own);
	if (!err && job->own_checkpoints)
		err = job->force ? check_merge(job) : refuse_merge(job);
	return err;
}

static int check_old_path(const struct relink *job)
{
	if (job->force || !old_is_there(job))
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' still exists, and its checkpoints belong to it; use --force to take "
			      "them away from it",
			      job->store->worktree);
}

static int check_place(const struct relink *job)
{
	const char *home = getenv("HOME");
	char *real = home ? path_real(home) : NULL;
	bool odd = !strcmp(job->to, "/") || (real && !strcmp(real, job->to));

	free(real);
	if (job->force || !odd)
		return 0;
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' is not a folder that is saved without --force; run this in the "
			      "folder that was moved",
			      job->to);
}

/* --- doing it --- */

/* What is copied from one and into the other must not be packed meanwhile. */
static int lock_packing(struct relink *job)
{
	char *path = xstrfmt("%s/%s", job->session->home, job->key);
	struct strlist waiting = STRLIST_INIT;
	int err = salvage_waiting(&waiting, job->session->home, path);

	if (!err && (job->own_checkpoints || waiting.nr))
		err = repack_lock(&job->packing, job->store);
	if (!err && job->own_checkpoints)
		err = repack_lock(&job->own_packing, job->own);
	strlist_release(&waiting);
	free(path);
	return err;
}

/* Under a name by which it is merged, also by doctor. */
static int set_own_aside(struct relink *job)
{
	char *name = salvage_new_name(job->own->path, job->own_checkpoints > 0);
	int err = fs_rename(AT_FDCWD, job->own->path, name, job->session->home, FS_FAST);

	free(name);
	return err;
}

/* Step 2; the order on disk is that of the calls, as everything is in one directory. */
static int move_store(struct relink *job)
{
	const char *home = job->session->home;
	char *path = xstrfmt("%s/%s", home, job->key);
	int err = job->own ? set_own_aside(job) : 0;

	if (!err)
		err = fs_rename(AT_FDCWD, job->store->path, path, home, FS_DURABLE);
	if (err) {
		free(path);
		return err;
	}
	free(job->store->path);
	job->store->path = path;
	return 0;
}

static int write_config(struct store *store)
{
	struct strbuf config = STRBUF_INIT;
	int err;

	layout_config(&config, store->worktree);
	err = fs_write_file(store->dirfd, "config", config.buf, config.len, 0600, FS_DURABLE);
	strbuf_release(&config);
	return err;
}

/* The problems as warnings, with what failed at the end. */
static void tell_unmerged(struct relink_result *out, const struct problems *problems, int err)
{
	for (size_t i = 0; i < problems->nr; i++)
		if (!problems->items[i].fixed)
			strlist_add(&out->warnings, problems->items[i].what);
	if (err)
		strlist_addf(&out->warnings,
			     "the checkpoints that this folder had could not all be merged: %s; they are "
			     "kept, 'git checkpoint doctor --fix' merges the rest",
			     ckpt_error_last());
	out->incomplete = out->warnings.nr > 0;
}

/* What waits here, since now or since a call that was killed. */
static int merge_waiting(struct relink *job, struct relink_result *out)
{
	struct session session = *job->session;
	struct problems problems = { 0 };
	struct ref_list refs;
	size_t before = 0;
	int err = count_checkpoints(&before, job->store);

	session.store = job->store;
	session.worktree = job->to;
	if (!err)
		err = salvage_merge(&problems, &session, job->store->path);
	if (err != CKPT_ECANCELLED) {
		tell_unmerged(out, &problems, err);
		err = 0;
	}
	if (!err && !refs_list(&refs, job->store)) {
		out->merged = refs.nr > before ? refs.nr - before : 0;
		if (refs.nr)
			refs_set_latest(job->store, &refs.items[refs.nr - 1].commit);
		refs_release(&refs);
	}
	problems_release(&problems);
	return err;
}

/* Step 3. What can be rebuilt does not decide whether it succeeds. */
static int finish_move(struct relink *job, struct relink_result *out)
{
	struct store *store = job->store;
	char *reason = xstrfmt("%s -> %s", *out->from ? out->from : job->name, job->to);
	struct identity now;
	int err;

	free(store->worktree);
	store->worktree = xstrdup(job->to);
	err = merge_waiting(job, out);
	if (!identity_of(&now, job->to)) {
		identity_find_root(&now, job->session->repo);
		if (job->have_recorded &&
		    identity_compare(&job->recorded, &now) == IDENTITY_OTHER)
			strlist_addf(&out->warnings,
				     "'%s' holds a different project from the one in the checkpoints",
				     job->to);
		(void)identity_write(&now, store);
	}
	lost_rebuild_manifest(store);
	if (!err) {
		(void)audit_add(store, "relink", NULL, NULL, reason, NULL);
		err = write_config(store);
	}
	if (!err)
		err = fs_write_file(store->dirfd, LAYOUT_WORKTREE, job->to, strlen(job->to), 0600,
				    FS_DURABLE);
	if (err)
		ckpt_error_prefix(err, "half done; run the command again to finish it");
	free(reason);
	return err;
}

/* With the store locked: no other process moves it, or saves into it. */
static int adopt_store(struct relink *job, struct relink_result *out)
{
	int lockfd = -1, err = count_checkpoints(&job->checkpoints, job->store);

	if (!err)
		err = check_own(job);
	if (!err)
		err = check_old_path(job);
	if (!err)
		err = check_place(job);
	if (!err)
		err = lock_packing(job);
	if (err)
		return err;
	out->from = xstrdup(job->store->worktree);
	lockfd = layout_lock_home(job->session->home, true);
	if (lockfd < 0)
		return ckpt_error_errno("unable to lock '%s'", job->session->home);
	if (!job->interrupted)
		err = move_store(job);
	close(lockfd);
	return err ? err : finish_move(job, out);
}

int relink_store(struct relink_result *out, struct session *session, const char *name, bool force)
{
	struct relink job = { .session = session, .name = name, .force = force, .packing = -1,
			      .own_packing = -1 };
	int err = inventory_find(&job.store, session->home, session->cwd, name);

	memset(out, 0, sizeof(*out));
	if (err == CKPT_ENOTFOUND)
		err = check_own_first(&job);
	if (!err)
		err = health_check_version(job.store);
	if (!err)
		err = store_lock(job.store, session->settings.lock_timeout);
	/* Another process may have finished what looked interrupted. */
	if (!err)
		inventory_read_worktree(job.store);
	if (!err)
		err = find_folder(&job);
	if (!err)
		err = adopt_store(&job, out);
	if (err) {
		relink_result_release(out);
	} else {
		out->to = job.to;
		job.to = NULL;
		memcpy(out->key, job.key, sizeof(out->key));
		out->checkpoints = job.checkpoints;
	}
	fs_close(job.packing);
	fs_close(job.own_packing);
	store_close(job.own);
	store_close(job.store);
	free(job.to);
	return err;
}
