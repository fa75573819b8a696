/* SPDX-License-Identifier: MIT */
#include "ops/apply.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "ops/compare.h"
#include "worktree/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYNC_EACH_MAX = 64 };

/* A directory that had to be made writable for a moment. */
struct opened {
	char *path;
	mode_t mode;
};

struct apply {
	const struct apply_opts *opts;
	struct strlist *changed;
	struct stage *stage;
	const struct plan *plan;
	struct opened *opened;
	size_t opened_nr, opened_alloc;
};

static int failed(const struct plan_action *action, const char *what)
{
	return ckpt_error_errno("unable to %s '%s'", what, action->path);
}

/*
 * Make the directory that an action works in writable; true if that may help.
 * The modes of those that no checkpoint has are noted before.
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
	ALLOC_GROW(apply->opened, apply->opened_nr + 1, apply->opened_alloc);
	apply->opened[apply->opened_nr++] = opened;
	return true;
}

/* Their own modes again, where the plan did not set another. */
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

/* rename(2) between the staging directory and the worktree, past read-only directories. */
static int move(struct apply *apply, const struct plan_action *action, int from, const char *a,
		int to, const char *b, unsigned flags, int dirfd)
{
	int rc = renameat2(from, a, to, b, flags);

	if (rc < 0 && open_up(apply, action, dirfd))
		rc = renameat2(from, a, to, b, flags);
	return rc;
}

/*
 * A file that a displaced directory holds. Its ctime counts, since it shows what
 * was written with the other times put back; but that of a file with several
 * names also changes with what is done to the others, here or anywhere. Then
 * its contents tell.
 */
static bool file_as_scanned(int dirfd, const char *name, const struct stat *st,
			    const struct wt_entry *seen)
{
	struct wt_stat now;

	wt_stat_from(&now, st);
	if (wt_stat_equal(&now, &seen->st))
		return true;
	return S_ISREG(st->st_mode) && seen->kind == WT_FILE && now.ino == seen->st.ino &&
	       now.size == seen->st.size && now.mtime_ns == seen->st.mtime_ns &&
	       (st->st_mode & 07777) == seen->mode && stage_file_is(dirfd, name, &seen->oid);
}

/* A displaced directory: all that is in it must be as the scan saw it. */
static bool dir_as_scanned(int dirfd, const char *name, const struct wt_dir *dir)
{
	int fd = beneath_open(dirfd, name, O_RDONLY | O_DIRECTORY);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;
	bool same = true;

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (same && (ent = readdir(stream))) {
		const struct wt_entry *seen;
		struct stat st;

		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		seen = wt_child(dir, ent->d_name, strlen(ent->d_name));
		same = seen && !fstatat(fd, ent->d_name, &st, AT_SYMLINK_NOFOLLOW);
		if (!same)
			break;
		same = seen->kind == WT_DIR ? dir_as_scanned(fd, ent->d_name, seen->dir) :
					      file_as_scanned(fd, ent->d_name, &st, seen);
	}
	closedir(stream);
	return same;
}

