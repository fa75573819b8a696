/* SPDX-License-Identifier: MIT */
#include "restore/stage_internal.h"

enum { SYNC_EACH_MAX = 64 };

/* A directory that had to be made writable for a moment. */
struct opened {
	char *path;
	mode_t mode;
};

/* Something that was displaced while another process had it open for writing. */
struct busy {
	const struct plan_action *action;
	char *name; /* in the stage */
};

struct apply {
	const struct apply_opts *opts;
	struct apply_result *out;
	struct stage *stage;
	const struct plan *plan;
	struct opened *opened;
	size_t opened_nr, opened_alloc;
	struct busy *busy;
	size_t busy_nr, busy_alloc;
	size_t freed; /* what this many actions displaced is gone for good */
};

static int set_failed(const struct plan_action *action, const char *what)
{
	return ckpt_error_errno("unable to %s '%s'", what, action->path);
}

/*
 * Make the directory of an action writable; true if that may help. Modes that
 * no checkpoint has are recorded first.
 */
static bool open_up(struct apply *apply, const struct plan_action *action, int dirfd)
{
	const struct apply_opts *opts = apply->opts;
	const char *slash = strrchr(action->path, '/');
	struct opened opened;
	struct stat st;
	char proc[64];

	if ((errno != EACCES && errno != EPERM) || fstat(dirfd, &st) < 0 ||
	    (st.st_mode & 0300) == 0300)
		return false;
	opened = (struct opened){
		.path = xmemdupz(action->path, slash ? (size_t)(slash - action->path) : 0),
		.mode = st.st_mode & 07777,
	};
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", dirfd);
	if (((!*opened.path || !compare_in_scope(opts->paths, opened.path)) &&
	     opts->note_mode(opened.path, opened.mode, opts->payload)) ||
	    chmod(proc, opened.mode | 0700) < 0) {
		free(opened.path);
		errno = EACCES;
		return false;
	}
	*ALLOC_NEXT(apply->opened, apply->opened_nr, apply->opened_alloc) = opened;
	return true;
}

/* Restore their modes, unless the plan set another. */
static void close_up(struct apply *apply)
{
	for (size_t i = apply->opened_nr; i--;) {
		struct opened *opened = &apply->opened[i];
		mode_t mode = opened->mode;
		const char *name;
		int dirfd;

		for (size_t j = 0; j < apply->plan->nr; j++)
			if (apply->plan->actions[j].kind == PLAN_CHMOD &&
			    !strcmp(apply->plan->actions[j].path, opened->path))
				mode = apply->plan->actions[j].target->mode;
		dirfd = *opened->path ? beneath_open_parent(apply->stage->rootfd, opened->path, &name) :
					dup(apply->stage->rootfd);
		if (dirfd >= 0) {
			(void)beneath_set_mode(dirfd, *opened->path ? name : ".", mode);
			close(dirfd);
		}
		free(opened->path);
	}
	free(apply->opened);
}

/* Except for what is in no checkpoint, or may soon be. */
static void free_displaced(struct apply *apply, const char *name)
{
	for (size_t i = 0; i < apply->busy_nr; i++)
		if (!strcmp(apply->busy[i].name, name))
			return;
	for (size_t i = 0; i < apply->out->late_names.nr; i++)
		if (!strcmp(apply->out->late_names.items[i], name))
			return;
	(void)fs_remove_tree(apply->stage->fd, name);
}

/*
 * An overlay copies a file before it renames it or changes its mode. What earlier actions displaced
 * was found to be in the safety checkpoint, so it can be removed early.
 */
static bool free_room(struct apply *apply, const struct plan_action *action)
{
	size_t done = (size_t)(action - apply->plan->actions), before = apply->freed;
	char name[48];

	if (errno != ENOSPC && errno != EDQUOT)
		return false;
	for (; apply->freed < done; apply->freed++) {
		snprintf(name, sizeof(name), "%zu", apply->freed);
		free_displaced(apply, name);
		snprintf(name, sizeof(name), "%zu-old", apply->freed);
		free_displaced(apply, name);
	}
	errno = ENOSPC;
	return done > before;
}

/*
 * How a name gets from one directory to the other: see swap.h; the last one replaces, only in our
 * directory.
 */
