/* SPDX-License-Identifier: MIT */
#include "restore/restore_internal.h"

void survey_release(struct survey *survey)
{
	strlist_release(&survey->also);
	strlist_release(&survey->dirs);
	strlist_release(&survey->elsewhere);
	strlist_release(&survey->denied);
	strlist_release(&survey->conflicts);
}

const char *survey_kind(const struct stat *st)
{
	return S_ISDIR(st->st_mode) ? "directory" :
	       S_ISREG(st->st_mode) ? "file" :
	       S_ISLNK(st->st_mode) ? "symbolic link" :
				      "special file";
}

static void add_conflict(struct survey *survey, const char *wanted, const char *obstacle,
			 const char *kind)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	quote_path(&a, wanted);
	quote_path(&b, obstacle);
	strlist_addf(&survey->conflicts,
		     "the %s '%s', which checkpoints leave out, is in the way of '%s'", kind, b.buf,
		     a.buf);
	strbuf_release(&a);
	strbuf_release(&b);
}

/*
 * lstat below the root; -1 with errno. `obstacle` is set to the part of the path that is not a
 * directory.
 */
static int stat_beneath(struct stat *st, int rootfd, const char *path, struct strbuf *obstacle)
{
	const char *name;
	int dirfd = beneath_open_parent(rootfd, path, &name), rc, saved;

	if (dirfd < 0) {
		if (errno == ENOTDIR || errno == ELOOP) {
			const char *slash = strrchr(path, '/');

			strbuf_reset(obstacle);
			strbuf_add(obstacle, path, slash ? (size_t)(slash - path) : 0);
			errno = ENOTDIR;
		}
		return -1;
	}
	rc = fstatat(dirfd, name, st, AT_SYMLINK_NOFOLLOW);
	saved = errno;
	close(dirfd);
	errno = saved;
	return rc;
}

/* 1 if the directory exists and its contents must be created one by one. */
static int check_create(struct survey *survey, int rootfd, const char *path,
			const struct wt_entry *target)
{
	struct strbuf obstacle = STRBUF_INIT;
	struct stat st;
	int split = 0;

	if (stat_beneath(&st, rootfd, path, &obstacle) < 0) {
		if (errno == ENOTDIR)
			add_conflict(survey, path, obstacle.buf, "file");
		else if (errno != ENOENT)
			strlist_add(&survey->also, path);
	} else if (target->kind == WT_DIR && S_ISDIR(st.st_mode)) {
		split = 1;
	} else if (target->kind != WT_DIR && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))) {
		strlist_add(&survey->also, path);
	} else {
		add_conflict(survey, path, path, survey_kind(&st));
	}
	strbuf_release(&obstacle);
	return split;
}

/* What is restored into a directory that cannot be listed could be neither checked nor undone. */
static bool can_list(int rootfd, const char *path)
{
	int fd = beneath_open(rootfd, path, O_RDONLY | O_DIRECTORY);

	fs_close(fd);
	return fd >= 0;
}

/* What belongs to this user can be made writable, unless it is immutable (EPERM). */
static bool may_write(int dirfd, const char *name)
{
	struct stat st;

	if (!faccessat(dirfd, name, W_OK | X_OK, AT_EACCESS))
		return true;
	/* Other failures, for example of a read-only file system, are reported with their names. */
	return errno != EPERM && (errno != EACCES || (!fstatat(dirfd, name, &st, 0) &&
						      st.st_uid == geteuid()));
}

/* What chattr(1) made immutable or append-only cannot be changed or renamed, not even by root. */
static bool is_fixed(int dirfd, const char *name)
{
	struct statx stx;

	return !statx(dirfd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) &&
	       stx.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND);
}

/* In a sticky directory anyone can add files, but only their owners can move them. */
static bool is_stuck(int dirfd, const char *name)
{
	struct stat dir, self;
	uid_t me = geteuid();

	return me && !fstat(dirfd, &dir) && (dir.st_mode & S_ISVTX) && dir.st_uid != me &&
	       !fstatat(dirfd, name, &self, AT_SYMLINK_NOFOLLOW) && self.st_uid != me;
}

/* The directory's own entries; subdirectories to be checked are added to `dirs`. */
static int check_names(struct strlist *dirs, struct survey *survey, const struct plan_opts *opts,
		       int fd, const char *wanted, const char *path, const struct wt_dir *dir)
{
	bool writable = may_write(fd, ".") && !is_fixed(fd, "");
	struct strlist names = STRLIST_INIT;
	int rc = fs_names(&names, fd, ".", 0, NULL);

	for (size_t i = 0; i < names.nr && !rc; i++) {
		const char *name = names.items[i];
		const struct wt_entry *child = wt_child(dir, name, strlen(name));
		char *below = xstrfmt("%s/%s", path, name);

		/* It would be moved away with the rest, but could never be removed. */
		if (!writable || is_stuck(fd, name) || is_fixed(fd, name))
			strlist_add(&survey->denied, wanted);
		if (!child ||
		    (opts->protect && opts->protect(below, child->kind, opts->payload))) {
			struct stat st = { 0 };

			(void)fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW);
			add_conflict(survey, wanted, below, survey_kind(&st));
		} else if (child->kind == WT_DIR) {
			strlist_add(dirs, name);
		}
		free(below);
	}
	strlist_release(&names);
	return rc;
}

