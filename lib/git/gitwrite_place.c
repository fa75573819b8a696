/* SPDX-License-Identifier: MIT */
#include "git/gitwrite.h"

#include "base/base.h"
#include "git/gitwrite_internal.h"
#include "git/repo.h"

static int refuse_lock(const char *path)
{
	return ckpt_error_set(CKPT_EREFUSED,
			      "'%s' exists: another git process is at work, or was killed", path);
}

/*
 * Many commands of git take a file for changed whose stat data the index does
 * not have, without looking at it. No filter runs: a driver without commands is
 * none, and what it would have changed stays without stat data.
 */
static void refresh(const struct repo *repo, const char *file)
{
	const char *const list[] = { "config",	     "-z",	   "--name-only",
				     "--get-regexp", "^filter[.]", NULL };
	struct gitrun how = { .profile = GITRUN_WRITE,
			      .gitdir = repo->gitdir,
			      .worktree = repo->worktree };
	struct strlist args = STRLIST_INIT;
	struct strbuf keys = STRBUF_INIT, answer = STRBUF_INIT;
	const char **argv;
	bool odd = false;

	(void)gitrun(&keys, &how, list);
	for (const char *key = keys.buf; key < keys.buf + keys.len; key += strlen(key) + 1) {
		/* On a command line it would end there. */
		odd |= strchr(key, '=') != NULL;
		strlist_add(&args, "-c");
		strlist_addf(&args, "%s=%s", key,
			     strcmp(strrchr(key, '.'), ".required") ? "" : "false");
	}
	/* git 2.39 makes a broken sparse index of one with entries that are to be added. */
	strlist_add(&args, "-c");
	strlist_add(&args, "index.sparse=false");
	strlist_add(&args, "update-index");
	strlist_add(&args, "-q");
	strlist_add(&args, "--refresh");
	argv = xcalloc(args.nr + 1, sizeof(*argv));
	for (size_t i = 0; i < args.nr; i++)
		argv[i] = args.items[i];
	how.index = file;
	/* It fails if a file differs, which is nothing unusual. */
	if (!odd)
		(void)gitrun(&answer, &how, argv);
	free(argv);
	strlist_release(&args);
	strbuf_release(&keys);
	strbuf_release(&answer);
}

/*
 * For file systems on which a file cannot have two names; -1 with errno. The copy appears as a whole
 * where that is possible.
 */
static int copy_to_lock(int dirfd)
{
	struct strbuf bytes = STRBUF_INIT;
	int fd, saved = EIO;

	if (!fs_read_file(&bytes, dirfd, GITWRITE_NEW_INDEX) &&
	    !fs_write_file(dirfd, GITWRITE_INDEX_COPY, bytes.buf, bytes.len, fs_usual_mode(0666),
			   FS_DURABLE))
		saved = renameat2(dirfd, GITWRITE_INDEX_COPY, dirfd, "index.lock",
				  RENAME_NOREPLACE) < 0
				? errno
				: 0;
	if (saved == EINVAL || saved == ENOSYS) {
		fd = openat(dirfd, "index.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		saved = fd < 0 || fs_write_all(fd, bytes.buf, bytes.len) < 0 || fsync(fd) < 0
				? errno
				: 0;
		fs_close(fd);
	}
	if (saved)
		(void)unlinkat(dirfd, GITWRITE_INDEX_COPY, 0);
	strbuf_release(&bytes);
	errno = saved;
	return saved ? -1 : 0;
}

/*
 * The lock is a second name of the new index. That is atomic, and tells whose
 * lock it is: as long as the first name is there, no other file has that inode.
 */
int gitwrite_index_lock(const struct repo *repo, const struct strbuf *bytes)
{
	int fd = open(repo->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	char *new = xstrfmt("%s/" GITWRITE_NEW_INDEX, repo->gitdir);
	mode_t mode = fs_usual_mode(0666);
	struct stat st;

	if (fd < 0) {
		free(new);
		return ckpt_error_errno("unable to open '%s'", repo->gitdir);
	}
	if (!fstatat(fd, "index", &st, 0))
		mode = st.st_mode & 0777;
	if (gitwrite_owns_index_lock(repo))
		(void)unlinkat(fd, "index.lock", 0);
	err = fs_write_file(fd, GITWRITE_NEW_INDEX, bytes->buf, bytes->len, mode, FS_DURABLE);
	if (!err)
		refresh(repo, new);
	if (!err && linkat(fd, GITWRITE_NEW_INDEX, fd, "index.lock", 0) < 0 &&
	    (errno == EEXIST || copy_to_lock(fd) < 0)) {
		char *path = xstrfmt("%s/index.lock", repo->gitdir);

		err = errno == EEXIST ? refuse_lock(path)
				      : ckpt_error_errno("unable to create '%s'", path);
		(void)unlinkat(fd, GITWRITE_NEW_INDEX, 0);
		free(path);
	}
	free(new);
	fs_close(fd);
	return err;
}

int gitwrite_index_place(const struct repo *repo)
{
	int fd = open(repo->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return ckpt_error_errno("unable to open '%s'", repo->gitdir);
	err = fs_rename(fd, "index.lock", "index", ".", FS_DURABLE);
	if (!err && unlinkat(fd, GITWRITE_NEW_INDEX, 0) < 0 && errno != ENOENT)
		err = ckpt_error_errno("unable to remove '%s/" GITWRITE_NEW_INDEX "'",
				       repo->gitdir);
	fs_close(fd);
	return err;
}
