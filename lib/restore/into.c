/* SPDX-License-Identifier: MIT */
#include "restore/into_internal.h"

#include "base/base.h"
#include "record/record.h"

void into_result_release(struct into_result *result)
{
	free(result->path);
	free(result->head);
	strlist_release(&result->differing);
	strlist_release(&result->warnings);
	memset(result, 0, sizeof(*result));
}

static void init(struct into *into, struct into_result *out, struct session *session,
		 const struct into_opts *opts)
{
	memset(out, 0, sizeof(*out));
	memset(into, 0, sizeof(*into));
	into->session = session;
	into->opts = opts;
	into->out = out;
	into->fd = into->marker_fd = into->clones.rootfd = -1;
	into->hold = (struct keepers_hold)KEEPERS_HOLD_INIT;
	strlist_extend(&into->paths, opts->paths);
	/* The root, which is sorted before all others, covers them. */
	if (into->paths.nr && !*into->paths.items[0])
		strlist_release(&into->paths);
}

static void release(struct into *into)
{
	into_write_release(into);
	into_clones_close(&into->clones);
	into_git_release(&into->git);
	snapshot_free(into->tree);
	keepers_let_go(&into->hold);
	fs_close(into->marker_fd);
	fs_close(into->fd);
	free(into->marker);
	strlist_release(&into->made);
	strlist_release(&into->paths);
}

/* Read what is to be copied; the store is not locked, but this checkpoint stays while we do. */
static int open_target(struct into *into)
{
	struct store *store = into->session->store;
	const struct ckpt_record *target = into->opts->target;
	int err;

	if (target->state_only)
		return ckpt_error_set(CKPT_ENOTFOUND, "checkpoint '%s' holds only state, no files",
				      target->id);
	err = objects_open(store);
	if (!err)
		err = keepers_hold(&into->hold, store, target->id);
	return err ? err : snapshot_open(&into->tree, store, target);
}

static int check_paths(struct into *into)
{
	for (size_t i = 0; i < into->paths.nr; i++) {
		struct wt_entry *entry = NULL;
		int err = snapshot_find(&entry, into->tree, into->paths.items[i]);

		if (err)
			return err;
		if (!entry)
			return ckpt_error_set(CKPT_ENOTFOUND, "'%s' is not in checkpoint '%s'",
					      into->paths.items[i], into->opts->target->id);
	}
	return 0;
}

/* Everything up to the point where something is written. */
static int prepare(struct into *into)
{
	int err = open_target(into);

	if (!err)
		err = check_paths(into);
	if (!err)
		err = into_find_place(into);
	if (!err)
		err = into_list(into);
	if (!err)
		err = into_git_plan(into);
	if (!err)
		err = into_check_left(into);
	return err ? err : into_hash_target(into);
}

/* The disk is busy with the one while the processor is with the other. */
static int sync_or_verify(size_t index, unsigned worker, void *payload)
{
	struct into *into = payload;

	(void)worker;
	if (index)
		return into_sync(into);
	return into->opts->no_verify ? 0 : into_verify(into);
}

/*
 * A live file from which contents were taken may have been written to meanwhile;
 * the store has them, too.
 */
static int write_and_verify(struct into *into)
{
	int err = into_write(into);

	if (!err)
		err = pool_for(into->session->threads, 2, sync_or_verify, into);
	if (!err && into->out->verified && !into->out->match && into->out->cloned) {
		into->left = into->no_clones = true;
		err = into_write(into);
		if (!err)
			err = pool_for(into->session->threads, 2, sync_or_verify, into);
	}
	return err;
}

static int carry_out(struct into *into)
{
	int err = into_take_place(into);

	if (!err)
		err = write_and_verify(into);
	/* What is not right stays marked as unfinished. */
	if (err || (into->out->verified && !into->out->match))
		return err;
	if (into->opts->worktree) {
		err = into_git_apply(into);
		if (!err)
			err = into_sync(into);
	}
	return err ? err : into_finish_place(into);
}

static void add_to_log(const struct into *into)
{
	struct session *session = into->session;
	char *where = xstrfmt("into %s", into->out->path);
	/* If somebody keeps the lock for long, a line that gets lost is the smaller evil. */
	bool locked = !store_lock(session->store, session->settings.lock_timeout);

	(void)audit_add_restore(session->store, "into", into->opts->target,
				into->opts->reason ? into->opts->reason : where,
				into->opts->source,
				into->out->verified ? into->out->post_hash : NULL, JOURNAL_FILES);
	if (locked)
		store_unlock(session->store);
	free(where);
}

static int explain(const struct into *into, int err)
{
	if (err == CKPT_ECANCELLED)
		return ckpt_error_set(err, "interrupted; the same command continues the copy in '%s'",
				      into->out->path);
	return ckpt_error_prefix(err, "the copy in '%s' is unfinished, the same command continues it",
				 into->out->path);
}

int into_run(struct into_result *out, struct session *session, const struct into_opts *opts)
{
	struct into into;
	int err;

	init(&into, out, session, opts);
	err = prepare(&into);
	if (!err)
		err = carry_out(&into);
	if (err) {
		char *kept = ckpt_error_keep();

		into_leave_place(&into);
		err = ckpt_error_put_back(err, kept);
		if (into.begun && !opts->passing && err != CKPT_EREFUSED && err != CKPT_ELOCKED)
			err = explain(&into, err);
	} else if (!opts->passing) {
		add_to_log(&into);
	}
	release(&into);
	if (err)
		into_result_release(out);
	return err;
}