/*
 * A directory that must make room: everything in it must be captured. One
 * directory is open at a time, however deep they are.
 */
static int check_emptied(struct survey *survey, const struct plan_opts *opts, int rootfd,
			 const char *wanted, const char *path, const struct wt_dir *dir)
{
	int fd = beneath_open(rootfd, path, O_RDONLY | O_DIRECTORY), err = 0;
	struct strlist dirs = STRLIST_INIT;

	if (fd < 0 || check_names(&dirs, survey, opts, fd, wanted, path, dir) < 0)
		err = ckpt_error_errno("unable to read the directory '%s'", path);
	fs_close(fd);
	for (size_t i = 0; i < dirs.nr && !err; i++) {
		const struct wt_entry *child = wt_child(dir, dirs.items[i], strlen(dirs.items[i]));
		char *below = xstrfmt("%s/%s", path, dirs.items[i]);

		err = check_emptied(survey, opts, rootfd, wanted, below, child->dir);
		free(below);
	}
	strlist_release(&dirs);
	return err;
}

/* True if something is in a directory that the plan does not remove: it must stay. */
static bool holds_kept(const struct plan *plan, struct beneath_near *near, int rootfd,
		       const char *path, const struct wt_dir *dir)
{
	int fd = beneath_open_near(near, rootfd, path, O_RDONLY | O_DIRECTORY);
	struct strlist names = STRLIST_INIT;
	bool found;

	if (fd < 0)
		return false;
	/* What cannot be read is not known to be removed. */
	found = fs_names(&names, fd, ".", 0, NULL) < 0;
	if (found && fs_is_lack(errno))
		(void)ckpt_error_errno("unable to read the directory '%s'",
				       path); /* see ckpt_error_lack() */
	for (size_t i = 0; i < names.nr && !found; i++) {
		const char *name = names.items[i];
		char *below = xstrfmt("%s/%s", path, name);

		/* What is below it was checked before, since the deepest comes first. */
		found = !wt_child(dir, name, strlen(name)) || plan_keeps(plan, below);
		free(below);
	}
	strlist_release(&names);
	close(fd);
	return found;
}

/* Replace action `at` by one for each child that is asked for. */
static void split_action(struct plan *plan, size_t at, const struct strlist *paths)
{
	struct plan_action action = plan->actions[at];
	const struct wt_dir *dir = action.target->dir;
	size_t rest = plan->nr - at - 1, kept = 0;

	ALLOC_GROW(plan->actions, plan->nr + dir->nr, plan->alloc);
	memmove(plan->actions + at + dir->nr, plan->actions + at + 1,
		rest * sizeof(*plan->actions));
	for (size_t i = 0; i < dir->nr; i++) {
		char *path = xstrfmt("%s/%s", action.path, wt_entries(dir)[i].name);

		if (!plan_concerns(paths, path)) {
			free(path);
			continue;
		}
		plan->actions[at + kept++] = (struct plan_action){
			.kind = PLAN_CREATE,
			.path = path,
			.target = &wt_entries(dir)[i],
		};
	}
	memmove(plan->actions + at + kept, plan->actions + at + dir->nr,
		rest * sizeof(*plan->actions));
	plan->nr = at + kept + rest;
	free(action.path);
}

/* A mount point anywhere in a directory holds all of it in place. */
static bool holds_mount(const struct mount *root, int dirfd, const char *path,
			const struct wt_dir *dir)
{
	int fd = beneath_open(dirfd, path, O_RDONLY | O_DIRECTORY);
	bool found = false;

	for (size_t i = 0; fd >= 0 && i < dir->nr && !found; i++) {
		struct mount mount;

		found = !mounts_of(&mount, fd, wt_entries(dir)[i].name) && mounts_differ(root, &mount);
	}
	fs_close(fd);
	for (size_t i = 0; fd >= 0 && i < dir->nr && !found; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		char *below;

		if (entry->kind != WT_DIR)
			continue;
		below = xstrfmt("%s/%s", path, entry->name);
		found = holds_mount(root, dirfd, below, entry->dir);
		free(below);
	}
	return found;
}