typedef int (*move_fn)(int fromfd, const char *from, int tofd, const char *to);

/* Between the stage and the worktree, past read-only directories. */
static int move_name(struct apply *apply, const struct plan_action *action, move_fn fn, int from,
		     const char *a, int to, const char *b, int dirfd)
{
	int rc = fn(from, a, to, b);

	if (rc < 0 && (open_up(apply, action, dirfd) || free_room(apply, action)))
		rc = fn(from, a, to, b);
	return rc;
}

/* Out of the worktree, or in exchange for something in the stage. */
static int displace_entry(struct apply *apply, const struct plan_action *action, move_fn fn,
			  int dirfd, const char *name, const char *staged)
{
	int stagefd = apply->stage->fd;
	int rc = move_name(apply, action, fn, dirfd, name, stagefd, staged, dirfd);

	/* A directory that changes its parent must be writable itself. */
	if (rc < 0 && errno == EACCES && action->current->kind == WT_DIR &&
	    !beneath_set_mode(dirfd, name, action->current->mode | 0700))
		rc = move_name(apply, action, fn, dirfd, name, stagefd, staged, dirfd);
	return rc;
}

static int note_changed(struct apply *apply, const struct plan_action *action)
{
	strlist_add(&apply->out->changed, action->path);
	return 0;
}

/* It is in no checkpoint, and must not be removed with the stage. */
static void note_late(struct apply *apply, const struct plan_action *action, const char *staged)
{
	strlist_add(&apply->out->late, action->path);
	strlist_add(&apply->out->late_names, staged);
}

/* Whether it may go; a process that has it open may still write. */
static bool as_scanned(struct apply *apply, const char *staged, const struct plan_action *action)
{
	bool writer = false;
	bool same = displaced_as_scanned(apply->stage->fd, staged, action->current, &writer);

	if (same && writer)
		*ALLOC_NEXT(apply->busy, apply->busy_nr, apply->busy_alloc) =
			(struct busy){ .action = action, .name = xstrdup(staged) };
	return same;
}

static int put_new(struct apply *apply, const struct plan_action *action, const char *number,
		   int dirfd, const char *name)
{
	if (move_name(apply, action, swap_put, apply->stage->fd, number, dirfd, name, dirfd) < 0) {
		if (errno == EEXIST)
			return note_changed(apply, action);
		return set_failed(action, "create");
	}
	return 0;
}

/* Written after the scan, unless it could not be read: then nothing is known. */
static int left_alone(struct apply *apply, const struct plan_action *action)
{
	int err = ckpt_error_lack();

	return err ? ckpt_error_prefix(err, "unable to look at '%s'", action->path) :
		     note_changed(apply, action);
}

/* It is in no checkpoint. */
static int put_entry_back(struct apply *apply, const struct plan_action *action, move_fn fn,
			  const char *staged, int dirfd, const char *name)
{
	if (fn(apply->stage->fd, staged, dirfd, name) < 0)
		return set_failed(action, "put back");
	/* And once more: that is newer than what was just put back, which is kept. */
	if (fn == swap_exchange && !stage_is_stored(apply->stage->store, apply->stage->fd, staged)) {
		if (fn(apply->stage->fd, staged, dirfd, name) < 0)
			return set_failed(action, "put back");
		note_late(apply, action, staged);
		return left_alone(apply, action);
	}
	if (action->current->kind == WT_DIR)
		(void)beneath_set_mode(dirfd, name, action->current->mode);
	return left_alone(apply, action);
}

/*
 * On a file system that cannot exchange names, or not this directory: move the
 * old file aside, then the new one into its place. Killed in between, there is
 * neither, or only a part of the directory, and both are in checkpoints:
 * --continue or --abort restores one or the other.
 */
