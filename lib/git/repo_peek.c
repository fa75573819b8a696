/* SPDX-License-Identifier: MIT */
#include "git/repo.h"

#include "git/gitfile.h"
#include "git/repo_internal.h"

#include <dirent.h>

/*
 * A save looks at every repository within the worktree, so this must cost next to nothing: one
 * listing tells that the git directory has what it needs and nothing special, then HEAD and a ref
 * are read. Everything else is left to repo_open_at() and repo_read_state().
 */

enum { LINE_SIZE = 4096 };

static const char heads[] = "refs/heads/";

/* What a plain git directory does not have: another worktree's, or an operation in progress. */
static bool is_special(const char *name)
{
	static const char *const names[] = { "commondir",  "rebase-merge", "rebase-apply",
					     "MERGE_HEAD", "REVERT_HEAD",  "CHERRY_PICK_HEAD",
					     "BISECT_LOG", "sequencer",	   "reftable" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_plain(int gitfd)
{
	_Alignas(struct dirent64) char buf[4096];
	unsigned needed = 0;
	ssize_t n;

	while ((n = getdents64(gitfd, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			const struct dirent64 *ent = (const struct dirent64 *)p;

			if (is_special(ent->d_name))
				return false;
			if (ent->d_type == DT_DIR)
				needed += !strcmp(ent->d_name, "objects") ||
					  !strcmp(ent->d_name, "refs");
			p += ent->d_reclen;
		}
	return !n && needed == 2;
}

/* A file of one line, without its end; false if it is anything else. */
static bool read_line(char out[LINE_SIZE], int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, LINE_SIZE);

	fs_close(fd);
	if (n <= 0 || n == LINE_SIZE || memchr(out, '\0', (size_t)n))
		return false;
	while (n && strchr("\r\n", out[n - 1]))
		n--;
	out[n] = '\0';
	return true;
}

/* The git directory itself, or where the file in its place leads to. */
static int open_gitdir(int rootfd, const char *path)
{
	char *dotgit = xstrfmt("%s/.git", path), line[LINE_SIZE];
	int fd = openat(rootfd, dotgit, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), dirfd;

	if (fd < 0 && read_line(line, rootfd, dotgit) && !strncmp(line, "gitdir: ", 8)) {
		dirfd = openat(rootfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dirfd >= 0)
			fd = openat(dirfd, line + 8, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fs_close(dirfd);
	}
	free(dotgit);
	return fd;
}

/* The commit of a branch, as far as it is easily found. */
static bool read_branch(struct repo_state *out, int gitfd, const char *ref)
{
	char line[LINE_SIZE];

	if (!read_line(line, gitfd, ref))
		out->head = repo_find_packed(gitfd, "packed-refs", O_NOFOLLOW, ref);
	else if (gitfile_is_id(line))
		out->head = xmemdupz(line, strcspn(line, " \t"));
	if (!out->head)
		return false;
	out->ref = xstrdup(ref);
	out->branch = xstrdup(ref + strlen(heads));
	return true;
}

bool repo_peek(struct repo_state *out, int rootfd, const char *path)
{
	int gitfd = open_gitdir(rootfd, path);
	char line[LINE_SIZE];
	bool known = gitfd >= 0 && is_plain(gitfd) && read_line(line, gitfd, "HEAD");
	const char *ref = known ? gitfile_symref(line) : NULL;

	memset(out, 0, sizeof(*out));
	if (ref)
		known = !strncmp(ref, heads, strlen(heads)) && read_branch(out, gitfd, ref);
	else if (known && (known = gitfile_is_id(line)))
		out->head = xmemdupz(line, strcspn(line, " \t"));
	fs_close(gitfd);
	return known;
}
