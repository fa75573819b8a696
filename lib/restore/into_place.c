/* SPDX-License-Identifier: MIT */
/*
 * Where a copy may be. Everything is written relative to one descriptor of the
 * destination, and what is refused is decided from that descriptor: a link that
 * changes meanwhile leads nowhere else.
 */
#include "restore/into_internal.h"

#include "base/base.h"
#include "git/git.h"

#include <sys/file.h>

/* --- what is refused --- */

/* Directories in which there must be no copy, and how to call them. */
struct taboo {
	const char *path, *what;
};

enum { TABOOS = 5 };

static size_t list_taboos(struct taboo out[TABOOS], const struct session *session)
{
	size_t nr = 0;

	out[nr++] = (struct taboo){ session->worktree, "the worktree" };
	if (session->repo) {
		out[nr++] = (struct taboo){ session->repo->gitdir, "the repository" };
		out[nr++] = (struct taboo){ session->repo->commondir, "the repository" };
	}
	out[nr++] = (struct taboo){ session->home, "the home of the checkpoints" };
	out[nr++] = (struct taboo){ session->store->path, "the store" };
	return nr;
}

static int refuse(const char *dir, const struct taboo *taboo)
{
	return ckpt_error_set(CKPT_ERROR,
			      "'%s' is in %s, '%s'; a copy must be outside, nothing was touched",
			      dir, taboo->what, taboo->path);
}

/* By the path alone, in which links are resolved. */
static int check_path(const struct into *into)
{
	static const struct taboo dotgit = { ".git", "a git directory" };
	struct taboo taboos[TABOOS];
	size_t nr = list_taboos(taboos, into->session);
	const char *path = into->out->path;

	for (size_t i = 0; i < nr; i++)
		if (path_below(path, taboos[i].path))
			return refuse(path, &taboos[i]);
	return path_has_dotgit(path) ? refuse(path, &dotgit) : 0;
}

/* A directory may be mounted in two places: from this one up to the root, none must be one of them. */
static int check_above(const struct into *into, int fd)
{
	struct taboo taboos[TABOOS];
	size_t nr = list_taboos(taboos, into->session);
	struct stat of[TABOOS], st, last = { 0 };
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0), err = 0;

	for (size_t i = 0; i < nr; i++)
		if (stat(taboos[i].path, &of[i]) < 0)
			memset(&of[i], 0, sizeof(of[i]));
	while (at >= 0 && !err && !fstat(at, &st)) {
		int next;

		if (st.st_ino == last.st_ino && st.st_dev == last.st_dev)
			break;
		for (size_t i = 0; i < nr && !err; i++)
			if (of[i].st_ino == st.st_ino && of[i].st_dev == st.st_dev)
				err = refuse(into->out->path, &taboos[i]);
		last = st;
		next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	fs_close(at);
	return err;
}

/* --- finding it --- */