static int exchange_in_steps(struct apply *apply, const struct plan_action *action,
			     const char *number, int dirfd, const char *name)
{
	struct stage *stage = apply->stage;
	char aside[48];
	int saved;

	snprintf(aside, sizeof(aside), "%s-old", number);
	if (displace_entry(apply, action, swap_put, dirfd, name, aside) < 0)
		return errno == ENOENT ? note_changed(apply, action) : set_failed(action, "write");
	if (!as_scanned(apply, aside, action))
		return put_entry_back(apply, action, swap_put, aside, dirfd, name);
	if (!move_name(apply, action, swap_put, stage->fd, number, dirfd, name, dirfd))
		return 0;
	/* What was created there meanwhile stays; the old file is in the safety checkpoint. */
	if (errno == EEXIST)
		return note_changed(apply, action);
	saved = errno;
	(void)swap_put(stage->fd, aside, dirfd, name);
	errno = saved;
	return set_failed(action, "write");
}

static int exchange_entry(struct apply *apply, const struct plan_action *action, const char *number,
			  int dirfd, const char *name)
{
	if (displace_entry(apply, action, swap_exchange, dirfd, name, number) < 0) {
		if (swap_unknown(errno) || (errno == EXDEV && action->current->kind == WT_DIR))
			return exchange_in_steps(apply, action, number, dirfd, name);
		return errno == ENOENT ? note_changed(apply, action) : set_failed(action, "write");
	}
	if (as_scanned(apply, number, action))
		return 0;
	return put_entry_back(apply, action, swap_exchange, number, dirfd, name);
}

/* PLAN_CREATE, PLAN_OVERWRITE or PLAN_REPLACE. */
static int put_in_place(struct apply *apply, size_t index)
{
	const struct plan_action *action = &apply->plan->actions[index];
	const char *name;
	char number[32];
	int dirfd = beneath_open_parent(apply->stage->rootfd, action->path, &name), err;
	size_t changed = apply->out->changed.nr;

	if (dirfd < 0)
		return set_failed(action, "reach");
	snprintf(number, sizeof(number), "%zu", index);
	err = action->kind == PLAN_CREATE ? put_new(apply, action, number, dirfd, name)
					  : exchange_entry(apply, action, number, dirfd, name);
	/* What was left as it is keeps its mode, too. */
	if (!err && changed == apply->out->changed.nr && action->target->kind == WT_DIR &&
	    !apply->stage->fixed_modes &&
	    beneath_set_mode(dirfd, name, action->target->mode) < 0)
		err = set_failed(action, "set the mode of");
	close(dirfd);
	return err;
}

/* For a file: it must be the one that the scan saw, and still have no other name: see plan.h. */
static bool may_change(int dirfd, const char *name, const struct stat *st,
		       const struct plan_action *action)
{
	if (action->current->kind == WT_DIR)
		return S_ISDIR(st->st_mode);
	return S_ISREG(st->st_mode) && st->st_nlink <= 1 &&
	       ((uint64_t)st->st_ino == action->current->st.ino ||
		displaced_same_file(dirfd, name, st, action->current));
}

static int change_mode(struct apply *apply, const struct plan_action *action)
{
	const char *name;
	int dirfd = beneath_open_parent(apply->stage->rootfd, action->path, &name), err = 0;
	struct stat st;

	if (dirfd < 0)
		return set_failed(action, "reach");
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !may_change(dirfd, name, &st, action))
		err = left_alone(apply, action);
	else if (beneath_set_mode(dirfd, name, action->target->mode) < 0 &&
		 (!free_room(apply, action) ||
		  beneath_set_mode(dirfd, name, action->target->mode) < 0))
		err = set_failed(action, "set the mode of");
	close(dirfd);
	return err;
}

static int take_away(struct apply *apply, size_t index)
{
	const struct plan_action *action = &apply->plan->actions[index];
	struct stage *stage = apply->stage;
	const char *name;
	char number[32];
	int dirfd = beneath_open_parent(stage->rootfd, action->path, &name), err = 0;

	/* A directory that was not scanned goes if it can. */
	if (dirfd < 0)
		return errno == ENOENT || !action->current ? 0 : set_failed(action, "reach");
	snprintf(number, sizeof(number), "%zu", index);
	if (!action->current) {
		(void)unlinkat(dirfd, name, AT_REMOVEDIR);
	} else if (action->kind == PLAN_RMDIR) {
		int rc = unlinkat(dirfd, name, AT_REMOVEDIR);

		if (rc < 0 && open_up(apply, action, dirfd))
			rc = unlinkat(dirfd, name, AT_REMOVEDIR);
		/* Not empty: kept because of its contents. */
		if (rc < 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT && errno != EBUSY)
			err = set_failed(action, "remove");
	} else if (move_name(apply, action, renameat, dirfd, name, stage->fd, number, dirfd) < 0) {
		err = errno == ENOENT ? 0 : set_failed(action, "remove");
	} else if (!as_scanned(apply, number, action)) {
		err = put_entry_back(apply, action, swap_put, number, dirfd, name);
	}
	close(dirfd);
	return err;
}