/* A rename cannot cross into another file system, nor move a mount point. */
static bool is_elsewhere(const struct mount *root, int dirfd, const char *name,
			 const struct plan_action *action)
{
	struct mount parent, self;
	bool elsewhere;

	/* A directory is removed wherever it is. */
	if (action->kind == PLAN_RMDIR || mounts_of(&parent, dirfd, "") < 0)
		elsewhere = false;
	else if (mounts_differ(root, &parent) || action->kind == PLAN_CREATE)
		elsewhere = mounts_differ(root, &parent);
	else
		elsewhere = (!mounts_of(&self, dirfd, name) && mounts_differ(root, &self)) ||
			    (action->current->kind == WT_DIR &&
			     holds_mount(root, dirfd, name, action->current->dir));
	return elsewhere;
}

static bool is_mount_point(struct beneath_near *near, int rootfd, const char *path)
{
	const char *name;
	int dirfd = beneath_open_parent_near(near, rootfd, path, &name);
	struct mount parent, self;
	bool differs = dirfd >= 0 && !mounts_of(&parent, dirfd, "") &&
		       !mounts_of(&self, dirfd, name) && mounts_differ(&parent, &self);

	fs_close(dirfd);
	return differs;
}

static bool is_denied(int dirfd, const char *name, const struct plan_action *action)
{
	struct stat st;

	if (action->kind != PLAN_CREATE && is_fixed(dirfd, name))
		return true;
	if (action->kind == PLAN_CHMOD)
		return geteuid() && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
		       st.st_uid != geteuid();
	if (!may_write(dirfd, "."))
		return true;
	if (action->kind == PLAN_CREATE)
		return false;
	/* A directory that changes its parent must be writable itself. */
	return is_stuck(dirfd, name) || is_fixed(dirfd, "") ||
	       (action->kind == PLAN_REPLACE && action->current->kind == WT_DIR &&
		!may_write(dirfd, name));
}

/* Record why an action would fail, if it would. */
static bool out_of_reach(struct survey *out, const struct mount *root, struct beneath_near *near,
			 int rootfd, const struct plan_action *action)
{
	struct strlist *why = NULL;
	const char *name;
	int dirfd;

	/* What goes only if it can is not a reason to complain. */
	if (action->kind == PLAN_RMDIR && !action->current)
		return false;
	dirfd = beneath_open_parent_near(near, rootfd, action->path, &name);
	if (dirfd < 0)
		return false;
	if (action->kind != PLAN_CHMOD && is_elsewhere(root, dirfd, name, action))
		why = &out->elsewhere;
	else if (is_denied(dirfd, name, action))
		why = &out->denied;
	close(dirfd);
	if (why)
		strlist_add(why, action->path);
	return why;
}

/* True if the action was replaced by actions for the directory's contents. */
static bool survey_create(struct survey *out, struct plan *plan, size_t at,
			  const struct plan_opts *opts, const struct mount *root, int rootfd)
{
	const struct plan_action *action = &plan->actions[at];
	size_t known = out->also.nr + out->conflicts.nr;

	if (!check_create(out, rootfd, action->path, action->target)) {
		/* Existing files are captured by name first; perhaps they need not change. */
		if (known == out->also.nr + out->conflicts.nr)
			(void)out_of_reach(out, root, NULL, rootfd, action);
		return false;
	}
	if (action->target->dir->nr && !can_list(rootfd, action->path)) {
		strlist_add(&out->also, action->path);
		return false;
	}
	if (compare_in_scope(opts->paths, action->path))
		strlist_add(&out->dirs, action->path);
	split_action(plan, at, opts->paths);
	return true;
}

static void keep_dir(struct plan *plan, size_t at, const char *why)
{
	char *path = xstrdup(plan->actions[at].path);

	plan_keep(plan, path, why);
	free(path);
}

int survey_run(struct survey *out, struct plan *plan, const struct plan_opts *opts, int rootfd)
{
	struct beneath_near near = { 0 };
	struct mount root;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (mounts_of(&root, rootfd, "") < 0)
		return ckpt_error_errno("unable to look at the worktree");
	for (size_t i = 0; i < plan->nr && !err; i++) {
		const struct plan_action *action = &plan->actions[i];

		if (action->kind == PLAN_CREATE) {
			if (survey_create(out, plan, i, opts, &root, rootfd))
				i--;
		} else if (action->kind == PLAN_RMDIR && is_mount_point(&near, rootfd, action->path)) {
			/* A mount point cannot go, but the rest can be done. */
			keep_dir(plan, i--, "another file system");
		} else if (action->kind == PLAN_RMDIR && action->current &&
			   holds_kept(plan, &near, rootfd, action->path, action->current->dir)) {
			keep_dir(plan, i--, "holds files that are in no checkpoint");
		} else if (!out_of_reach(out, &root, &near, rootfd, action) &&
			   action->kind == PLAN_REPLACE && action->current->kind == WT_DIR) {
			err = check_emptied(out, opts, rootfd, action->path, action->path,
					    action->current->dir);
		}
	}
	beneath_near_release(&near);
	strlist_sort_unique(&out->denied);
	strlist_sort_unique(&out->also);
	strlist_sort_unique(&out->dirs);
	return err ? err : ckpt_error_lack();
}