static bool has_dotdot(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

/* Absolute, with all links resolved that exist. */
static int resolve(struct into *into)
{
	const char *typed = into->opts->dir;
	char *full = *typed == '/' ? xstrdup(typed) : xstrfmt("%s/%s", into->session->cwd, typed);
	char *real = path_resolve(full);
	struct strbuf clean = STRBUF_INIT;
	int err = 0;

	/* Whatever ".." leads to does not exist. */
	if (has_dotdot(real))
		err = ckpt_error_set(CKPT_ENOTFOUND, "the directory above '%s' does not exist", typed);
	else
		path_absolute(&clean, "/", real);
	into->out->path = strbuf_detach(&clean, NULL);
	free(full);
	free(real);
	return err;
}

/* The directory that is there, of those that lead to it; the others are added to `made`. */
static int open_existing(int *fd_out, struct into *into)
{
	char *path = xstrdup(into->out->path), *slash;

	for (;;) {
		*fd_out = open(*path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (*fd_out >= 0 || errno != ENOENT)
			break;
		strlist_add(&into->made, path);
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	/* The outermost first. */
	for (size_t i = 0, j = into->made.nr; i + 1 < j; i++) {
		char *swap = into->made.items[i];

		into->made.items[i] = into->made.items[--j];
		into->made.items[j] = swap;
	}
	if (*fd_out < 0) {
		int err = ckpt_error_errno("unable to open '%s'", *path ? path : "/");

		free(path);
		return err == CKPT_ENOTFOUND ? CKPT_ERROR : err;
	}
	free(path);
	return 0;
}

bool into_is_own(const struct into *into, const char *name)
{
	char *aside = into_aside_name(into);
	bool own = !strcmp(name, into->marker) || !strcmp(name, aside) ||
		   (into->opts->worktree && !strcmp(name, ".git"));

	free(aside);
	return own;
}

/* Whoever has it open is making this copy. */
static int lock_marker(struct into *into)
{
	if (!flock(into->marker_fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return ckpt_error_set(CKPT_ELOCKED, "another process is making the copy in '%s'",
				      into->out->path);
	return ckpt_error_errno("unable to lock '%s/%s'", into->out->path, into->marker);
}

/* What is in it: nothing, or an unfinished copy of the same. */
static int look_inside(struct into *into)
{
	struct strlist names = STRLIST_INIT;
	int err = 0;

	if (fs_names(&names, into->fd, ".", 0, NULL) < 0)
		err = ckpt_error_errno("unable to read the directory '%s'", into->out->path);
	if (!err && names.nr && !strlist_has(&names, into->marker))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is not empty; name a directory that is new or empty",
				     into->out->path);
	if (!err && names.nr) {
		into->marker_fd = fs_open_regular(NULL, into->fd, into->marker, O_NOFOLLOW);
		err = into->marker_fd < 0 ? fs_open_failed(into->marker) : lock_marker(into);
		if (!err)
			err = into_marker_check(into, into->marker_fd, names.nr == 1);
		into->begun = into->left = into->out->continued = !err;
	}
	strlist_release(&names);
	return err;
}

/* A name for the marker, and what is beside it, that the checkpoint has not got itself. */
static int name_marker(struct into *into)
{
	const struct wt_dir *root = into->tree->root;
	int err = snapshot_expand(into->tree, into->tree->root);
	bool taken;

	into->marker = xstrdup(INTO_MARKER);
	do {
		char *aside = into_aside_name(into), *next;

		taken = !err && (wt_child(root, into->marker, strlen(into->marker)) ||
				 wt_child(root, aside, strlen(aside)));
		next = taken ? xstrfmt("%s~", into->marker) : xstrdup(into->marker);
		free(aside);
		free(into->marker);
		into->marker = next;
	} while (taken);
	return err;
}

static int open_destination(struct into *into)
{
	struct stat st;
	int err;

	into->fd = open(into->out->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (into->fd < 0 || fstat(into->fd, &st) < 0)
		return ckpt_error_errno("unable to open the directory '%s'", into->out->path);
	err = check_above(into, into->fd);
	return err ? err : look_inside(into);
}

int into_find_place(struct into *into)
{
	int fd = -1, err = resolve(into);

	if (!err)
		err = check_path(into);
	if (!err)
		err = name_marker(into);
	if (!err)
		err = open_existing(&fd, into);
	if (!err)
		err = check_above(into, fd);
	if (!err && !into->made.nr)
		err = open_destination(into);
	fs_close(fd);
	return err;
}

/* --- taking it --- */

/* No more open than the worktree: what is private there stays private. */
static mode_t mode_of_root(const struct into *into)
{
	struct stat st;

	return stat(into->session->worktree, &st) < 0 ? 0700 : (st.st_mode & 0777) | 0700;
}

static int make_dirs(struct into *into)
{
	for (size_t i = 0; i < into->made.nr; i++) {
		const char *path = into->made.items[i];
		bool last = i + 1 == into->made.nr;

		if (mkdir(path, last ? mode_of_root(into) : 0777) < 0) {
			int err = ckpt_error_errno("unable to create the directory '%s'", path);

			while (i-- && !rmdir(into->made.items[i]))
				;
			strlist_release(&into->made);
			return err;
		}
	}
	return 0;
}

/* Before anything else is in it; one write, so that a killed process leaves all of it or nothing. */
static int write_marker(struct into *into)
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	into_marker_text(&text, into);
	into->marker_fd = openat(into->fd, into->marker,
				 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (into->marker_fd < 0)
		err = ckpt_error_errno("unable to create '%s/%s'", into->out->path, into->marker);
	if (!err)
		err = lock_marker(into);
	into->begun = !err;
	if (!err && (fs_write_all(into->marker_fd, text.buf, text.len) < 0 ||
		     (!into->opts->passing && (fsync(into->marker_fd) < 0 || fsync(into->fd) < 0))))
		err = ckpt_error_errno("unable to write '%s/%s'", into->out->path, into->marker);
	strbuf_release(&text);
	return err;
}

/* A process was killed before it had written all of it. */
static int complete_marker(struct into *into)
{
	struct strbuf text = STRBUF_INIT;
	struct stat st;
	int fd = -1, err = 0;

	into_marker_text(&text, into);
	if (!fstat(into->marker_fd, &st) && (size_t)st.st_size < text.len) {
		fd = openat(into->fd, into->marker, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fs_pwrite_all(fd, text.buf, text.len, 0) < 0 ||
		    (!into->opts->passing && fsync(fd) < 0))
			err = ckpt_error_errno("unable to write '%s/%s'", into->out->path,
					       into->marker);
	}
	fs_close(fd);
	strbuf_release(&text);
	return err;
}

int into_take_place(struct into *into)
{
	int err;

	if (into->begun)
		return complete_marker(into);
	if (into->made.nr) {
		err = make_dirs(into);
		/* What it is now may not be what it was when it was refused or not. */
		if (!err)
			err = open_destination(into);
		if (err)
			return err;
	}
	return write_marker(into);
}

int into_sync(struct into *into)
{
	if (!into->opts->passing && syncfs(into->fd) < 0)
		return ckpt_error_errno("unable to sync '%s'", into->out->path);
	return 0;
}

int into_finish_place(struct into *into)
{
	if (unlinkat(into->fd, into->marker, 0) < 0 && errno != ENOENT)
		return ckpt_error_errno("unable to remove '%s/%s'", into->out->path, into->marker);
	into->begun = false;
	if (!into->opts->passing && fsync(into->fd) < 0)
		return ckpt_error_errno("unable to sync '%s'", into->out->path);
	return 0;
}

void into_leave_place(struct into *into)
{
	if (!into->begun)
		for (size_t i = into->made.nr; i-- && !rmdir(into->made.items[i]);)
			;
}