struct syncer {
	int rootfd;
	struct strlist paths;
};

static int sync_path(size_t index, unsigned worker UNUSED, void *payload)
{
	struct syncer *syncer = payload;
	const char *path = syncer->paths.items[index];
	int fd = beneath_open(syncer->rootfd, path, O_RDONLY | O_NONBLOCK), err = 0;

	if (fd < 0)
		return 0; /* removed with everything in it, or unreadable */
	if (fsync(fd) < 0 && errno != EINVAL) /* replaced by now by something that cannot be synced */
		err = ckpt_error_errno("unable to sync '%s'", path);
	close(fd);
	return err;
}

/* What was staged is synced, but for the mode of a directory. */
static bool mode_was_set(const struct plan_action *action)
{
	return action->kind == PLAN_CHMOD ||
	       (action->kind < PLAN_REMOVE && action->target->kind == WT_DIR);
}

/* Where something changed, and what has a new mode: a few one by one, many with one call. */
static int sync_all(struct apply *apply, unsigned threads)
{
	struct syncer syncer = { .rootfd = apply->stage->rootfd };
	int err;

	for (size_t i = 0; i < apply->plan->nr && i <= SYNC_EACH_MAX; i++) {
		const char *path = apply->plan->actions[i].path, *slash = strrchr(path, '/');

		strlist_addf(&syncer.paths, "%.*s", slash ? (int)(slash - path) : 0, path);
		if (mode_was_set(&apply->plan->actions[i]))
			strlist_add(&syncer.paths, path);
	}
	strlist_sort_unique(&syncer.paths);
	if (apply->plan->nr <= SYNC_EACH_MAX)
		err = pool_for(threads, syncer.paths.nr, sync_path, &syncer);
	else
		err = syncfs(syncer.rootfd) < 0 ? ckpt_error_errno("unable to sync the file system of the worktree") : 0;
	strlist_release(&syncer.paths);
	return err;
}

/* Most are done by now. What was written cannot go back: something else is in its place. */
static void look_at_busy(struct apply *apply)
{
	struct apply_result *out = apply->out;

	for (size_t i = 0; i < apply->busy_nr; i++) {
		struct busy *busy = &apply->busy[i];
		bool writer = false;

		if (!displaced_as_scanned(apply->stage->fd, busy->name, busy->action->current,
					  &writer)) {
			note_late(apply, busy->action, busy->name);
		} else if (writer) {
			strlist_add(&out->open, busy->action->path);
		}
		free(busy->name);
	}
	free(apply->busy);
}

void apply_result_release(struct apply_result *result)
{
	strlist_release(&result->changed);
	strlist_release(&result->late);
	strlist_release(&result->late_names);
	strlist_release(&result->open);
}

int apply_run(struct apply_result *out, const struct apply_opts *opts)
{
	const struct plan *plan = opts->plan;
	struct apply apply = {
		.opts = opts, .out = out, .stage = opts->stage, .plan = plan
	};
	int err = 0;

	/*
	 * Everything is saved and staged: what could not be opened before does not affect what
	 * follows.
	 */
	ckpt_error_forget_lack();
	for (size_t i = 0; i < plan->nr && !err; i++) {
		enum plan_kind kind = plan->actions[i].kind;

		if (kind == PLAN_CHMOD)
			err = change_mode(&apply, &plan->actions[i]);
		else if (kind < PLAN_REMOVE)
			err = put_in_place(&apply, i);
	}
	for (size_t i = 0; i < plan->nr && !err; i++)
		if (plan->actions[i].kind >= PLAN_REMOVE)
			err = take_away(&apply, i);
	close_up(&apply);
	if (!err)
		err = sync_all(&apply, opts->threads);
	look_at_busy(&apply);
	return err;
}