/* Is what lies in the staging directory now what the scan saw? Renaming changes only its ctime. */
static bool as_scanned(const struct stage *stage, const char *number, const struct wt_entry *seen)
{
	struct wt_stat now;
	struct stat st;

	if (fstatat(stage->fd, number, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	wt_stat_from(&now, &st);
	if (now.ino != seen->st.ino)
		return false;
	if (seen->kind == WT_DIR)
		return dir_as_scanned(stage->fd, number, seen->dir);
	return now.size == seen->st.size && now.mtime_ns == seen->st.mtime_ns;
}

static int note_changed(struct apply *apply, const struct plan_action *action)
{
	strlist_add(apply->changed, action->path);
	return 0;
}

static int put_new(struct apply *apply, const struct plan_action *action, const char *number,
		   int dirfd, const char *name)
{
	if (move(apply, action, apply->stage->fd, number, dirfd, name, RENAME_NOREPLACE, dirfd) < 0) {
		if (errno == EEXIST)
			return note_changed(apply, action);
		return failed(action, "create");
	}
	return 0;
}

static int exchange(struct apply *apply, const struct plan_action *action, const char *number,
		    int dirfd, const char *name)
{
	struct stage *stage = apply->stage;
	int rc = move(apply, action, stage->fd, number, dirfd, name, RENAME_EXCHANGE, dirfd);

	/* A directory that changes its parent must be writable itself. */
	if (rc < 0 && errno == EACCES && action->current->kind == WT_DIR &&
	    !beneath_set_mode(dirfd, name, action->current->mode | 0700))
		rc = move(apply, action, stage->fd, number, dirfd, name, RENAME_EXCHANGE, dirfd);
	if (rc < 0) {
		if (errno == ENOENT)
			return note_changed(apply, action);
		return failed(action, "write");
	}
	if (as_scanned(stage, number, action->current))
		return 0;
	/* Somebody wrote it after the scan; that is in no checkpoint. */
	if (renameat2(stage->fd, number, dirfd, name, RENAME_EXCHANGE) < 0)
		return failed(action, "put back");
	if (action->current->kind == WT_DIR)
		(void)beneath_set_mode(dirfd, name, action->current->mode);
	return note_changed(apply, action);
}

static int place(struct apply *apply, size_t index)
{
	const struct plan_action *action = &apply->plan->actions[index];
	const char *name;
	char number[32];
	int dirfd = beneath_open_parent(apply->stage->rootfd, action->path, &name), err = 0;
	size_t changed = apply->changed->nr;

	if (dirfd < 0)
		return failed(action, "reach");
	snprintf(number, sizeof(number), "%zu", index);
	switch (action->kind) {
	case PLAN_CREATE:
		err = put_new(apply, action, number, dirfd, name);
		break;
	case PLAN_OVERWRITE:
	case PLAN_REPLACE:
		err = exchange(apply, action, number, dirfd, name);
		break;
	default:
		break;
	}
	/* What was left as it is keeps its mode, too. */
	if (!err && changed == apply->changed->nr && action->target->kind == WT_DIR &&
	    beneath_set_mode(dirfd, name, action->target->mode) < 0)
		err = failed(action, "set the mode of");
	close(dirfd);
	return err;
}

static int change_mode(struct apply *apply, const struct plan_action *action)
{
	const char *name;
	int dirfd = beneath_open_parent(apply->stage->rootfd, action->path, &name), err = 0;
	struct stat st;

	if (dirfd < 0)
		return failed(action, "reach");
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode) ||
	    (uint64_t)st.st_ino != action->current->st.ino ||
	    (!S_ISDIR(st.st_mode) && st.st_nlink > 1)) /* since the scan: see plan.h */
		err = note_changed(apply, action);
	else if (beneath_set_mode(dirfd, name, action->target->mode) < 0)
		err = failed(action, "set the mode of");
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

	/* A directory that nobody looked into goes if it can. */
	if (dirfd < 0)
		return errno == ENOENT || !action->current ? 0 : failed(action, "reach");
	snprintf(number, sizeof(number), "%zu", index);
	if (!action->current) {
		(void)unlinkat(dirfd, name, AT_REMOVEDIR);
	} else if (action->kind == PLAN_RMDIR) {
		int rc = unlinkat(dirfd, name, AT_REMOVEDIR);

		if (rc < 0 && open_up(apply, action, dirfd))
			rc = unlinkat(dirfd, name, AT_REMOVEDIR);
		/* Not empty: kept for the sake of what is in it. */
		if (rc < 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT && errno != EBUSY)
			err = failed(action, "remove");
	} else if (move(apply, action, dirfd, name, stage->fd, number, 0, dirfd) < 0) {
		err = errno == ENOENT ? 0 : failed(action, "remove");
	} else if (!as_scanned(stage, number, action->current)) {
		if (renameat2(stage->fd, number, dirfd, name, RENAME_NOREPLACE) < 0)
			err = failed(action, "put back");
		else
			err = note_changed(apply, action);
	}
	close(dirfd);
	return err;
}

struct syncer {
	int rootfd;
	struct strlist paths;
};

static int sync_path(size_t index, unsigned worker, void *payload)
{
	struct syncer *syncer = payload;
	const char *path = syncer->paths.items[index];
	int fd = beneath_open(syncer->rootfd, path, O_RDONLY | O_NONBLOCK), err = 0;

	(void)worker;
	if (fd < 0)
		return 0; /* removed with all that was in it, or not to be read */
	if (fsync(fd) < 0 && errno != EINVAL) /* something else by now that knows no such thing */
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

/* Where something changed, and what has a new mode: a few one by one, many by one call. */
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

int apply_run(struct strlist *changed, const struct apply_opts *opts)
{
	const struct plan *plan = opts->plan;
	struct apply apply = {
		.opts = opts, .changed = changed, .stage = opts->stage, .plan = plan
	};
	int err = 0;

	for (size_t i = 0; i < plan->nr && !err; i++) {
		enum plan_kind kind = plan->actions[i].kind;

		if (kind == PLAN_CHMOD)
			err = change_mode(&apply, &plan->actions[i]);
		else if (kind < PLAN_REMOVE)
			err = place(&apply, i);
	}
	for (size_t i = 0; i < plan->nr && !err; i++)
		if (plan->actions[i].kind >= PLAN_REMOVE)
			err = take_away(&apply, i);
	close_up(&apply);
	return err ? err : sync_all(&apply, opts->threads);
}
