/* SPDX-License-Identifier: MIT */
#include "mcp/mcp_internal.h"

#include "session/session.h"

/*
 * A directory is known by its descriptor, never by its name: what a client may write can be renamed
 * and linked while a call looks at it.
 */

void mcp_project_release(struct mcp_project *project)
{
	fs_close(project->fd);
	free(project->worktree);
	*project = (struct mcp_project)MCP_PROJECT_INIT;
}

void mcp_roots_release(struct mcp_roots *roots)
{
	for (size_t i = 0; i < roots->nr; i++)
		fs_close(roots->fds[i]);
	free(roots->fds);
	mcp_project_release(&roots->home);
	*roots = (struct mcp_roots)MCP_ROOTS_INIT;
}

/* Where an open directory is, whatever the name leads to by which it was opened. */
static char *path_of(int fd)
{
	char *link = xstrfmt("/proc/self/fd/%d", fd), *path = path_real(link);

	free(link);
	return path;
}

static bool is_allowed(const struct mcp_roots *roots, int fd)
{
	char *path = path_of(fd);
	bool allowed = false;

	for (size_t i = 0; i < roots->nr && path && !allowed; i++) {
		char *root = path_of(roots->fds[i]);

		allowed = root && path_below(path, root);
		free(root);
	}
	free(path);
	return allowed;
}

static int open_directory(int *out, const char *path)
{
	*out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *out < 0 ? ckpt_error_errno("unable to open the directory '%s'", path) : 0;
}

static int open_allowed(int *out, const struct mcp_roots *roots, const char *path)
{
	int err = open_directory(out, path);

	if (!err && !is_allowed(roots, *out))
		err = ckpt_error_set(CKPT_EREFUSED,
				     "'%s' is outside the directories that this server may use; "
				     "'git checkpoint mcp --root <dir>' allows more",
				     path);
	return err;
}

/* The top of the project around a directory. A descriptor of the current one brings us back. */
static int look_from(char **out, int dir)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct session session = { 0 };

	if (fchdir(dir) < 0)
		err = ckpt_error_errno("unable to go to the directory");
	else
		err = session_open(&session, SESSION_LOOK | SESSION_NO_STORE);
	if (!err)
		*out = xstrdup(session.worktree);
	session_close(&session);
	if (here >= 0 && fchdir(here) < 0 && !err)
		err = ckpt_error_errno("unable to go back");
	fs_close(here);
	return err;
}

static int add_root(struct mcp_roots *out, const char *path)
{
	int fd, err = open_directory(&fd, path);

	if (!err) {
		out->fds = xrealloc(out->fds, (out->nr + 1) * sizeof(*out->fds));
		out->fds[out->nr++] = fd;
	}
	return err;
}

/* Without a name the same directory again, to be held for as long as the call needs it. */
static int hold(struct mcp_project *out, int fd)
{
	out->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	out->worktree = path_of(fd);
	return out->fd < 0 || !out->worktree ? ckpt_error_errno("unable to find the project again") : 0;
}

int mcp_roots_init(struct mcp_roots *out, const struct strlist *given)
{
	char *worktree = NULL;
	int here, err = open_directory(&here, ".");

	for (size_t i = 0; i < given->nr && !err; i++)
		err = add_root(out, given->items[i]);
	if (!err && !given->nr)
		err = look_from(&worktree, here);
	if (!err && worktree)
		err = add_root(out, worktree);
	/* With roots, what is around it is looked at by the first call that needs it. */
	if (!err)
		out->home.fd = fcntl(worktree || !is_allowed(out, here) ? out->fds[0] : here,
				     F_DUPFD_CLOEXEC, 0);
	if (!err)
		out->home.worktree = worktree;
	else
		free(worktree);
	fs_close(here);
	return err;
}

static int find_project(struct mcp_project *out, const struct mcp_roots *roots, const char *directory)
{
	int dir = -1, err = directory ? open_allowed(&dir, roots, directory) : 0;

	if (!err)
		err = look_from(&out->worktree, directory ? dir : roots->home.fd);
	if (!err)
		err = open_allowed(&out->fd, roots, out->worktree);
	fs_close(dir);
	return err;
}

int mcp_project_find(struct mcp_project *out, struct mcp_roots *roots, const char *directory)
{
	struct mcp_project *home = &roots->home;
	int err;

	if (directory)
		return find_project(out, roots, directory);
	if (!home->worktree) {
		struct mcp_project found = MCP_PROJECT_INIT;

		err = find_project(&found, roots, NULL);
		if (err) {
			mcp_project_release(&found);
			return err;
		}
		mcp_project_release(home);
		*home = found;
	}
	return hold(out, home->fd);
}

bool mcp_project_is_other(const struct mcp_roots *roots, const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool is = fd >= 0 && is_allowed(roots, fd) && !fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) &&
		  S_ISREG(st.st_mode);

	fs_close(fd);
	return is && (!roots->home.worktree || strcmp(roots->home.worktree, directory) != 0);
}
